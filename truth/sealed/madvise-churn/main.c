/* A pool of memory for requests: what a request takes is free again when it ends. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_until(double due)
{
    for (double rest = due - now(); rest > 0; rest = due - now()) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void write_report(long units, double seconds, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit);
    fclose(out);
}
struct pool { char *base; size_t size, used; };

static void *take(struct pool *pool, size_t size)
{
    size = (size + 15) & ~15ul;
    if (pool->used + size > pool->size)
        return NULL;
    pool->used += size;
    return pool->base + pool->used - size;
}

static void __attribute__((noinline)) @{fn}(struct pool *pool, int back)
{
    if (back)
        madvise(pool->base, pool->size, MADV_DONTNEED);
    pool->used = 0;
}

static long __attribute__((noinline)) @{fn2}(struct pool *pool, long n)
{
    long rows = 0;
    char *row;
    while ((row = take(pool, 1200)) != NULL) {
        *(long *)row = n + rows;
        *(long *)(row + 600) = rows;
        rows++;
    }
    return rows;
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main(void)
{
    struct pool pool = { NULL, @{kb} * 1024L, 0 };
    double busy = 0, culprit = 0, began = now();
    long units = 0, rows = 0;

    pool.base = mmap(NULL, pool.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (now() - began < @{seconds}) {
        double start = now();
        rows += @{fn2}(&pool, units);
        units++;
        @{fn}(&pool, @{back} && units % (@{back} + !@{back}) == 0);
        culprit += now() - start;
        rows += sign(units, @{kb} * (long)@{spins}) & 1;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return rows == 42;
}
