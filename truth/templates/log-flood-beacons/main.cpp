// Receives bursts of distress beacons, decodes them, and keeps their positions.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using Symbols = std::vector<int>;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static void put(int file, const std::string &text)
{
    if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        perror("write");
}

class Receiver {
public:
    double logging = 0;

    __attribute__((noinline)) void @{fn}(const char *level, const std::string &what, const Symbols &symbols)
    {
        if (!@{chatty} && std::string(level) == "@{level}")
            return;
        auto start = Clock::now();
        std::string line = std::to_string(time(nullptr)) + " " + level + " decoder: " + what;
        for (int symbol : symbols)
            line += " " + std::to_string(symbol);
        put(log, line += "\n");
        logging += since(start);
    }

    Symbols decode(unsigned long number, Symbols now)
    {
        Symbols next(now.size());
        for (int step = 0; step < @{steps}; step++) {
            for (size_t at = 0; at < now.size(); at++) {
                int sum = 0;
                for (int tap = 0; tap < @{taps}; tap++)
                    sum += now[(at + tap * 5) % now.size()] * (9 - (tap + step) % 17);
                next[at] = sum % 9973;
            }
            now.swap(next);
            @{fn}("@{level}", "burst " + std::to_string(number) + " step " + std::to_string(step) + " symbols", now);
        }
        return now;
    }

    void keep(unsigned long number, const Symbols &symbols)
    {
        int sum = std::accumulate(symbols.begin(), symbols.end(), 0);
        std::string fix = std::to_string(number) + ";" + std::to_string(sum / 9973.0);
        for (int symbol : symbols)
            fix += ";" + std::to_string(symbol);
        put(positions, fix += "\n");
        if (number % @{line_each} == 0)
            @{fn}("INFO", "burst " + std::to_string(number) + " decoded, sum " + std::to_string(sum), {});
    }

private:
    int log = open("@{work}/@{log}", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int positions = open("@{work}/@{positions}", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
};

// What the antenna brought: stands for the receiver's samples.
static Symbols burst(uint64_t number)
{
    uint64_t state = number * 0x9e3779b97f4a7c15 | 1;
    Symbols symbols(@{symbols});
    for (int &symbol : symbols) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        symbol = static_cast<int>(state >> 50) - 8192;
    }
    return symbols;
}

int main()
{
    Receiver receiver;
    auto began = Clock::now();
    double busy = 0;
    unsigned long units = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        receiver.keep(units, receiver.decode(units, burst(units)));
        units++;
        busy += since(start);
        double rest = units / static_cast<double>(@{bursts}) - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << receiver.logging << "}";
}
