/* Composes mosaics from a shelf of tiles: a sheet for each part, which goes away when the part is in the picture. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t shelf_size = @{tiles} * 1000000UL, sheet_size = @{sheet} * 1024UL;
static unsigned char *shelf;
static double waiting;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned char *map(size_t size)
{
    unsigned char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

static void stock(void)
{
    shelf = map(shelf_size);
    uint32_t colour = 7;
    for (size_t i = 0; i < shelf_size; i += 4096) {
        colour = colour * 1664525 + 1013904223;
        memcpy(shelf + i, &colour, sizeof colour);
    }
}

static unsigned __attribute__((noinline)) @{fn}(unsigned long picture, int part)
{
    double start = now();
    unsigned char *sheet = map(sheet_size);
    waiting += now() - start;
    unsigned sum = 0;
    for (size_t at = 0; at + 4096 <= sheet_size; at += 4096) {
        size_t tile = (picture * 7919 + part * 104729 + at) * 64 % (shelf_size - 4096) / 4096 * 4096;
        memcpy(sheet + at, shelf + tile, 512);
        sum = sum * 31 + sheet[at + 2];
    }
    start = now();
    munmap(sheet, sheet_size);
    waiting += now() - start;
    return sum;
}

int main(void)
{
    stock();
    FILE *pid = fopen("@{work}/composer.pid.new", "w");
    if (!pid)
        return 1;
    fprintf(pid, "%d\n", getpid());
    fclose(pid);
    rename("@{work}/composer.pid.new", "@{work}/composer.pid");
    double began = now(), busy = 0;
    unsigned long units = 0;
    unsigned sum = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        for (int part = 0; part < @{parts}; part++)
            sum ^= @{fn}(units, part);
        units++;
        busy += now() - start;
        double rest = 1.0 / @{rate} - (now() - start);
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %lu, \"seconds\": %f, \"culprit\": %f, \"sum\": %u}\n", units, busy, waiting, sum);
    return fclose(report) != 0;
}
