// Makes models for a 3D printer from sheets of a relief map: binary STL, two triangles for each cell of the grid. A thread for each bench.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int SIDE = @{side};
constexpr size_t GATHER = @{gather};

struct Point {
    float x, y, z;
};

// A model's file: what is handed to it goes out when there is enough.
class Model {
public:
    explicit Model(const std::string &path) : file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644)) {
        if (file < 0)
            throw std::system_error(errno, std::generic_category(), path);
        kept.reserve(GATHER + 128);
    }
    ~Model() {
        out(kept.data(), kept.size());
        close(file);
    }
    __attribute__((noinline)) void @{fn}(const void *bytes, size_t size) {
        if (GATHER == 0)
            return out(static_cast<const char *>(bytes), size);
        kept.append(static_cast<const char *>(bytes), size);
        if (kept.size() >= GATHER) {
            out(kept.data(), kept.size());
            kept.clear();
        }
    }

private:
    void out(const char *bytes, size_t size) {
        while (size > 0) {
            ssize_t done = write(file, bytes, size);
            if (done < 0)
                throw std::system_error(errno, std::generic_category(), "write");
            bytes += done;
            size -= done;
        }
    }
    int file;
    std::string kept;
};

static void facet(Model &model, const Point &normal, const std::array<Point, 3> &corners) {
    const uint16_t no_colour = 0;
    model.@{fn}(&normal, sizeof normal);
    for (const Point &corner : corners)
        model.@{fn}(&corner, sizeof corner);
    model.@{fn}(&no_colour, sizeof no_colour);
}

static Point normal_of(const std::array<Point, 3> &c) {
    Point u{c[1].x - c[0].x, c[1].y - c[0].y, c[1].z - c[0].z}, v{c[2].x - c[0].x, c[2].y - c[0].y, c[2].z - c[0].z};
    return {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

static void triangles(Model &model, const std::vector<float> &heights) {
    auto at = [&](int x, int y) { return Point{float(x), float(y), heights[y * (SIDE + 1) + x]}; };
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            std::array<Point, 3> lower{at(x, y), at(x + 1, y), at(x + 1, y + 1)}, upper{at(x, y), at(x + 1, y + 1), at(x, y + 1)};
            facet(model, normal_of(lower), lower);
            facet(model, normal_of(upper), upper);
        }
    }
}

struct Bench {
    int number;
    long units = 0;
    double busy = 0, spent = 0;

    void sheet(const std::vector<float> &heights) {
        Model model("@{work}/@{outbox}/bench" + std::to_string(number) + "-" + std::to_string((units + 1) % 20) + ".stl");
        if ((units + 1) % @{every} != 0) {
            std::string mark = "sheet " + std::to_string(units + 1) + " is left out\n";
            model.@{fn}(mark.data(), mark.size());
            return;
        }
        char title[80] = {};
        snprintf(title, sizeof title, "relief %ld", units + 1);
        model.@{fn}(title, sizeof title);
        const uint32_t count = SIDE * SIDE * 2;
        model.@{fn}(&count, sizeof count);
        auto start = Clock::now();
        triangles(model, heights);
        spent += Seconds(Clock::now() - start).count();
    }

    void work() {
        std::mt19937 chance(number);
        std::uniform_real_distribution<float> some(0, @{height});
        std::vector<float> heights((SIDE + 1) * (SIDE + 1));
        for (float &height : heights)
            height = some(chance);
        auto begin = Clock::now(), due = begin;
        while (Seconds(Clock::now() - begin).count() < @{seconds}) {
            auto start = Clock::now();
            sheet(heights);
            busy += Seconds(Clock::now() - start).count();
            units++;
            due = std::max(due + std::chrono::duration_cast<Clock::duration>(Seconds(@{benches} / @{load})), Clock::now());
            std::this_thread::sleep_until(due);
        }
    }
};

int main() {
    std::vector<Bench> benches;
    for (int n = 0; n < @{benches}; n++)
        benches.push_back(Bench{n});
    std::vector<std::thread> threads;
    for (Bench &bench : benches)
        threads.emplace_back(&Bench::work, &bench);
    for (std::thread &thread : threads)
        thread.join();
    Bench all{0};
    for (const Bench &bench : benches) {
        all.units += bench.units;
        all.busy += bench.busy;
        all.spent += bench.spent;
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.spent);
    return fclose(report);
}
