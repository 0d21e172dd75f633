// Draws the flights of gliders upon a grid of the country, and says where they climbed.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

constexpr size_t CELLS = @{cells};
const size_t SIDE = std::sqrt(double(CELLS));
constexpr uint16_t NEVER = 0xffff;

struct Fix {
    double east, north;
    uint16_t height;
};

struct Grid {
    std::vector<uint16_t> height = std::vector<uint16_t>(CELLS, NEVER);
    std::vector<size_t> drawn;

    void wipe()
    {
        for (size_t cell : drawn)
            height[cell] = NEVER;
        drawn.clear();
    }
};

static std::vector<Fix> flight(unsigned number)
{
    std::vector<Fix> fixes;
    double east = 0.2 + number % 50 / 100.0, north = 0.2 + number % 37 / 70.0, course = number;
    for (int i = 0; i < @{fixes}; i++) {
        course += std::sin(i * 0.05 + number) * 0.4;
        east += std::cos(course) * 0.0004;
        north += std::sin(course) * 0.0004;
        fixes.push_back({east, north, uint16_t(1200 + 800 * std::sin(i * 0.02))});
    }
    return fixes;
}

__attribute__((noinline)) static void @{fn}(std::unique_ptr<Grid> &grid)
{
    if (@{keep} && grid) {
        grid->wipe();
        return;
    }
    grid.reset();
    grid = std::make_unique<Grid>();
}

static long draw(Grid &grid, const std::vector<Fix> &fixes)
{
    long climbed = 0;
    for (const Fix &fix : fixes)
        for (int y = -@{reach}; y <= @{reach}; y++)
            for (int x = -@{reach}; x <= @{reach}; x++) {
                size_t cell = (size_t(fix.north * SIDE) + y) * SIDE + size_t(fix.east * SIDE) + x;
                if (cell >= CELLS)
                    continue;
                uint16_t &at = grid.height[cell];
                if (at == NEVER)
                    grid.drawn.push_back(cell);
                else if (at < fix.height)
                    climbed += fix.height - at;
                at = fix.height;
            }
    return climbed;
}

int main()
{
    double busy = 0, culprit = 0;
    long units = 0, climbed = 0;
    std::unique_ptr<Grid> grid;
    if (@{keep})
        @{fn}(grid);
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        auto fixes = flight(units);
        auto from = Clock::now();
        @{fn}(grid);
        culprit += @{keep} ? 0 : since(from);
        climbed += draw(*grid, fixes);
        units++;
        busy += since(start);
        std::this_thread::sleep_for(std::chrono::duration<double>(units / double(@{rate}) - since(began)));
    }
    std::printf("%ld m climbed\n", climbed);
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << "}";
}
