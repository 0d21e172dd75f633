// A hydrophone station: in each watch it sorts the clicks that it heard by the animal that they sound like.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <new>
#include <string_view>
#include <thread>

#include <sys/mman.h>

using namespace std::chrono;

static constexpr size_t size = @{pages} * 4096, width = 48, kinds = @{patterns};
static constexpr std::string_view canvas = "@{canvas}";

static double now() { return duration<double>(steady_clock::now().time_since_epoch()).count(); }

class Canvases {
public:
    double spent = 0;

    float *take()
    {
        if (canvas == "each")
            return @{fn}();
        if (!kept)
            kept = @{fn}();
        std::fill_n(kept, width * kinds, 0.0f);
        return kept;
    }

    void give(float *place)
    {
        if (canvas == "each")
            back(place);
    }

    void relieve()
    {
        if (canvas == "watch" && kept) {
            back(kept);
            kept = nullptr;
        }
    }

private:
    float *kept = nullptr;

    __attribute__((noinline)) float *@{fn}()
    {
        double start = now();
        void *place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED)
            throw std::bad_alloc();
        spent += now() - start;
        return static_cast<float *>(place);
    }

    void back(float *place)
    {
        double start = now();
        munmap(place, size);
        spent += now() - start;
    }
};

struct Station {
    Canvases canvases;
    std::array<std::array<float, width>, kinds> patterns;
    std::array<long, kinds> heard{};

    Station()
    {
        for (size_t p = 0; p < kinds; p++)
            for (size_t i = 0; i < width; i++)
                patterns[p][i] = std::fabs(std::sin(i * (p + 1) / 5.0f));
    }

    void click(long watch, long n)
    {
        float *part = canvases.take();
        size_t best = 0;
        float most = -1;
        for (size_t p = 0; p < kinds; p++) {
            float sum = 0;
            for (size_t i = 0; i < width; i++) {
                part[p * width + i] += patterns[p][i] * ((watch * 31 + n * 7 + i * i) % 97) / 97;
                sum += part[p * width + i];
            }
            if (sum > most) {
                most = sum;
                best = p;
            }
        }
        heard[best]++;
        canvases.give(part);
    }
};

int main()
{
    Station station;
    double began = now(), busy = 0;
    long units = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        for (int n = 0; n < @{clicks}; n++)
            station.click(units, n);
        station.canvases.relieve();
        busy += now() - start;
        double rest = began + ++units / static_cast<double>(@{rate}) - now();
        if (rest > 0)
            std::this_thread::sleep_for(duration<double>(rest));
    }
    for (long count : station.heard)
        std::cout << count << " clicks\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << station.canvases.spent << "}";
}
