// Decodes pages: each source of pages has a thread.
#include <chrono>
#include <ctime>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

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
static double used()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static __attribute__((noinline)) unsigned long @{fn}(unsigned long page)
{
    for (long i = 0; i < @{work_ms} * 750000L; i++)
        page = page * 6364136223846793005ul + 1442695040888963407ul;
    return page;
}

struct Totals {
    std::mutex lock;
    long units = 0;
    double busy = 0, culprit = 0;
    unsigned long sum = 0;
};

static void source(Totals &totals, int number, double began)
{
    pthread_setname_np(pthread_self(), ("@{pool}-" + std::to_string(number)).c_str());
    double each = @{work_ms} / 1000.0 * @{threads} / @{load};
    wait_until(began + std::min(each, 1.0) * number / @{threads});
    for (long n = 1; now() - began < @{seconds}; n++) {
        if (@{wait_ms})
            wait_until(now() + @{wait_ms} / 1000.0);
        double start = now(), before = used();
        unsigned long sum = @{fn}(number + n);
        double took = now() - start, waited = took - (used() - before);
        {
            std::lock_guard<std::mutex> hold(totals.lock);
            totals.units++;
            totals.sum += sum;
            totals.busy += took;
            totals.culprit += std::max(0.0, waited);
        }
        wait_until(began + each * (n + number / (double)@{threads}));
    }
}

int main()
{
    Totals totals;
    std::vector<std::thread> sources;
    double began = now();
    for (int number = 0; number < @{threads}; number++)
        sources.emplace_back(source, std::ref(totals), number, began);
    for (auto &one : sources)
        one.join();
    write_report(totals.units, totals.busy, totals.culprit);
    return totals.sum == 42;
}
