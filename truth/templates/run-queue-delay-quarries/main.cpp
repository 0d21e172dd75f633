// The weighbridge of a quarry: writes a docket for each lorry. Its planners look for an order in which the lorries wait least.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

static double clock_of(clockid_t id)
{
    timespec t;
    clock_gettime(id, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double now() { return clock_of(CLOCK_MONOTONIC); }

struct Lorry {
    double tare, load, comes;
};

class Yard {
public:
    Yard()
    {
        for (int i = 0; i < @{lorries}; i++)
            lorries.push_back({11000 + i * 37 % 4000, 9000 + i * 91 % 15000, i * 2.5 + i * 17 % 11});
    }

    double waits(const std::vector<int> &order) const
    {
        double at = 0, sum = 0;
        for (int i : order) {
            at = std::max(at, lorries[i].comes);
            sum += at - lorries[i].comes;
            at += 1.5 + lorries[i].load / 9000;
        }
        return sum;
    }

    void offer(double wait)
    {
        std::lock_guard<std::mutex> hold(door);
        if (best < 0 || wait < best)
            best = wait;
    }

    std::vector<Lorry> lorries;
    double best = -1;

private:
    std::mutex door;
};

// Searches for as long as a spell takes; the shortest wait that it has found.
static double __attribute__((noinline)) @{fn2}(const Yard &yard, std::vector<int> &order, std::minstd_rand &chance, double spell)
{
    double best = yard.waits(order);
    for (double end = now() + spell; now() < end;) {
        for (int i = 0; i < 50; i++) {
            size_t a = chance() % order.size(), b = chance() % order.size();
            std::swap(order[a], order[b]);
            double wait = yard.waits(order);
            if (wait <= best)
                best = wait;
            else
                std::swap(order[a], order[b]);
        }
    }
    return best;
}

static std::atomic<bool> closing{false};

static void plan(Yard &yard, int number)
{
    pthread_setname_np(pthread_self(), "planner");
    std::minstd_rand chance(number + 1);
    std::vector<int> order;
    for (size_t i = 0; i < yard.lorries.size(); i++)
        order.push_back(i);
    if (@{rest} > 0)
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{rest} * (chance() % 1000) / 1000.0));
    while (!closing) {
        yard.offer(@{fn2}(yard, order, chance, @{spell} / 1000.0));
        if (@{rest} > 0)
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{rest}));
    }
}

// The docket: the net weight from the bridge's four cells, whose samples are smoothed for as long of a core as a weighing needs.
static std::string __attribute__((noinline)) docket(const Lorry &lorry, long number, double work)
{
    double cells[4] = {}, end = clock_of(CLOCK_THREAD_CPUTIME_ID) + work;
    uint64_t noise = number;
    while (clock_of(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 400; i++) {
            noise = noise * 6364136223846793005u + 1;
            double sample = (lorry.tare + lorry.load) / 4 + (noise >> 58) - 32.0;
            cells[i % 4] += (sample - cells[i % 4]) / 64;
        }
    char text[120];
    snprintf(text, sizeof text, "docket %ld: net %.0f kg", number, cells[0] + cells[1] + cells[2] + cells[3] - lorry.tare);
    return text;
}

int main()
{
    Yard yard;
    std::vector<std::thread> planners;
    for (int i = 0; i < @{planners}; i++)
        planners.emplace_back(plan, std::ref(yard), i);
    double began = now(), busy = 0, used = 0;
    long units = 0;
    std::string last;
    while (now() - began < @{seconds}) {
        double start = now(), cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
        last = docket(yard.lorries[units % yard.lorries.size()], units + 1, @{docket} / 1000.0);
        units++;
        used += clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    closing = true;
    for (auto &planner : planners)
        planner.join();
    fprintf(stderr, "%s, the shortest wait is %.0f minutes\n", last.c_str(), yard.best);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, std::max(0.0, busy - used));
    fclose(out);
}
