// How far the fire of each ignition gets in an hour.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define ROWS @{rows}
#define CELLS 2042

struct row {
    uint32_t fire, from, to;
    uint16_t minute[CELLS];
};

static struct row *terrain;
static double released;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(void)
{
    madvise(terrain, sizeof(struct row) * ROWS, MADV_DONTNEED);
    released = now();
}

// The strip of each row that the wind allows.
static void __attribute__((noinline)) @{fn2}(uint32_t fire)
{
    uint32_t middle = 200 + fire * 37 % 1500;
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t drift = r * @{wind} / 97 % 120;
        terrain[r].fire = fire;
        terrain[r].from = middle + drift;
        terrain[r].to = middle + drift + @{width} + (r ^ fire) % 8;
    }
}

static uint32_t spread(uint32_t fire)
{
    uint32_t burnt = 0, dry = fire * 2654435761u;
    for (uint32_t r = 0; r < ROWS; r++) {
        struct row *row = &terrain[r];
        uint32_t minute = r / 40;
        for (uint32_t c = row->from; c < row->to; c++) {
            dry = dry * 1664525u + 1013904223u;
            minute += dry >> 30;
            row->minute[c] = minute;
            burnt += minute < 60;
        }
    }
    return burnt;
}

int main(void)
{
    terrain = mmap(NULL, sizeof(struct row) * ROWS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (terrain == MAP_FAILED)
        return 1;
    double began = now(), busy = 0, culprit = 0, worst = 0;
    long units = 0;
    @{fn2}(0);
    released = began;
    while (now() - began < @{seconds}) {
        double start = now();
        @{fn2}(units);
        double laid = now();
        double hectares = spread(units) * 0.09;
        if (hectares > worst)
            worst = hectares;
        double burnt = now();
        if (burnt - released >= @{hold})
            @{fn}();
        double end = now();
        culprit += laid - start + end - burnt;
        busy += end - start;
        units++;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    fprintf(stderr, "worst: %.1f ha\n", worst);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
