#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned long __attribute__((noinline)) @{fn}(unsigned long record)
{
    for (long i = 0; i < @{used} * 1000L; i++)
        record = record * 6364136223846793005ul + 1442695040888963407ul;
    return record;
}

int main(void)
{
    double began = now(), busy = 0, culprit = 0;
    long units = 0;
    unsigned long sum = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        sum += @{fn}(units);
        culprit += now() - start;
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    return sum == 42;
}
