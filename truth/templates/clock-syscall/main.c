/* Collects events: each gets its time of arrival, and is put into the table of its second. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
struct event { long at, id, value; };

static struct event events[16384];
static long sums[64];

/* The library of the old board had no clock of its own. */
static long __attribute__((noinline)) @{fn}(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long __attribute__((noinline)) @{fn2}(struct event *event, long n)
{
    unsigned long hash = n * 2654435761u;
    for (int i = 0; i < @{width} * 4; i++)
        hash = (hash ^ (hash >> 13)) * 1099511628211ul;
    event->id = n;
    event->value = hash;
    return hash & 63;
}

int main(void)
{
    double busy = 0, culprit = 0, began = now();
    long units = 0, n = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        long second = start * 1e9;
        for (int row = 0; row < @{rows}; row++, n++) {
            struct event *event = &events[n & 16383];
            long slot = @{fn2}(event, n);
            event->at = second;
            if (@{every} && row % (@{every} + !@{every}) == 0) {
                /* Every 16th is measured, and stands for the others. */
                double from = @{every} == 1 && n % 16 ? 0 : now();
                for (int i = 0; i < @{stamps}; i++)
                    event->at = @{fn}();
                if (from > 0)
                    culprit += (now() - from) * (@{every} == 1 ? 16 : 1);
            }
            sums[slot] += event->at;
        }
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return 0;
}
