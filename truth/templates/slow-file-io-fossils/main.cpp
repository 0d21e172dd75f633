// Prints the labels of fossils: from each scan the size, the age by the colour of the stone, and the sample that it is most like.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using Shades = std::array<long, 16>;
static double culprit;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__attribute__((noinline)) static std::string @{fn}(const std::string &folder, int number)
{
    double start = now();
    char name[32];
    std::snprintf(name, sizeof name, "/scan-%05d", number);
    int file = open((folder + name).c_str(), O_RDONLY);
    if (file < 0) {
        std::perror(name);
        std::exit(1);
    }
    std::string scan(64 * 1024, 0);
    size_t used = 0;
    for (ssize_t got; (got = read(file, &scan[used], scan.size() - used)) > 0;)
        used += got;
    close(file);
    scan.resize(used);
    culprit += now() - start;
    return scan;
}

// How often each brightness comes about.
static Shades shades(const std::string &scan)
{
    Shades counts{};
    for (unsigned char byte : scan)
        counts[byte >> 4]++;
    return counts;
}

static long likeness(const Shades &one, const Shades &other)
{
    long sum = 0;
    for (int i = 0; i < 16; i++)
        sum -= std::labs(one[i] - other[i]);
    return sum;
}

static std::string label(int number, const std::string &scan, const std::vector<Shades> &samples)
{
    Shades own = shades(scan);
    size_t best = 0;
    for (size_t i = 1; i < samples.size(); i++)
        if (likeness(own, samples[i]) > likeness(own, samples[best]))
            best = i;
    std::ostringstream text;
    text << "No. " << number << "  " << own[3] / 100.0 << " cm, " << 60 + own[7] % 40 << " million years, like sample " << best
         << "  [" << std::hex << std::hash<std::string>()(scan) << "]\n";
    return text.str();
}

int main()
{
    std::vector<Shades> samples;
    for (int i = 0; i < @{samples}; i++)
        samples.push_back(shades(@{fn}("@{work}/@{first}/@{scans}", i)));
    culprit = 0;
    std::string labels;
    long units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        double start = now();
        // The visitors' order is that of the rooms.
        int number = @{samples} + units * 389 % (@{count} - @{samples});
        labels += label(number, @{fn}("@{work}/@{disk}/@{scans}", number), samples);
        units++;
        busy += now() - start;
        due += 1.0 / @{rate};
        std::this_thread::sleep_for(std::chrono::duration<double>(due - now()));
    }
    std::ofstream("@{work}/labels.txt") << labels;
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << "}";
}
