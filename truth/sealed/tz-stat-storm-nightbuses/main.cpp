#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

// Plans of the night buses: the times of a trip come as seconds, and are put onto service days; what is after midnight counts for the day before.
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Stop {
    long place, at;
    int day = 0, minute = 0;
};

class Trip {
public:
    std::vector<Stop> stops;

    Trip(long number, long begins)
    {
        unsigned long state = number * 2654435761ul + 9;
        for (long i = 0; i < @{stops}; i++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            begins += 20 + (state >> 58);
            stops.push_back({long(state >> 40) % @{lines}, begins});
        }
    }
};

static void __attribute__((noinline)) @{fn}(Stop &stop)
{
    time_t at = stop.at - 4 * 3600;
    const tm *local = std::localtime(&at);
    stop.day = local->tm_year * 366 + local->tm_yday;
    stop.minute = local->tm_hour * 60 + local->tm_min;
}

static void put(Trip &trip)
{
    @{fn}(trip.stops[0]);
    for (size_t i = 1; i < trip.stops.size(); i++) {
        Stop &stop = trip.stops[i];
        if (@{each}) {
            @{fn}(stop);
        } else {
            long minutes = trip.stops[0].minute + (stop.at - trip.stops[0].at) / 60;
            stop.day = trip.stops[0].day + minutes / 1440;
            stop.minute = minutes % 1440;
        }
    }
}

int main()
{
    if (std::string("@{zone}") != "none")
        setenv("TZ", "@{zone}", 1);
    std::map<long, long> calls;
    long units = 0;
    double busy = 0, spent = 0;
    auto began = Clock::now();
    auto due = began;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        Trip trip(units, 1700000000 + units * 86400);
        auto putting = Clock::now();
        put(trip);
        spent += since(putting);
        std::vector<long> peak(24);
        for (auto &stop : trip.stops)
            peak[stop.minute / 60]++;
        calls[trip.stops[0].place] += peak[3];
        busy += since(start);
        units++;
        due = std::max(due + std::chrono::microseconds(long(1e6 / @{rate})), Clock::now());
        std::this_thread::sleep_until(due);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << "}";
}
