// Loads lorries: which crates go onto which bay, as full as may be, within a budget of processor time for each lorry.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

using Steady = std::chrono::steady_clock;

static double seconds_since(Steady::time_point began)
{
    return std::chrono::duration<double>(Steady::now() - began).count();
}

struct Crate {
    int weight, value;
};

static double asked = 0;

class Budget {
public:
    explicit Budget(double seconds) : end_(std::clock() + std::clock_t(seconds * CLOCKS_PER_SEC)) {}
    bool __attribute__((noinline)) @{fn}()
    {
        return std::clock() >= end_;
    }

private:
    std::clock_t end_;
};

class Search {
public:
    Search(std::vector<Crate> crates, int room, Budget &budget) : crates_(std::move(crates)), room_(room), budget_(budget)
    {
        std::sort(crates_.begin(), crates_.end(), [](auto &a, auto &b) { return a.value * b.weight > b.value * a.weight; });
    }

    int best()
    {
        @{fn2}(0, room_, 0);
        return best_;
    }

private:
    void @{fn2}(size_t at, int room, int value)
    {
        best_ = std::max(best_, value);
        if (at == crates_.size() || steps_ >= @{steps} || over_)
            return;
        if (++steps_ % @{look} == 0) {
            // One of 32 is timed for the statistics.
            if (@{look} > 1 || steps_ % 32 == 0) {
                auto from = Steady::now();
                over_ = budget_.@{fn}();
                asked += seconds_since(from) * (@{look} > 1 ? 1 : 32);
            } else {
                over_ = budget_.@{fn}();
            }
        }
        if (crates_[at].weight <= room)
            @{fn2}(at + 1, room - crates_[at].weight, value + crates_[at].value);
        @{fn2}(at + 1, room, value);
    }

    std::vector<Crate> crates_;
    int room_, best_ = 0;
    long steps_ = 0;
    bool over_ = false;
    Budget &budget_;
};

int main()
{
    std::mt19937 chance(@{crates});
    double busy = 0;
    long units = 0, loaded = 0;
    auto began = Steady::now();
    while (seconds_since(began) < @{seconds}) {
        auto start = Steady::now();
        for (int bay = 0; bay < @{bays}; bay++) {
            Budget budget(5);
            std::vector<Crate> crates(@{crates});
            int all = 0;
            for (auto &crate : crates) {
                crate = { 40 + int(chance() % 900), 10 + int(chance() % 500) };
                all += crate.weight;
            }
            loaded += Search(crates, all / 2, budget).best();
        }
        units++;
        busy += seconds_since(start);
        double rest = units / double(@{rate}) - seconds_since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::printf("%ld lorries, worth %ld\n", units, loaded);
    FILE *out = std::fopen("@{report}", "w");
    std::fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, asked);
    std::fclose(out);
}
