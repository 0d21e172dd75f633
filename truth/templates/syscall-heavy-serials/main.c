// Bills the readings of water meters, by the zone in which each is.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct entry { uint32_t serial, zone; };

#define METERS @{meters}L
#define READINGS (@{asked} * @{days})

static int table;
static struct entry *held;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void hold(void)
{
    held = malloc(METERS * sizeof *held);
    for (long at = 0; at < METERS;) {
        ssize_t got = pread(table, held + at, (METERS - at) * sizeof *held, at * sizeof *held);
        if (got <= 0)
            exit(1);
        at += got / sizeof *held;
    }
}

static int __attribute__((noinline)) @{fn}(uint32_t serial)
{
    long low = 0, high = METERS - 1;
    while (low <= high) {
        long middle = (low + high) / 2;
        struct entry entry;
        if (held)
            entry = held[middle];
        else if (pread(table, &entry, sizeof entry, middle * sizeof entry) != sizeof entry)
            return -1;
        if (entry.serial == serial)
            return entry.zone;
        if (entry.serial < serial)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static double price(int zone, int days, uint32_t *flow)
{
    double sum = 0;
    for (int day = 0; day < days; day++) {
        *flow = *flow * 1664525 + 1013904223;
        double litres = (*flow >> 16) % 900;
        sum += litres * (0.002 + zone * 0.0001) + (litres > 600 ? (litres - 600) * 0.001 : 0);
    }
    return sum;
}

int main(void)
{
    table = open("@{work}/@{zones}", O_RDONLY);
    if (table < 0)
        return 1;
    if (@{held})
        hold();
    double began = now(), busy = 0, culprit = 0, billed = 0;
    uint32_t flow = 1;
    long units = 0, unknown = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        int zones[@{each}];
        for (int i = 0; i < @{each}; i++) {
            flow = flow * 1664525 + 1013904223;
            zones[i] = @{fn}((flow >> 4) % METERS * 17 + 5);
        }
        culprit += now() - start;
        for (int i = 0; i < @{each}; i++) {
            if (zones[i] < 0)
                unknown++;
            else
                billed += price(zones[i], READINGS / @{each}, &flow);
        }
        busy += now() - start;
        units++;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    fprintf(stderr, "billed %.2f, unknown %ld\n", billed, unknown);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
