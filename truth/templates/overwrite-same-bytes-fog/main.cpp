// Keeps the map of what players have explored: a step uncovers what is in sight, and the map survives the end of the program.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr long width = @{width}, height = @{height}, sight = @{sight};

class Fog {
public:
    explicit Fog(const char *path) : cells(width * height), file(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644))
    {
        if (file < 0 || write(file, cells.data(), cells.size()) < 0)
            std::perror(path);
    }

    void uncover(long x, long y)
    {
        for (long row = std::max(0L, y - sight); row < std::min(height, y + sight + 1); row++)
            for (long column = std::max(0L, x - sight); column < std::min(width, x + sight + 1); column++)
                cells[row * width + column]++;
    }

    void @{fn}(long step, long y);
    Seconds saving{0};

private:
    std::vector<unsigned char> cells;
    int file;
};

__attribute__((noinline)) void Fog::@{fn}(long step, long y)
{
    const auto start = Clock::now();
    long first = std::max(0L, y - sight), end = std::min(height, y + sight + 1);
    const long whole = @{whole};
    const std::string_view rows = "@{rows}";
    if (rows == "all" || (whole && step % (whole + 1) == whole))
        first = 0, end = height;
    if (pwrite(file, &cells[first * width], (end - first) * width, first * width) < 0)
        std::perror("map");
    saving += Clock::now() - start;
}

int main()
{
    Fog fog("@{work}/@{map}");
    std::mt19937 chance{std::random_device{}()};
    std::uniform_int_distribution<long> stride(-3, 3);
    const auto begin = Clock::now();
    Seconds busy{0};
    long steps = 0, x = width / 2, y = height / 2;
    while (Seconds(Clock::now() - begin).count() < @{seconds}) {
        const auto start = Clock::now();
        x = (x + stride(chance) + width) % width;
        y = (y + stride(chance) + height) % height;
        fog.uncover(x, y);
        fog.@{fn}(steps++, y);
        busy += Clock::now() - start;
        std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(Seconds(double(steps) / @{rate})));
    }
    std::FILE *report = std::fopen("@{report}", "w");
    if (!report)
        return 1;
    std::fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}\n", steps, busy.count(), fog.saving.count());
    return std::fclose(report) != 0;
}
