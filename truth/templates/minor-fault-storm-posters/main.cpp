// Where is it loud? For each new route of aeroplanes a grid of the region is filled and asked for its villages.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr size_t WIDTH = 2048;
constexpr size_t HEIGHT = (size_t(@{mb}) << 20) / (WIDTH * sizeof(float));

struct Grid {
    std::vector<float> noise;
    Grid() : noise(WIDTH * HEIGHT) {}
    float &at(size_t x, size_t y) { return noise[(y % HEIGHT) * WIDTH + x % WIDTH]; }
};

struct Village {
    size_t x, y;
    std::string name;
};

struct Route {
    std::string name;
    std::vector<std::pair<size_t, size_t>> points;
};

static Route parse(const std::string &line)
{
    std::istringstream in(line);
    Route route;
    in >> route.name;
    for (size_t x, y; in >> x >> y;)
        route.points.emplace_back(x, y);
    return route;
}

static std::string route_line(long number)
{
    std::ostringstream out;
    out << "route-" << number;
    for (long i = 0; i < @{texts}; i++)
        out << ' ' << (number * 7919 + i * 37) % (WIDTH - 60) << ' ' << (number * 104729 + i * 41) % (HEIGHT - 60);
    return out.str();
}

class Region {
    std::deque<std::unique_ptr<Grid>> kept;
    std::vector<Village> villages;

  public:
    double preparing = 0;

    Region()
    {
        for (int i = 0; i < @{pool} && !@{fresh}; i++)
            kept.push_back(std::make_unique<Grid>());
        for (size_t i = 0; i < 400; i++)
            villages.push_back({ i * 977 % WIDTH, i * 3119 % HEIGHT, "village " + std::to_string(i) });
    }

    // A grid on which nothing is heard.
    __attribute__((noinline)) std::unique_ptr<Grid> @{fn}()
    {
        if (@{fresh})
            return std::make_unique<Grid>();
        auto grid = std::move(kept.front());
        kept.pop_front();
        return grid;
    }

    void fly(Grid &grid, const Route &route, float power)
    {
        for (auto [x, y] : route.points)
            for (size_t dy = 0; dy < 24; dy++)
                for (size_t dx = 0; dx < 24; dx++)
                    grid.at(x + dx, y + dy) += power / (1.0f + std::sqrt(float(dx * dx + dy * dy)));
    }

    double heard(Grid &grid, const Route &route)
    {
        double sum = 0;
        for (int pass = 0; pass < @{passes} * 6; pass++)
            for (auto [x, y] : route.points)
                for (size_t step = 0; step < 60; step++)
                    sum += std::log1p(std::fabs(grid.at(x + step, y + pass)));
        for (const Village &village : villages)
            sum += grid.at(village.x, village.y) > 1 ? village.name.size() : 0;
        return sum;
    }

    double judge(const std::string &line)
    {
        Route route = parse(line);
        auto began = Clock::now();
        auto grid = @{fn}();
        preparing += since(began);
        fly(*grid, route, 60);
        double sum = heard(*grid, route);
        if (@{fresh}) {
            began = Clock::now();
            grid.reset();
            preparing += since(began);
        } else {
            fly(*grid, route, -60);
            kept.push_back(std::move(grid));
        }
        return sum;
    }
};

int main()
{
    Region region;
    long units = 0;
    double busy = 0, sum = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        sum += region.judge(route_line(units));
        units++;
        busy += since(start);
        double rest = units / double(@{rate}) - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, region.preparing);
    fclose(out);
    printf("%.1f\n", sum);
}
