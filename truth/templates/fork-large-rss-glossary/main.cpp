// Plans the ways of parcels over a map of the country in memory; a program of the carrier's makes the mark for each parcel.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

extern char **environ;

// Places and the roads between them: of each place the next ones, and how long it takes.
class Map {
public:
    explicit Map(size_t bytes) : roads_(bytes / sizeof(Road))
    {
        std::minstd_rand chance(11);
        const size_t places = roads_.size() / ways;
        for (size_t i = 0; i < roads_.size(); i++)
            roads_[i] = {uint32_t((i / ways + chance() % 4001) % places), uint16_t(3 + chance() % 50), 0};
    }

    // The way from a place, always by the road that seems best; a road that is much used takes longer.
    int way(size_t from, size_t to)
    {
        const size_t places = roads_.size() / ways;
        size_t at = from % places;
        int minutes = 0;
        for (int step = 0; step < @{words} * 6 && at != to % places; step++) {
            Road *best = nullptr;
            long least = 0;
            for (size_t i = at * ways; i < (at + 1) * ways; i++) {
                long rest = std::labs(long(roads_[i].place) - long(to % places)) / 200 + roads_[i].minutes + roads_[i].used;
                if (!best || rest < least)
                    best = &roads_[i], least = rest;
            }
            best->used++;
            minutes += best->minutes;
            at = best->place;
        }
        return minutes;
    }

private:
    struct Road {
        uint32_t place;
        uint16_t minutes, used;
    };
    static constexpr size_t ways = 8;
    std::vector<Road> roads_;
};

struct Parcel {
    unsigned number;
    size_t from, to;
    int minutes = 0;
};

static int @{fn}(const Parcel &parcel)
{
    static const std::string program = "@{work}/bin/@{tool}";
    std::string number = std::to_string(parcel.number), minutes = std::to_string(parcel.minutes);
    char *const words[] = {const_cast<char *>(program.c_str()), number.data(), minutes.data(), nullptr};
    pid_t pid;
    if (std::string("@{how}") == "copy") {
        pid = fork();
        if (pid == 0) {
            execv(words[0], words);
            _exit(127);
        }
    } else if (posix_spawn(&pid, words[0], nullptr, nullptr, words, environ)) {
        throw std::runtime_error("no start of " + program);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

int main()
{
    Map map(size_t(@{held_mb}) << 20);
    std::ofstream log("@{work}/ways.log");
    unsigned units = 0;
    Seconds busy{0}, spent{0};
    const auto began = Clock::now();
    auto due = began;
    while (Seconds(Clock::now() - began).count() < @{seconds}) {
        due = std::max(due + std::chrono::duration_cast<Clock::duration>(Seconds(1 / @{rate})), Clock::now());
        std::this_thread::sleep_until(due);
        const auto start = Clock::now();
        Parcel parcel{units, units * 48271u, units * 16807u + 5};
        for (int road = 0; road < 20; road++)
            parcel.minutes += map.way(parcel.from + road * 977, parcel.to);
        const auto asked = Clock::now();
        if (int status = @{fn}(parcel)) {
            std::cerr << "parcel " << units << ": no mark, " << status << '\n';
            return 1;
        }
        spent += Clock::now() - asked;
        log << "parcel " << parcel.number << ": " << parcel.minutes << " minutes\n";
        busy += Clock::now() - start;
        units++;
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy.count() << ", \"culprit\": " << spent.count() << "}";
    return 0;
}
