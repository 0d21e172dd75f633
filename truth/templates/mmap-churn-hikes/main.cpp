// Plans hikes: how far a track climbs, and how long it takes, from a model of the heights.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unordered_map>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr long rows = @{rows}, columns = @{columns}, piece = @{piece};

class View {
public:
    View(int file, long at, size_t size) : size(size / 2), length(size)
    {
        void *place = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, at);
        if (place == MAP_FAILED)
            throw std::runtime_error("the model cannot be mapped");
        heights = static_cast<const uint16_t *>(place);
    }
    ~View() { munmap(const_cast<uint16_t *>(heights), length); }
    View(const View &) = delete;

    // Smoothed over its neighbours.
    double smooth(long at) const
    {
        double sum = 0;
        for (long i = std::max(0L, at - 8); i < std::min(size, at + 8); i++)
            sum += heights[i];
        return sum / 16;
    }

private:
    const uint16_t *heights;
    long size;
    size_t length;
};

struct Hike {
    double climb = 0, hours = 0;
};

class Model {
public:
    Seconds mapping{0};
    View *whole = nullptr;
    int file = open("@{work}/@{heights}", O_RDONLY);

    __attribute__((noinline)) double @{fn}(long row, long column)
    {
        long at = row * columns + column, first = at * 2 / piece * piece;
        if (whole)
            return whole->smooth(at);
        auto start = Clock::now();
        Seconds reading;
        double height;
        {
            View view(file, first, piece);
            auto mapped = Clock::now();
            height = view.smooth(at - first / 2);
            reading = Clock::now() - mapped;
        }
        mapping += Clock::now() - start - reading;
        return height;
    }

    Hike plan(long number)
    {
        Hike hike;
        double row = number * 31 % rows, column = number * 97 % columns, last = @{fn}(row, column);
        for (int i = 0; i < @{points}; i++) {
            double turn = std::sin((number + i) / 40.0);
            row = std::fmod(row + 1 + turn + rows, rows);
            column = std::fmod(column + 3 * std::cos(turn) + columns, columns);
            double next = @{fn}(row, column), slope = (next - last) / 30;
            hike.climb += std::max(0.0, next - last);
            hike.hours += 0.03 / (6 * std::exp(-3.5 * std::fabs(slope + 0.05)));
            last = next;
        }
        return hike;
    }
};

int main()
{
    const std::string view = "@{view}";
    Model model;
    if (view != "piece")
        model.whole = new View(model.file, 0, rows * columns * 2);
    std::unordered_map<long, Hike> plans;
    Seconds busy{0};
    long units = 0;
    auto began = Clock::now();
    while (Seconds(Clock::now() - began).count() < @{seconds}) {
        auto start = Clock::now();
        if (view == "track") {
            // The sheet of the start, as the printed plan shows it.
            View sheet(model.file, units * 31 % rows * columns * 2 / piece * piece, piece);
            plans[-1].climb = sheet.smooth(16);
        }
        plans[units % 500] = model.plan(units);
        units++;
        busy += Clock::now() - start;
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(Seconds(units / double(@{rate}))));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy.count() << ", \"culprit\": " << model.mapping.count() << "}";
}
