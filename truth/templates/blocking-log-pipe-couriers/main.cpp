// Plans the tours of couriers: the parcels of a district in an order that makes the way short.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double seconds_since(Clock::time_point then)
{
    return std::chrono::duration<double>(Clock::now() - then).count();
}

struct Stop {
    unsigned parcel;
    double x, y;
};

class Journal {
  public:
    double spent = 0;

    // A line for the platform's log, at once: it is asked for when something has gone wrong.
    __attribute__((noinline)) void @{fn}(const std::string &text)
    {
        char stamp[48];
        std::snprintf(stamp, sizeof stamp, "%10ld planner[%6d] INFO %8lu ", long(time(nullptr)), int(getpid()), ++number);
        std::string line = stamp + text;
        line.resize(@{width} + 39, ' ');
        line += '\n';
        auto start = Clock::now();
        for (size_t done = 0; done < line.size();) {
            ssize_t wrote = write(STDOUT_FILENO, line.data() + done, line.size() - done);
            if (wrote < 0)
                std::exit(1);
            done += wrote;
        }
        spent += seconds_since(start);
    }

  private:
    unsigned long number = 0;
};

class Planner {
    Journal &journal;

    static double way(const Stop &from, const Stop &to) { return std::hypot(from.x - to.x, from.y - to.y); }

  public:
    explicit Planner(Journal &journal) : journal(journal) {}

    static std::vector<Stop> parcels(unsigned district)
    {
        std::vector<Stop> stops;
        for (unsigned i = 0; i < @{stops}; i++) {
            unsigned mixed = (district * 7919 + i) * 2654435761u;
            stops.push_back({ district * 1000 + i, double(mixed >> 20), double(mixed >> 8 & 0xfff) });
        }
        return stops;
    }

    double plan(unsigned district)
    {
        auto stops = parcels(district);
        const unsigned step = std::max(1u, unsigned(stops.size() / @{lines}));
        unsigned told = 0;
        double length = 0;
        for (size_t at = 0; at + 1 < stops.size(); at++) {
            auto next = std::min_element(stops.begin() + at + 1, stops.end(), [&](const Stop &a, const Stop &b) { return way(stops[at], a) < way(stops[at], b); });
            std::iter_swap(stops.begin() + at + 1, next);
            length += way(stops[at], stops[at + 1]);
            if (at % step == 0 && told++ < @{lines})
                journal.@{fn}("district " + std::to_string(district) + " parcel " + std::to_string(stops[at].parcel) + " after " + std::to_string(length) + " m");
        }
        for (; told < @{lines}; told++)
            journal.@{fn}("district " + std::to_string(district) + " is planned, " + std::to_string(length) + " m");
        return length;
    }
};

int main()
{
    // The platform reads what a service prints from here.
    int pipe = open("@{work}/@{pipe}", O_WRONLY);
    if (pipe < 0 || dup2(pipe, STDOUT_FILENO) < 0)
        return 1;
    close(pipe);
    Journal journal;
    Planner planner(journal);
    std::ofstream tours("@{work}/tours.csv");
    unsigned units = 0;
    double busy = 0;
    auto began = Clock::now();
    double due = 0;
    while (seconds_since(began) < @{seconds}) {
        due = std::max(due + 1 / double(@{rate}), seconds_since(began));
        std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, due - seconds_since(began))));
        auto start = Clock::now();
        tours << units << ';' << planner.plan(units) << '\n';
        busy += seconds_since(start);
        units++;
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << journal.spent << "}";
    _exit(0);
}
