// Merges the feeds of partners; as it lives long, it gives back what a round has left.
#include <chrono>
#include <fstream>
#include <list>
#include <malloc.h>
#include <memory>
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
static std::list<std::unique_ptr<std::string>> recent;

static __attribute__((noinline)) size_t @{fn2}(long n)
{
    std::vector<std::unique_ptr<char[]>> texts;
    size_t count = @{kb} * 1024ul / @{text} + 2, sum = 0;
    for (size_t i = 0; i < count; i++) {
        texts.emplace_back(new char[@{text}]);
        for (size_t at = 0; at < @{text}; at += 512)
            texts.back()[at] = static_cast<char>(n + i);
        sum += texts.back()[0];
    }
    recent.push_back(std::make_unique<std::string>(300, 'x'));
    if (recent.size() > 50)
        recent.pop_front();
    return sum;
}

static __attribute__((noinline)) void @{fn}()
{
    malloc_trim(0);
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main()
{
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    double busy = 0, culprit = 0, began = now();
    long units = 0;
    volatile size_t sum = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        sum = sum + @{fn2}(units);
        units++;
        if (@{back} && units % (@{back} + !@{back}) == 0)
            @{fn}();
        culprit += now() - start;
        sum = sum + sign(units, @{kb} * (long)@{spins});
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
}
