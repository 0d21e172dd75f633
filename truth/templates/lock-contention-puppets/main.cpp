// Plans puppets: for each order, which parts of the store fit together at the joints.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Part {
    double length, bore, weight;
    unsigned used;
};

struct Bin {
    std::mutex lock;
    std::vector<Part> parts;

    explicit Bin(int count = @{kind})
    {
        for (int i = 0; i < count; i++)
            parts.push_back({ 20.0 + i * 37 % 91, 2.0 + i * 53 % 17 * 0.1, 5.0 + i * 71 % 43, 0 });
    }

    // How well the pairs of parts go together; the best becomes a limb.
    double pair(size_t order, size_t rounds)
    {
        double least = 1e18;
        size_t best = 0, count = parts.size();
        for (size_t round = 0; round < rounds; round++) {
            size_t shift = 1 + (order + round) % (count - 1);
            for (size_t at = 0; at < count; at++) {
                const Part &one = parts[at], &other = parts[(at + shift) % count];
                double stretch = one.length / other.length - 1.2;
                double play = std::fabs(one.bore - other.bore) + stretch * stretch + std::sqrt(one.weight * other.weight) * 0.01 + one.used * 1e-6;
                if (play < least) {
                    least = play;
                    best = at;
                }
            }
        }
        parts[best].used++;
        return least;
    }

    __attribute__((noinline)) double @{fn}(size_t order, size_t rounds, double &waited)
    {
        double asked = now();
        std::lock_guard<std::mutex> held(lock);
        waited += now() - asked;
        return pair(order, rounds);
    }
};

class Workshop {
public:
    Workshop()
    {
        for (int i = 0; i < @{bins}; i++)
            bins.push_back(std::make_unique<Bin>());
    }

    void offer(size_t order)
    {
        std::lock_guard<std::mutex> held(door);
        if (orders.size() < 40)
            orders.push_back(order);
        more.notify_one();
    }

    void close()
    {
        std::lock_guard<std::mutex> held(door);
        over = true;
        more.notify_all();
    }

    void work(size_t rounds)
    {
        double busy = 0, waited = 0, sum = 0;
        long units = 0;
        std::unique_lock<std::mutex> held(door);
        for (;;) {
            more.wait(held, [this] { return over || !orders.empty(); });
            if (over)
                break;
            size_t order = orders.front();
            orders.pop_front();
            held.unlock();
            double start = now();
            sum += bins[order * 31 % bins.size()]->@{fn}(order, rounds, waited);
            // The strings: one for each joint, as long as the stage is high.
            for (int string = 1; string < 2000; string++)
                sum += std::sin(std::sqrt(order + string)) * 1e-6;
            busy += now() - start;
            units++;
            held.lock();
        }
        all_busy += busy;
        all_waited += waited;
        all_units += units;
        std::printf("play %.2f\n", sum);
    }

    double all_busy = 0, all_waited = 0;
    long all_units = 0;

private:
    std::vector<std::unique_ptr<Bin>> bins;
    std::mutex door;
    std::condition_variable more;
    std::deque<size_t> orders;
    bool over = false;
};

int main()
{
    Workshop shop;
    // How many rounds there is time for.
    Bin trial(@{parts});
    double least = 1e9;
    volatile double play = 0;
    for (size_t order = 0; order < 8; order++) {
        double start = now();
        play = play + trial.pair(order, 1000);
        least = std::fmin(least, now() - start);
    }
    size_t rounds = std::fmax(1.0, @{hold_ms} / 1000 * 1000 / least);
    std::vector<std::thread> benches;
    for (int i = 0; i < @{workers}; i++)
        benches.emplace_back([&] { shop.work(rounds); });
    std::mt19937 engine(@{parts});
    std::exponential_distribution<double> gap(@{rate});
    double began = now(), due = began;
    for (size_t number = 0; now() - began < @{seconds}; number++) {
        due += gap(engine);
        std::this_thread::sleep_for(std::chrono::duration<double>(due - now()));
        shop.offer(number);
    }
    shop.close();
    for (auto &bench : benches)
        bench.join();
    std::ofstream("@{report}") << "{\"units\": " << shop.all_units << ", \"seconds\": " << shop.all_busy << ", \"culprit\": " << shop.all_waited << "}";
}
