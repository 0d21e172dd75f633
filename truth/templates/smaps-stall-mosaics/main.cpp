// Lays mosaics for bathrooms out: each wall is laid on a sheet of its own, from a shelf that has all tiles.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class Sheet {
public:
    explicit Sheet(size_t size) : size_(size), at_(static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        if (at_ == MAP_FAILED)
            throw std::runtime_error("no memory for a sheet");
    }
    ~Sheet() { munmap(at_, size_); }
    Sheet(const Sheet &) = delete;
    char *at(size_t place) { return at_ + place; }
    size_t size() const { return size_; }

private:
    size_t size_;
    char *at_;
};

class Layout {
public:
    Layout() : shelf_(@{tiles} * 1000000UL)
    {
        for (size_t i = 0; i < shelf_.size(); i += 4096)
            std::snprintf(shelf_.at(i), 16, "%zu", i % 977);
    }

    __attribute__((noinline)) long @{fn}(long room, int wall)
    {
        const auto start = Clock::now();
        long joints = 0;
        Seconds laid{0};
        {
            Sheet sheet(@{sheet} * 1024UL);
            const auto mapped = Clock::now();
            for (size_t place = 0; place + 4096 <= sheet.size(); place += 4096) {
                const size_t tile = (room * 6151 + wall * 769 + place) * 32 % (shelf_.size() - 4096) / 4096 * 4096;
                std::memcpy(sheet.at(place), shelf_.at(tile), 400);
                joints += *sheet.at(place);
            }
            laid = Clock::now() - mapped;
        }
        waited += Clock::now() - start - laid;
        return joints;
    }

    Seconds waited{0};

private:
    Sheet shelf_;
};

int main()
{
    Layout layout;
    const std::string place = "@{work}/composer.pid";
    if (std::FILE *pid = std::fopen((place + ".new").c_str(), "w")) {
        std::fprintf(pid, "%d\n", getpid());
        std::fclose(pid);
        std::rename((place + ".new").c_str(), place.c_str());
    }
    const auto begin = Clock::now();
    Seconds busy{0};
    long rooms = 0, joints = 0;
    while (Seconds(Clock::now() - begin).count() < @{seconds}) {
        const auto start = Clock::now();
        for (int wall = 0; wall < @{parts}; wall++)
            joints += layout.@{fn}(rooms, wall);
        rooms++;
        busy += Clock::now() - start;
        std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(Seconds(1.0 / @{rate})));
    }
    std::FILE *report = std::fopen("@{report}", "w");
    if (!report)
        return 1;
    std::fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"joints\": %ld}\n", rooms, busy.count(), layout.waited.count(), joints);
    return std::fclose(report) != 0;
}
