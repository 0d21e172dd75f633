// Takes the fields of a slide: each is cleaned in steps, and cells are counted in the last.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using Pixels = std::vector<uint16_t>;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr int EDGE = @{edge}, SIDE = @{side};

static Pixels expose(int number) {
    Pixels pixels(EDGE * EDGE);
    uint32_t state = number * 7919u + 1;
    auto draw = [&] { return state = state * 1664525u + 1013904223u; };
    for (auto &pixel : pixels) pixel = 9000 + (draw() >> 20);
    for (int cell = 0; cell < 40; cell++) {
        int x = (draw() >> 8) % (EDGE - 4), y = (draw() >> 8) % (EDGE - 4);
        for (int n = 0; n < 16; n++) pixels[(y + n / 4) * EDGE + x + n % 4] = 60000;
    }
    return pixels;
}

// Evens out a bit more of what the sensor adds.
static Pixels clean(const Pixels &pixels, uint32_t step) {
    Pixels next(pixels.size());
    uint32_t part = step + 2, before = pixels[0];
    for (size_t at = 0; at < pixels.size(); at++) next[at] = before = (before + pixels[at] * part) / (part + 1);
    return next;
}

class Archive {
    std::string folder;

public:
    double took = 0;
    explicit Archive(std::string where) : folder(std::move(where)) {}

    __attribute__((noinline)) void @{fn}(int number, int step, const Pixels &pixels) {
        auto start = Clock::now();
        std::string name = folder + "/f" + std::to_string(number) + "-s" + std::to_string(step) + "@{suffix}";
        std::ofstream out(name, std::ios::binary | std::ios::trunc);
        Pixels kept;
        kept.reserve(SIDE * SIDE);
        for (int y = 0, skip = EDGE / SIDE; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) kept.push_back(pixels[y * skip * EDGE + x * skip]);
        out.write(reinterpret_cast<const char *>(kept.data()), kept.size() * 2);
        out.close();
        if (!out) throw std::runtime_error("cannot write " + name);
        took += since(start);
    }
};

static long cells(const Pixels &pixels) {
    long count = 0;
    for (size_t at = 1; at < pixels.size(); at++) count += pixels[at] > 30000 && pixels[at - 1] <= 30000;
    return count;
}

int main() {
    Archive archive("@{work}/@{volume}");
    int units = 0;
    long found = 0;
    double busy = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        Pixels pixels = expose(units);
        for (int step = 1; step <= @{steps}; step++) {
            pixels = clean(pixels, step);
            if (step > @{steps} - @{keep}) archive.@{fn}(units, step, pixels);
        }
        found += cells(pixels);
        units++;
        busy += since(start);
        std::this_thread::sleep_for(std::chrono::duration<double>(units / (double)@{rate} - since(began)));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << archive.took << ", \"cells\": " << found << "}";
}
