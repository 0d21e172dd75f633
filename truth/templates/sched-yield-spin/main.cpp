// Counts of visitors: three turnstiles add to a table, and one thread at a time may write it out.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static std::atomic<bool> over{false};
static std::atomic<long> tickets{0};
static std::mutex mutex;
static std::condition_variable wake;
static double busy, culprit;
static long units;

// The next ticket is there, or it is over.
static __attribute__((noinline)) bool @{fn}(long wanted)
{
    auto start = Clock::now();
    for (long round = 0; round < @{rounds} && tickets.load() < wanted && !over; round++)
        std::this_thread::yield();
    culprit += since(start);
    busy += since(start);
    std::unique_lock<std::mutex> hold(mutex);
    wake.wait(hold, [&] { return tickets.load() >= wanted || over; });
    return !over;
}

static void write_out()
{
    pthread_setname_np(pthread_self(), "@{thread}");
    std::vector<long> table(@{slots});
    while (@{fn}(units + 1)) {
        auto start = Clock::now();
        while (since(start) < @{effort} / 1000.0)
            for (size_t i = 1; i < table.size(); i++)
                table[i] += table[i - 1] + units;
        units++;
        busy += since(start);
    }
}

static void turnstile(unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> pause(0.5, 1.5);
    while (!over) {
        std::this_thread::sleep_for(std::chrono::duration<double>(3 * @{gap} / 1000.0 * pause(random)));
        {
            std::lock_guard<std::mutex> hold(mutex);
            tickets++;
        }
        wake.notify_one();
    }
}

int main()
{
    std::thread writer(write_out);
    std::vector<std::thread> turnstiles;
    for (unsigned i = 0; i < 3; i++)
        turnstiles.emplace_back(turnstile, i);
    std::this_thread::sleep_for(std::chrono::duration<double>(@{seconds}));
    {
        std::lock_guard<std::mutex> hold(mutex);
        over = true;
    }
    wake.notify_all();
    writer.join();
    for (auto &thread : turnstiles)
        thread.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
