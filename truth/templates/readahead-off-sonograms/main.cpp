// Cuts the silence out of the recordings of bats: what is below the noise of the night is not kept.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Entry {
    char name[16];
    uint64_t start, size;
};

class Archive {
public:
    explicit Archive(const std::string &path) : heads_(open(path.c_str(), O_RDONLY))
    {
        posix_fadvise(heads_, 0, 0, POSIX_FADV_RANDOM);
        body_ = @{shared} ? heads_ : open(path.c_str(), O_RDONLY);
        entries.resize(256);
        if (body_ < 0 || read(heads_, entries.data(), 8192) != 8192)
            exit(1);
        entries.erase(std::find_if(entries.begin(), entries.end(), [](const Entry &entry) { return !entry.name[0]; }), entries.end());
    }

    void head(const Entry &entry, std::vector<int16_t> &frame)
    {
        auto start = Clock::now();
        if (pread(heads_, frame.data(), frame.size() * 2, entry.start) <= 0)
            exit(1);
        reading += since(start);
    }

    template <class With> void __attribute__((noinline)) @{fn}(const Entry &entry, std::vector<int16_t> &frame, With with)
    {
        lseek(body_, entry.start, SEEK_SET);
        for (size_t rest = entry.size; rest > 0;) {
            auto start = Clock::now();
            ssize_t n = read(body_, frame.data(), std::min(rest, frame.size() * 2));
            reading += since(start);
            if (n <= 0)
                exit(1);
            rest -= n;
            with();
        }
    }

    std::vector<Entry> entries;
    double reading = 0;

private:
    int heads_, body_;
};

static double loudness(const std::vector<int16_t> &frame)
{
    double most = 0;
    for (int band = 1; band <= @{bands}; band++) {
        double sum = 0;
        for (size_t i = band; i < frame.size(); i++)
            sum += std::sqrt(std::abs(double(frame[i]) - frame[i - band]));
        most = std::max(most, sum / frame.size());
    }
    return most;
}

int main()
{
    Archive archive("@{work}/@{volume}/@{archive}");
    std::vector<int16_t> frame(@{frame} / 2);
    std::vector<double> kept;
    long units = 0, silent = 0;
    double busy = 0;
    auto began = Clock::now();
    for (; since(began) < @{seconds}; units++) {
        auto start = Clock::now();
        kept.clear();
        if (std::string("@{mode}") == "heads") {
            for (int i = 0; i < 3; i++) {
                archive.head(archive.entries[(units * 7919 + i * i * 31) % archive.entries.size()], frame);
                kept.push_back(loudness(frame));
            }
        } else {
            archive.@{fn}(archive.entries[units % archive.entries.size()], frame, [&] { kept.push_back(loudness(frame)); });
        }
        std::nth_element(kept.begin(), kept.begin() + kept.size() / 2, kept.end());
        silent += std::count_if(kept.begin(), kept.end(), [&](double loud) { return loud < kept[kept.size() / 2] * 0.9; });
        busy += since(start);
        std::this_thread::sleep_until(start + std::chrono::microseconds(long(1e6 / @{per_s})));
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"silent\": %ld}", units, busy, archive.reading, silent);
    return fclose(out);
}
