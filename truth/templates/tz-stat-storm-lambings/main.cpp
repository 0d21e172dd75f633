// The diary of a sheep farm: which ewe was at the trough at which hour of the farm's day, from the readings of ear tags.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Reading {
    std::time_t at;
    uint16_t ewe;
    uint16_t grams;
};

struct Ewe {
    std::array<uint32_t, 24> visits{};
    uint64_t eaten = 0;
    int last_day = -1;
    int days = 0;
};

class Diary {
public:
    double spent = 0;

    __attribute__((noinline)) void @{fn}(const Reading &reading)
    {
        std::tm *local = std::localtime(&reading.at);
        note(reading, local->tm_hour, local->tm_yday);
    }

    void batch(const std::vector<Reading> &readings)
    {
        auto start = Clock::now();
        if (@{each}) {
            for (const Reading &reading : readings)
                @{fn}(reading);
            spent += since(start);
            return;
        }
        std::tm first = *std::localtime(&readings.front().at);
        long second = first.tm_hour * 3600L + first.tm_min * 60 + first.tm_sec;
        for (const Reading &reading : readings) {
            long of_day = second + (reading.at - readings.front().at);
            note(reading, of_day / 3600 % 24, first.tm_yday + of_day / 86400);
        }
    }

    uint64_t thin() const
    {
        uint64_t count = 0;
        for (const Ewe &ewe : ewes)
            count += ewe.days > 0 && ewe.eaten / ewe.days < 900;
        return count;
    }

private:
    std::vector<Ewe> ewes = std::vector<Ewe>(@{ewes});

    void note(const Reading &reading, int hour, int day)
    {
        Ewe &ewe = ewes[reading.ewe];
        ewe.visits[hour]++;
        ewe.eaten += reading.grams;
        if (ewe.last_day != day) {
            ewe.last_day = day;
            ewe.days++;
        }
    }
};

int main()
{
    const std::string zone = "@{zone}";
    if (!zone.empty())
        setenv("TZ", zone.c_str(), 1);
    else
        unsetenv("TZ");
    Diary diary;
    uint32_t chance = 12345;
    std::time_t at = 1709251200;
    long units = 0;
    double busy = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        std::vector<Reading> readings;
        for (int i = 0; i < @{readings}; i++) {
            chance = chance * 1664525 + 1013904223;
            at += 1 + (chance >> 9) % @{gap};
            readings.push_back({at, uint16_t((chance >> 16) % @{ewes}), uint16_t((chance >> 8) % 400)});
        }
        auto start = Clock::now();
        diary.batch(readings);
        units++;
        busy += since(start);
        std::this_thread::sleep_for(std::chrono::duration<double>(units / double(@{rate}) - since(began)));
    }
    std::cout << diary.thin() << " ewes to look after\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << (zone.empty() ? diary.spent : 0) << "}";
    return 0;
}
