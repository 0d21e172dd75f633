#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point then)
{
    return std::chrono::duration<double>(Clock::now() - then).count();
}

struct Point {
    long x, y; // in microns
};

class Program {
public:
    Program(const std::string &path, bool prompt)
    {
        if (prompt)
            out_.rdbuf()->pubsetbuf(nullptr, 0); // so that the simulator's window can follow
        out_.open(path);
        out_ << "%\nO" << @{feed} << "\nG21 G90 G17\n";
    }

    [[gnu::noinline]] void @{fnCamel}(const std::vector<Point> &path, long depth)
    {
        auto start = Clock::now();
        out_ << "G0 Z" << 5000 << "\n";
        bool first = true;
        for (const Point &p : path) {
            out_ << (first ? "G0" : "G1") << " X" << p.x << " Y" << p.y;
            if (first)
                out_ << "\nG1 Z" << -depth << " F" << @{feed};
            out_ << '\n';
            first = false;
        }
        spent += since(start);
    }

    void finish() { out_ << "M30\n%\n" << std::flush; }

    double spent = 0;

private:
    std::ofstream out_;
};

// The way of the tool's centre through a pocket: a spiral whose corners are rounded, with the tool's radius taken off.
static std::vector<Point> spiral(long number, int count)
{
    std::vector<Point> path;
    double cx = 40 * std::cos(number * 0.7), cy = 40 * std::sin(number * 0.7), radius = @{stepover};
    for (int i = 0; i < count; i++) {
        double angle = i * 0.19 + number, squareness = std::pow(std::fabs(std::cos(2 * angle)), 0.6);
        double r = radius * (1 + 0.18 * squareness);
        path.push_back({ std::lround((cx + r * std::cos(angle)) * 1000), std::lround((cy + r * std::sin(angle)) * 1000) });
        radius += @{stepover} * 0.19 / 6.2832;
    }
    return path;
}

static double length(const std::vector<Point> &path)
{
    double sum = 0;
    for (size_t i = 1; i < path.size(); i++)
        sum += std::hypot(double(path[i].x - path[i - 1].x), double(path[i].y - path[i - 1].y));
    return sum / 1000;
}

int main()
{
    Program program("@{path}", @{prompt});
    auto began = Clock::now();
    long pockets = 0;
    double busy = 0, millimetres = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        auto path = spiral(pockets, @{count});
        millimetres += length(path);
        program.@{fnCamel}(path, std::lround(@{depth} * 1000));
        pockets++;
        busy += since(start);
        double rest = pockets / double(@{rate}) - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    program.finish();
    std::cerr << pockets << " pockets, " << millimetres / @{feed} << " minutes\n";
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", pockets, busy, program.spent);
    fclose(report);
}
