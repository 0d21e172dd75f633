// Books seats: requests of all desks are served in the order in which they came, so that nobody is passed over.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// First come, first served: who gives the lock back gives it to the one that waits longest.
class FairLock {
    std::mutex inner;
    std::deque<std::condition_variable *> waiting;
    bool taken = false;

  public:
    void lock()
    {
        std::unique_lock<std::mutex> hold(inner);
        if (!taken && waiting.empty()) {
            taken = true;
            return;
        }
        std::condition_variable mine;
        bool given = false;
        waiting.push_back(&mine);
        turns.push_back(&given);
        mine.wait(hold, [&] { return given; });
    }

    void unlock()
    {
        std::lock_guard<std::mutex> hold(inner);
        if (waiting.empty()) {
            taken = false;
            return;
        }
        *turns.front() = true;
        waiting.front()->notify_one();
        turns.pop_front();
        waiting.pop_front();
    }

  private:
    std::deque<bool *> turns;
};

struct Tally {
    long units = 0;
    double busy = 0, waited = 0;
    unsigned long sum = 0;
};

class Seats {
    FairLock @{lock};
    std::vector<int> free = std::vector<int>(512, 1 << 20);
    long next = 0;
    unsigned long best = 0;

  public:
    __attribute__((noinline)) long @{fn}(int many, Tally &tally)
    {
        auto asked = Clock::now();
        std::lock_guard<FairLock> hold(@{lock});
        tally.waited += since(asked);
        // The best of the row: the neighbours of a seat count.
        for (size_t seat = 0; seat < 400; seat++)
            best = best * 3 + free[(next + seat) % free.size()];
        free[next % free.size()] -= many;
        return next += many;
    }
};

static unsigned long ticket(unsigned long seat)
{
    for (int i = 0; i < @{outside} * 600; i++)
        seat = (seat ^ seat >> 29) * 1099511628211ul;
    return seat;
}

int main()
{
    Seats seats;
    pthread_barrier_t round_end;
    pthread_barrier_init(&round_end, nullptr, @{threads});
    std::vector<Tally> tallies(@{threads});
    std::vector<std::thread> desks;
    auto began = Clock::now();
    for (int desk = 0; desk < @{threads}; desk++)
        desks.emplace_back([&, desk] {
            Tally &tally = tallies[desk];
            long rounds = long(@{seconds} * @{pace});
            while (@{barrier} ? tally.units < rounds : since(began) < @{seconds}) {
                auto start = Clock::now();
                long first = @{each} ? 0 : seats.@{fn}(@{lines}, tally);
                for (int i = 0; i < @{lines}; i++)
                    tally.sum ^= ticket(@{each} ? seats.@{fn}(1, tally) : first + i);
                tally.units++;
                tally.busy += since(start);
                if (@{barrier})
                    pthread_barrier_wait(&round_end);
                double apart = @{barrier} ? 0 : desk / double(@{threads});
                double rest = (tally.units + apart) / @{pace} - since(began);
                if (rest > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            }
        });
    Tally all;
    for (int desk = 0; desk < @{threads}; desk++) {
        desks[desk].join();
        all.units += tallies[desk].units;
        all.busy += tallies[desk].busy;
        all.waited += tallies[desk].waited;
        all.sum ^= tallies[desk].sum;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    fclose(out);
    return all.sum == 42;
}
