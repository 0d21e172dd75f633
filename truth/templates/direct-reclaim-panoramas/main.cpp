// Stitches the pictures of two cameras to a panorama, and tells how well they fit.
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
static const int WIDTH = @{width}, HEIGHT = @{height}, OVERLAP = @{overlap}, WIDE = 2 * WIDTH - OVERLAP;

class Canvas {
public:
    size_t size = (size_t)WIDE * HEIGHT * 3;
    uint8_t *points;
    Canvas();
    ~Canvas() { munmap(points, size); }
};

// Black, all of it.
static __attribute__((noinline)) uint8_t *@{fn}(size_t size) {
    void *points = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (points == MAP_FAILED) { perror("canvas"); exit(1); }
    for (size_t at = 0; at < size; at += 4096) ((volatile uint8_t *)points)[at] = 16;
    return (uint8_t *)points;
}

Canvas::Canvas() : points(@{fn}(size)) {}

static uint8_t seen(int camera, int x, int y, long n) { return (x * 3 + y * 5 + camera * 7 + n) >> 2; }

static long stitch(Canvas &canvas, long n) {
    long apart = 0;
    for (int y = 0; y < HEIGHT; y++) {
        uint8_t *row = canvas.points + (size_t)y * WIDE * 3;
        for (int x = 0; x < WIDE; x++)
            for (int colour = 0; colour < 3; colour++)
                row[x * 3 + colour] = (x < WIDTH ? seen(0, x, y, n) : seen(1, x - WIDTH + OVERLAP, y, n)) * (225 - y * 25 / HEIGHT - colour) / 225;
        for (int x = 0; x < OVERLAP; x++) apart += abs(seen(0, WIDTH - OVERLAP + x, y, n) - seen(1, x, y, n));
    }
    return apart;
}

int main() {
    FILE *group = fopen("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w");
    if (!group || fprintf(group, "%d", getpid()) < 0 || fclose(group)) { perror("@{slice}"); return 1; }
    double busy = 0, made = 0;
    long units = 0, apart = 0;
    auto began = Clock::now(), due = began;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        {
            Canvas canvas;
            made += since(start);
            apart += stitch(canvas, units++);
        }
        busy += since(start);
        due = std::max(due + std::chrono::microseconds(1000000 / @{rate}), Clock::now());
        std::this_thread::sleep_until(due);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, made);
    fclose(out);
    return apart == 42;
}
