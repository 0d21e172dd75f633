// Finds the clicks of scratched records, side by side, for those who restore them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

class Record {
    int file;

public:
    explicit Record(const std::string &path) : file(open(path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        if (file < 0) {
            perror(path.c_str());
            exit(1);
        }
    }
    Record(const Record &) = delete;
    ~Record() { close(file); }

    __attribute__((noinline)) size_t @{fn}(std::vector<unsigned char> &sound)
    {
        struct stat about {};
        fstat(file, &about);
        sound.resize(@{whole} ? about.st_size : 1500);
        size_t got = 0;
        while (got < sound.size()) {
            ssize_t more = read(file, sound.data() + got, std::min<size_t>(@{take_kb} * 1024, sound.size() - got));
            if (more <= 0)
                break;
            got += more;
        }
        return got;
    }
};

static int clicks(const std::vector<unsigned char> &sound, size_t length)
{
    int found = 0;
    for (size_t i = 2; i < length; i += 2)
        found += abs(sound[i] - sound[i - 2]) > 30;
    return found;
}

int main()
{
    std::vector<unsigned char> sound;
    std::vector<int> found(@{sides});
    double busy = 0, taking = 0;
    long units = 0;
    for (auto began = Clock::now(); since(began) < @{seconds};) {
        auto start = Clock::now();
        int side = units * 3 % @{sides};
        size_t length;
        {
            Record record("@{work}/@{mount}/@{side}-" + std::to_string(side) + ".pcm");
            length = record.@{fn}(sound);
        }
        taking += since(start);
        found[side] = clicks(sound, length);
        units++;
        busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(units / (double)@{per_s})));
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, taking);
    fclose(out);
}
