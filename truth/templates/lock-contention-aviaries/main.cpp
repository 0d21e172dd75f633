// Sightings of the aviary's birds, by cage; the census of them is drawn anew all the time.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using clk = std::chrono::steady_clock;
static double since(clk::time_point t) { return std::chrono::duration<double>(clk::now() - t).count(); }
static std::chrono::duration<double> of(double s) { return std::chrono::duration<double>(s); }

struct Cage { long seen = 0; double weight = 1; std::string last; };

class Board {
    std::mutex guard;
    std::unordered_map<int, Cage> cages;
    std::vector<double> census;

    static std::vector<double> levels(const std::vector<std::pair<long, double>> &rows)
    {
        auto began = clk::now();
        std::vector<double> bins(24, 0.0);
        while (since(began) < @{ms} / 1000.0)
            for (auto &[seen, weight] : rows) {
                double level = std::log1p(double(seen)) * weight;
                bins[std::size_t(std::fabs(level) * 3) % bins.size()] += std::sqrt(std::fabs(level));
            }
        return bins;
    }

    std::vector<std::pair<long, double>> rows()
    {
        std::vector<std::pair<long, double>> all;
        all.reserve(cages.size());
        for (auto &[number, cage] : cages)
            all.emplace_back(cage.seen, cage.weight);
        return all;
    }

public:
    Board() { for (int n = 0; n < @{cages}; n++) cages[n].seen = n % 5; }

    __attribute__((noinline)) void @{fn}()
    {
        std::unique_lock<std::mutex> held(guard);
        auto all = rows();
        if (!@{inside})
            held.unlock();
        auto found = levels(all);
        if (!@{inside})
            held.lock();
        census.swap(found);
    }

    __attribute__((noinline)) double @{fn2}(int keeper, long turn, const std::string &text)
    {
        auto began = clk::now();
        std::lock_guard<std::mutex> held(guard);
        double waited = since(began);
        Cage &cage = cages[(keeper * 37 + turn * 11) % @{cages}];
        cage.seen++;
        cage.weight = 0.9 * cage.weight + 0.01 * (turn % 13);
        cage.last = text;
        return waited;
    }
};

struct Inbox {
    std::mutex guard;
    std::condition_variable came;
    std::deque<long> turns;

    void put(long turn) { { std::lock_guard<std::mutex> held(guard); turns.push_back(turn); } came.notify_one(); }
    long take()
    {
        std::unique_lock<std::mutex> held(guard);
        came.wait(held, [this] { return !turns.empty(); });
        long turn = turns.front();
        turns.pop_front();
        return turn;
    }
};

struct Keeper { long units = 0; double busy = 0, waited = 0; Inbox inbox; std::thread thread; };

int main()
{
    Board board;
    auto began = clk::now();
    std::atomic<bool> over{false};
    std::thread census([&] {
        pthread_setname_np(pthread_self(), "@{thread}");
        while (!over) {
            board.@{fn}();
            std::this_thread::sleep_for(of(@{gap_ms} / 1000.0));
        }
    });
    std::vector<Keeper> keepers(@{posters});
    for (int n = 0; n < @{posters}; n++)
        keepers[n].thread = std::thread([&, n] {
            Keeper &me = keepers[n];
            for (long turn = 1;; turn++) {
                if (@{queued}) {
                    if ((turn = me.inbox.take()) < 0)
                        return;
                } else {
                    std::this_thread::sleep_until(began + std::chrono::duration_cast<clk::duration>(of((turn + n / 7.0) / @{rate})));
                    if (since(began) > @{seconds})
                        return;
                }
                auto start = clk::now();
                std::string text = "keeper " + std::to_string(n) + " saw " + std::to_string(turn % 19) + " finches";
                me.waited += board.@{fn2}(n, turn, text);
                me.units++;
                me.busy += since(start);
            }
        });
    for (long turn = 1; @{queued} && since(began) < @{seconds}; turn++) {
        for (auto &keeper : keepers)
            keeper.inbox.put(turn);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<clk::duration>(of(turn / double(@{rate}))));
    }
    long units = 0;
    double busy = 0, waited = 0;
    for (auto &keeper : keepers) {
        if (@{queued})
            keeper.inbox.put(-1);
        keeper.thread.join();
        units += keeper.units, busy += keeper.busy, waited += keeper.waited;
    }
    over = true;
    census.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
}
