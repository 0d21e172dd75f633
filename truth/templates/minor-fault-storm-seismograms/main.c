/* Stacks the traces of shots: the plane of a shot, its noise taken off, and the sums of its bands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELLS (@{kb} * 1024L / sizeof(float))

static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

struct shot {
    long number;
    float *plane;
    float samples[@{samples}];
};

/* Each 128th cell is a knot of the grid and gets the level of the ground. */
static void __attribute__((noinline)) @{fn}(struct shot *shot, float level)
{
    for (size_t cell = 0; cell < CELLS; cell += 128)
        shot->plane[cell] = level + (cell & 1024 ? 0.5f : 0.25f);
}

static void open_shot(struct shot *shot, long number)
{
    double from = now();
    if (!shot->plane)
        shot->plane = malloc(CELLS * sizeof(float));
    if (!shot->plane)
        abort();
    shot->number = number;
    @{fn}(shot, number % 17 / 16.0f);
    spent += now() - from;
}

static void close_shot(struct shot *shot)
{
    if (@{keep})
        return;
    double from = now();
    free(shot->plane);
    shot->plane = NULL;
    spent += now() - from;
}

static float __attribute__((noinline)) @{fn2}(struct shot *shot, int trace)
{
    float loudest = 0;
    size_t at = (shot->number * 7919 + trace * 104729L) % (CELLS / 256) * 128;
    for (int i = 0; i < @{samples}; i++)
        shot->samples[i] = sinf((i + trace) * 0.21f) * 20 + cosf(i * 0.017f * shot->number);
    for (int i = 0; i < @{samples} && i * 128 + at < CELLS; i++) {
        float *cell = &shot->plane[at + i / 8 * 128];
        *cell += shot->samples[i];
        if (*cell > loudest)
            loudest = *cell;
    }
    return loudest;
}

int main(void)
{
    static struct shot shot;
    double busy = 0, sum = 0, began = now();
    long units = 0;
    if (@{keep}) {
        open_shot(&shot, 0);
        spent = 0;
    }
    while (now() - began < @{seconds}) {
        double start = now();
        open_shot(&shot, units);
        for (int trace = 0; trace < @{traces}; trace++)
            sum += @{fn2}(&shot, trace);
        close_shot(&shot);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    printf("%ld shots, %f\n", units, sum);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(out);
    return 0;
}
