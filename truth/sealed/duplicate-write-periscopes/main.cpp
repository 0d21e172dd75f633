// Records the frames of a look-out camera in a ring, the oldest of which is replaced by the newest.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr size_t frame_size = @{frame_kb} << 10;

static int open_at(const std::string &name)
{
    int file = open(("@{work}/" + name).c_str(), O_RDWR | O_CREAT, 0644);
    if (file < 0)
        throw std::system_error(errno, std::generic_category(), name);
    return file;
}

// The sea, and what moves on it; each time an eighth of its rows is new.
static void shoot(std::vector<char> &frame, uint64_t number)
{
    char row[5120];
    for (size_t i = 0; i < sizeof row; i++)
        row[i] = static_cast<char>((i * number >> 4) + number);
    for (size_t at = 16 + number % 8 * 4096; at < frame.size(); at += 8 * 4096)
        memcpy(&frame[at], row + (at >> 12 & 1023), std::min<size_t>(4096, frame.size() - at));
    memcpy(frame.data(), &number, sizeof number);
}

class Recorder {
public:
    Seconds twice{0};

    explicit Recorder(const std::string &names) : log(open_at("@{events}")), audit(open_at("@{audit}"))
    {
        std::istringstream all(names);
        for (std::string name; all >> name;)
            rings.push_back(open_at(name));
    }

    __attribute__((noinline)) void @{fn}(const std::vector<char> &frame, uint64_t number)
    {
        off_t at = number % @{slots} * frame_size;
        bool first = true;
        for (int ring : rings) {
            auto start = Clock::now();
            // Readers of the old format take a round from its start.
            if (!first && at == 0 && ftruncate(ring, 0))
                throw std::system_error(errno, std::generic_category(), "old ring");
            if (pwrite(ring, frame.data(), frame.size(), at) < 0)
                throw std::system_error(errno, std::generic_category(), "ring");
            if (!first)
                twice += Clock::now() - start;
            first = false;
        }
    }

    void note(uint64_t number)
    {
        std::string line = std::to_string(number) + " movement\n";
        for (int file : {log, audit})
            if (write(file, line.data(), line.size()) < 0)
                throw std::system_error(errno, std::generic_category(), "note");
    }

private:
    std::vector<int> rings;
    int log, audit;
};

int main()
{
    const uint64_t notes = @{notes};
    Recorder recorder("@{outputs}");
    std::vector<char> frame(frame_size);
    Seconds busy{0};
    uint64_t units = 0;
    auto began = Clock::now();
    while (Seconds(Clock::now() - began).count() < @{seconds}) {
        auto start = Clock::now();
        shoot(frame, units);
        recorder.@{fn}(frame, units);
        if (notes && units % notes == 0)
            recorder.note(units);
        units++;
        busy += Clock::now() - start;
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(Seconds(units / double(@{rate}))));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy.count() << ", \"culprit\": " << recorder.twice.count() << "}";
}
