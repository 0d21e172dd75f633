#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_until(double due)
{
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void report(long units, double busy, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
}
#include <mutex>
#include <thread>
#include <vector>
#include <atomic>

// Visits by page, of all shops.
struct Visits {
    std::mutex lock;
    std::vector<long> pages = std::vector<long>(512);
};

static Visits visits;

static inline unsigned next(unsigned seed)
{
    for (int i = 0; i < @{hold}; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

struct Shop {
    unsigned seed = 0;
    long units = 0, asked = 0;
    double busy = 0, waited = 0;
    std::vector<long> own = std::vector<long>(512);

    void __attribute__((noinline)) @{fn}(int count)
    {
        for (int i = 0; i < count; i++) {
            bool timed = (asked++ & 15) == 0;
            double start = timed ? now() : 0;
            std::lock_guard<std::mutex> held(visits.lock);
            if (timed)
                waited += 16 * (now() - start);
            seed = next(seed);
            visits.pages[seed >> 23]++;
        }
    }

    void gather(int count)
    {
        for (int i = 0; i < count; i++) {
            seed = next(seed);
            own[seed >> 23]++;
        }
        std::lock_guard<std::mutex> held(visits.lock);
        for (int i = 0; i < 512; i++) {
            visits.pages[i] += own[i];
            own[i] = 0;
        }
    }

    void run(double began)
    {
        while (now() - began < @{seconds}) {
            double start = now();
            if (@{apart})
                gather(@{used});
            else
                @{fn}(@{used});
            units++;
            busy += now() - start;
            wait_until(began + units / (double)@{rate});
        }
    }
};

int main()
{
    std::vector<Shop> shops(@{threads});
    std::vector<std::thread> threads;
    double began = now(), busy = 0, waited = 0;
    long units = 0;
    for (auto &shop : shops) {
        shop.seed = threads.size();
        threads.emplace_back([&shop, began] { shop.run(began); });
    }
    for (auto &thread : threads)
        thread.join();
    for (auto &shop : shops) {
        units += shop.units;
        busy += shop.busy;
        waited += shop.waited;
    }
    report(units, busy, waited < busy ? waited : busy);
}
