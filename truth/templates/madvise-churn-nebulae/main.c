#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Stacks exposures: each plane is one filter, 16 bits a pixel. */
enum { WIDE = @{wide}, PLANES = @{planes}, STARS = @{stars} };

struct plane {
    uint16_t *at;
    double used;
    int held;
};

static struct plane planes[PLANES];
static const size_t size = (size_t)WIDE * WIDE * sizeof(uint16_t);
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double s)
{
    if (s > 0)
        nanosleep(&(struct timespec){ (time_t)s, (long)((s - (time_t)s) * 1e9) }, NULL);
}

static void __attribute__((noinline)) @{fn}(struct plane *p)
{
    madvise(p->at, size, MADV_DONTNEED);
    p->held = 0;
}

/* The sky behind the stars, before they are drawn. */
static void __attribute__((noinline)) @{fn2}(struct plane *p, int level)
{
    memset(p->at, level, size);
    p->held = 1;
    p->used = now();
}

static void tidy(double idle)
{
    for (int i = 0; i < PLANES; i++)
        if (planes[i].held && now() - planes[i].used >= idle)
            @{fn}(&planes[i]);
}

static unsigned long expose(long number)
{
    unsigned long light = 0, chance = number * 2654435761ul + 1;
    double start = now();
    for (int i = 0; i < PLANES; i++)
        @{fn2}(&planes[i], number % 7);
    spent += now() - start;
    for (int s = 0; s < STARS; s++) {
        chance = chance * 6364136223846793005ul + 1442695040888963407ul;
        long x = 4 + (chance >> 33) % (WIDE - 8), y = 4 + (chance >> 13) % (WIDE - 8);
        for (int i = 0; i < PLANES; i++)
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++)
                    light += planes[i].at[(y + dy) * WIDE + x + dx] += 900 / (1 + dx * dx + dy * dy);
    }
    return light;
}

int main(void)
{
    for (int i = 0; i < PLANES; i++)
        planes[i].at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double began = now(), busy = 0, due = began, clouds = began + 1;
    unsigned long light = 0;
    long units = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        light += expose(units++);
        double before = now();
        if (@{idle} == 0)
            tidy(0);
        spent += now() - before;
        busy += now() - start;
        due += 1.0 / @{rate};
        if (@{rest} > 0 && now() > clouds) {
            nap(@{rest} / 2.0);
            tidy(@{idle});
            nap(@{rest} / 2.0);
            due = now();
            clouds = due + 1;
        }
        nap(due - now());
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"light\": %lu}", units, busy, spent, light);
    fclose(out);
    return 0;
}
