/* Cuts stencils: draws each shape of a sheet on a canvas, follows its edge, and writes the way of the knife. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t canvas_size = @{canvas} * 1024UL, drawn = @{drawn} * 4096UL;
static double mapping;
static unsigned char *canvas;
static unsigned long served;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* A clean canvas; the first pages are what a shape needs mostly. */
static unsigned char *__attribute__((noinline)) @{fn}(void)
{
    double start = now();
    if (canvas && served % @{keep} == 0) {
        munmap(canvas, canvas_size);
        canvas = NULL;
    }
    if (!canvas) {
        canvas = mmap(NULL, canvas_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (canvas == MAP_FAILED) {
            perror("canvas");
            exit(1);
        }
    }
    for (size_t at = 0; at < drawn; at += 4096)
        canvas[at] = 0;
    served++;
    mapping += now() - start;
    return canvas;
}

static unsigned cut(unsigned long sheet, int shape)
{
    unsigned char *on = @{fn}();
    unsigned way = 0;
    for (size_t line = 0; line + 256 <= drawn; line += 256) {
        size_t from = (sheet * 31 + shape * 17 + line) % 200, width = 20 + shape % 30;
        memset(on + line, 0, 256);
        memset(on + line + from, 1, from + width < 256 ? width : 256 - from);
        way = way * 33 + on[line + 40] + from;
    }
    return way;
}

int main(void)
{
    double began = now(), busy = 0;
    unsigned long sheets = 0;
    unsigned way = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        for (int shape = 0; shape < @{shapes}; shape++)
            way ^= cut(sheets, shape);
        sheets++;
        double took = now() - start, rest = 1 / @{per_s} - took;
        busy += took;
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %lu, \"seconds\": %f, \"culprit\": %f, \"way\": %u}\n", sheets, busy, mapping, way);
    return fclose(report) != 0;
}
