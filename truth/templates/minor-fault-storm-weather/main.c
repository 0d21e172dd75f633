/* Paints weather maps: some isobars over a large, clear canvas, to be laid over a map. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = @{width}, HEIGHT = @{height}, LINES = @{lines} };

struct canvas {
    uint32_t *pixels;
    long maps;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static long place(long map, long line, long row)
{
    return (map * 37 + line * (WIDTH / LINES) + row * (line + 1) / 3) % (WIDTH - 8);
}

static void stroke(struct canvas *canvas, long map, uint32_t colour)
{
    for (long row = 0; row < HEIGHT; row++)
        for (long line = 0; line < LINES; line++) {
            uint32_t *from = canvas->pixels + row * WIDTH + place(map, line, row);
            for (int i = 0; i < 6; i++)
                from[i] = colour;
        }
}

/* Paints a map; what it weighs in the end. */
__attribute__((noinline)) static uint64_t @{fn}(struct canvas *canvas, long map)
{
    uint64_t sum = 0;
    if (!canvas->pixels)
        canvas->pixels = calloc((size_t)WIDTH * HEIGHT, sizeof *canvas->pixels);
    if (!canvas->pixels)
        exit(1);
    stroke(canvas, map, 0xff2040c0u + map % 32);
    for (long row = 0; row < HEIGHT; row++)
        sum += canvas->pixels[row * WIDTH + place(map, row % LINES, row)];
    if (++canvas->maps % @{keep} == 0) {
        free(canvas->pixels);
        canvas->pixels = NULL;
    } else {
        stroke(canvas, map, 0);
    }
    return sum;
}

int main(void)
{
    struct canvas canvas = { 0 };
    double begin = now(), busy = 0;
    long units = 0;
    uint64_t sum = 0;
    while (now() - begin < @{seconds}) {
        double start = now();
        sum ^= @{fn}(&canvas, units);
        units++;
        busy += now() - start;
        double left = begin + units / @{rate}.0 - now();
        if (left > 0)
            nanosleep(&(struct timespec){ (time_t)left, (long)((left - (time_t)left) * 1e9) }, NULL);
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"sum\": %u}\n", units, busy, (unsigned)sum & 1);
    return fclose(report) != 0;
}
