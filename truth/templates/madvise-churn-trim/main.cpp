// Joins the orders of a day with their customers, part by part; after each part the memory goes back to the machine, which is small.
#include <chrono>
#include <cstdio>
#include <deque>
#include <malloc.h>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Of the processor time of a thread: the kernel's, and all.
static std::pair<double, double> used()
{
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    double system = usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6;
    return { system, system + usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 };
}

class Memory {
    std::mutex lock;
    Clock::time_point last = Clock::now();

  public:
    void __attribute__((noinline)) @{fn2}()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            if (since(last) < @{every})
                return;
            last = Clock::now();
        }
        malloc_trim(0);
    }
};

static unsigned long __attribute__((noinline)) @{fn}(long number, std::deque<std::string> &summaries)
{
    std::vector<std::string> rows;
    for (int piece = 0; piece < @{mb} * 1024 / @{piece_kb}; piece++)
        rows.emplace_back(@{piece_kb} * 1000, char('a' + (number + piece) % 26));
    unsigned long sum = 0;
    for (int pass = 0; pass < @{passes}; pass++)
        for (auto &row : rows)
            for (size_t at = 0; at < row.size(); at += 128)
                sum = sum * 31 + row[at];
    summaries.push_back("part " + std::to_string(number) + std::string(600, '.') + std::to_string(sum));
    if (summaries.size() > 200)
        summaries.pop_front();
    return sum;
}

int main()
{
    Memory memory;
    std::mutex lock;
    std::vector<std::thread> workers;
    long units = 0;
    double busy = 0, system = 0, every = 1e-9;
    unsigned long sum = 0;
    auto began = Clock::now();
    for (int worker = 0; worker < @{workers}; worker++)
        workers.emplace_back([&, worker] {
            // The last summaries are shown to whoever asks.
            std::deque<std::string> summaries;
            for (long n = 1; since(began) < @{seconds}; n++) {
                auto start = Clock::now();
                auto before = used();
                unsigned long one = @{fn}(n * 7 + worker, summaries);
                memory.@{fn2}();
                double took = since(start);
                auto after = used();
                {
                    std::lock_guard<std::mutex> hold(lock);
                    units++;
                    sum ^= one;
                    busy += took;
                    system += after.first - before.first;
                    every += after.second - before.second;
                }
                double rest = (n + worker / (double)@{workers}) / @{rate} - since(began);
                if (rest > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            }
        });
    for (auto &worker : workers)
        worker.join();
    // What the kernel does for a part: it takes memory away, and gives it again.
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, busy * system / every);
    fclose(out);
    return sum == 42;
}
