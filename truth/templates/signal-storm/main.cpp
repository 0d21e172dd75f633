// Values the positions of customers; a feed, in a thread of its own, interrupts it when quotes have changed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <pthread.h>
#include <sys/prctl.h>
#include <thread>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void wait_until(double due)
{
    double rest = due - now();
    if (rest > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(rest));
}

static void write_report(long units, double seconds, double culprit)
{
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << seconds << ", \"culprit\": " << culprit << "}";
}
static double quotes[2][@{depth} * 4096];
static volatile double used[@{depth} * 4096];
static std::atomic<long> latest{0}, taken{0};
static std::atomic<bool> over{false};

static void @{fn}(int)
{
    const double *from = quotes[latest & 1];
    for (int i = 0; i < @{depth} * 4096; i++)
        used[i] = from[i] * 0.99 + used[i] * 0.01;
    taken = latest.load();
}

static __attribute__((noinline)) double @{fn2}(long first)
{
    double sum = 0;
    for (long row = 0; row < @{rows} * 60L; row++)
        sum += used[(first + row * 7919) % (@{depth} * 4096)] * (row % 9);
    return sum;
}

static void feed(pthread_t receiver)
{
    prctl(PR_SET_TIMERSLACK, 1000);
    while (!over) {
        long next = latest + 1;
        quotes[next & 1][next % (@{depth} * 4096)] = next % 1009;
        latest = next;
        pthread_kill(receiver, SIGUSR2);
        do
            std::this_thread::sleep_for(std::chrono::microseconds(@{gap_us} / 2));
        while (taken != next && !over);
    }
}

int main()
{
    double alone = 1, busy = 0, began;
    long units = 0;
    volatile double sum = 0;
    for (int round = 0; round < 8; round++) {
        began = now();
        sum = sum + @{fn2}(round);
        alone = std::min(alone, now() - began);
    }
    struct sigaction action {};
    action.sa_handler = @{fn};
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, nullptr);
    std::thread source(feed, pthread_self());
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        sum = sum + @{fn2}(units);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    over = true;
    source.join();
    write_report(units, busy, std::max(0.0, busy - units * alone));
}
