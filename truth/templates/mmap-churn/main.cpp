// Two workers compose the pages of reports; the memory of a page is to be back at the system when it is done.
#include <chrono>
#include <cstring>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <mutex>
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
struct Page {
    char head[128];
    char body[@{kb} * 1024];
};

static __attribute__((noinline)) unsigned @{fn}(Page *page, long n)
{
    std::unique_ptr<Page> own(page ? nullptr : new Page);
    Page *target = page ? page : own.get();
    std::string line = "report " + std::to_string(n) + ", page " + std::to_string(n % 17);
    std::memcpy(target->head, line.c_str(), line.size() + 1);
    unsigned sum = 0;
    for (const char *c = target->head; *c; c++)
        sum = sum * 31 + *c;
    return sum;
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main()
{
    if (!std::strcmp("@{keep}", "no"))
        mallopt(M_MMAP_THRESHOLD, 64 * 1024);
    std::mutex lock;
    long all = 0;
    double busy_of_all = 0, culprit_of_all = 0;
    double began = now();
    auto work = [&](int worker) {
        auto kept = std::make_unique<Page>();
        double busy = 0, culprit = 0;
        long units = 0;
        volatile unsigned sum = 0;
        while (now() - began < @{seconds}) {
            double start = now();
            for (int i = 0; i < @{batch} * 4; i++) {
                bool own = !std::strcmp("@{keep}", "no") && i % (@{every} * 4) < (@{every} == 1 ? 4 : 1);
                sum = sum + @{fn}(own ? nullptr : kept.get(), units + i + worker);
            }
            culprit += now() - start;
            sum = sum + sign(units, @{batch} * 120L * @{spins});
            units++;
            busy += now() - start;
            wait_until(began + units / (double)@{rate});
        }
        std::lock_guard<std::mutex> hold(lock);
        all += units;
        busy_of_all += busy;
        culprit_of_all += culprit;
    };
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 2; worker++)
        workers.emplace_back(work, worker);
    for (auto &worker : workers)
        worker.join();
    write_report(all, busy_of_all, culprit_of_all);
}
