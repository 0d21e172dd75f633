/* Checks tickets at a gate: the number's signature is compared with those of the day's tables. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { TABLES = @{tables} };

static uint32_t tables[TABLES];

static double at(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint32_t mixed(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* How many tables know the ticket: the rounds of the signature take @{check} milliseconds of a core. */
__attribute__((noinline)) static int @{fn}(uint32_t ticket, double until)
{
    int known = 0;
    uint32_t signature = ticket;
    do {
        for (int i = 0; i < 100 * TABLES; i++) {
            signature = mixed(signature + tables[i % TABLES]);
            known += signature % 9973 == 0;
        }
    } while (at(CLOCK_THREAD_CPUTIME_ID) < until);
    return known;
}

int main(void)
{
    double begin = at(CLOCK_MONOTONIC), busy = 0, cpu = 0, used;
    long units = 0, known = 0;
    for (int i = 0; i < TABLES; i++)
        tables[i] = mixed((uint32_t)i + 1);
    while (at(CLOCK_MONOTONIC) - begin < @{seconds}) {
        double start = at(CLOCK_MONOTONIC);
        used = at(CLOCK_THREAD_CPUTIME_ID);
        known += @{fn}((uint32_t)units * 7919, used + @{check} / 1000.0);
        units++;
        busy += at(CLOCK_MONOTONIC) - start;
        cpu += at(CLOCK_THREAD_CPUTIME_ID) - used;
        double left = begin + units / @{rate}.0 - at(CLOCK_MONOTONIC);
        if (left > 0)
            nanosleep(&(struct timespec){ (time_t)left, (long)((left - (time_t)left) * 1e9) }, NULL);
    }
    printf("%ld known\n", known);
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}\n", units, busy, busy - cpu);
    return fclose(report) != 0;
}
