// Says how to come by trolleybus from here to there: all ways with few changes are tried.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Line {
    long name, offset, every, length;
};

class Network {
    fs::path path;
    fs::file_time_type changed;
    Clock::time_point looked;
    std::vector<Line> lines;

  public:
    Seconds spent{};
    std::mutex mutex;

    explicit Network(fs::path file) : path(std::move(file)) { look(); }

    void look()
    {
        looked = Clock::now();
        auto time = fs::last_write_time(path);
        if (time == changed)
            return;
        changed = time;
        lines.clear();
        std::ifstream in(path);
        for (Line line; in >> line.name >> line.offset >> line.every >> line.length;)
            lines.push_back(line);
    }

    __attribute__((noinline)) Line @{fn}(long number)
    {
        auto start = Clock::now();
        if (!@{watch} && Seconds(start - looked).count() >= @{fresh})
            look();
        spent += Clock::now() - start;
        return lines[number % lines.size()];
    }
};

// The next bus at a stop, and when one is at the stop where it is left.
static long ride(const Line &line, long minute, long stop)
{
    long wait = (line.offset + stop * 2 + line.every * 2000 - minute) % line.every;
    return minute + wait + 2 + stop * line.length / 100;
}

static long trip(Network &network, long number)
{
    std::vector<long> best, way;
    for (long leg = 0; leg < @{legs}; leg++) {
        if (leg % @{near} == 0)
            way.clear();
        long minute = way.empty() ? 300 + number * 17 % 900 : way.back();
        way.push_back(ride(network.@{fn}(number * 7 + leg * 13), minute, (number + leg) % 23));
        if (way.size() == @{near} && (best.empty() || way.back() < best.back()))
            best = way;
    }
    return best.empty() ? way.back() : best.back();
}

int main()
{
    Network network("@{work}/@{depot}/@{timetable}");
    if (@{watch})
        std::thread([&] {
            while (true) {
                std::this_thread::sleep_for(Seconds(@{every}));
                std::lock_guard hold(network.mutex);
                network.look();
            }
        }).detach();
    long units = 0, minutes = 0;
    Seconds busy{};
    auto began = Clock::now();
    while (Seconds(Clock::now() - began).count() < @{seconds}) {
        auto start = Clock::now();
        {
            std::lock_guard hold(network.mutex);
            minutes += trip(network, units);
        }
        units++;
        busy += Clock::now() - start;
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(Seconds(units / double(@{rate}))));
    }
    std::cout << minutes << "\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy.count() << ", \"culprit\": " << network.spent.count() << "}";
    _Exit(0);
}
