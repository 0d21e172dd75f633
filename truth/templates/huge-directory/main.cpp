#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using clock_type = std::chrono::steady_clock;

static const fs::path folder = "@{work}/@{folder}";
static double culprit = 0;

static double now()
{
    return std::chrono::duration<double>(clock_type::now().time_since_epoch()).count();
}

static void accept_letter(long number)
{
    std::ofstream(folder / ("@{stem}-" + std::to_string(number) + ".new")) << "To: customer " << number << "\n";
}

/* The letters that wait, or the next part of all names. */
class Spool {
public:
    __attribute__((noinline)) std::vector<fs::path> @{fn}()
    {
        std::vector<fs::path> waiting;
        double began = now();
        for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
            const std::string &name = entry.path().native();
            if (name.compare(name.size() - 4, 4, ".new") == 0)
                waiting.push_back(entry.path());
        }
        culprit += now() - began;
        return waiting;
    }

    size_t next_part(int count)
    {
        size_t size = 0;
        for (; count > 0; count--, ++place) {
            if (place == fs::directory_iterator())
                place = fs::directory_iterator(folder);
            size += place->path().native().size();
        }
        return size;
    }

private:
    fs::directory_iterator place;
};

static unsigned @{fn2}(unsigned value)
{
    for (int i = 0; i < @{extra} * 600000; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

int main()
{
    Spool spool;
    long units = 0;
    double busy = 0, began = now();
    unsigned sum = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        accept_letter(units);
        std::vector<fs::path> waiting;
        if (@{part}) {
            waiting.push_back(folder / ("@{stem}-" + std::to_string(units) + ".new"));
            sum += spool.next_part(@{part});
        } else {
            waiting = spool.@{fn}();
        }
        for (fs::path &letter : waiting) {
            sum += @{fn2}(units);
            fs::path done = letter;
            fs::rename(letter, done.replace_extension(".sent"));
        }
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << ", \"odd\": " << (sum & 1) << "}";
}
