// Counts the colours of images: two workers, each with a table of all that there may be.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
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
using Table = uint32_t *;
static const size_t colours = @{mb} * 262144ul;

static __attribute__((noinline)) uint64_t @{fn}(Table table, const std::vector<uint32_t> &image)
{
    uint64_t most = 0;
    for (uint32_t pixel : image)
        most = std::max<uint64_t>(most, ++table[pixel]);
    return most;
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main()
{
    std::mutex lock;
    long all = 0;
    double busy_of_all = 0, culprit_of_all = 0, began = now();
    auto work = [&](uint64_t seed) {
        bool keep = !std::strcmp("@{mode}", "kept");
        Table kept = static_cast<Table>(std::calloc(colours, 4));
        if (keep)
            std::memset(kept, 0, colours * 4);
        std::vector<uint32_t> image(@{touched} * 2);
        double busy = 0, culprit = 0;
        long units = 0;
        volatile uint64_t sum = 0;
        while (now() - began < @{seconds}) {
            double start = now();
            for (auto &pixel : image) {
                seed = seed * 6364136223846793005ul + 1442695040888963407ul;
                pixel = (seed >> 33) % colours;
            }
            double asked = now();
            Table table = keep ? kept : static_cast<Table>(std::calloc(colours, 4));
            sum = sum + @{fn}(table, image);
            if (keep)
                for (uint32_t pixel : image)
                    table[pixel] = 0;
            else
                std::free(table);
            culprit += now() - asked;
            sum = sum + sign(units, @{touched} * 5L * @{spins});
            units++;
            busy += now() - start;
            wait_until(began + units / (double)@{rate});
        }
        std::lock_guard<std::mutex> hold(lock);
        all += units;
        busy_of_all += busy;
        culprit_of_all += culprit;
    };
    std::thread first(work, 1), second(work, 2);
    first.join();
    second.join();
    write_report(all, busy_of_all, culprit_of_all);
}
