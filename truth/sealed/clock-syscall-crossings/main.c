/* Looks at the photographs of crossings, a batch at a time, and charges the processor time to the bridge that it was taken for. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CROSSINGS = @{crossings}, BRIDGES = @{bridges} };

static unsigned long charged[BRIDGES], plates;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned long __attribute__((noinline)) @{fn}(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static void plate(unsigned long number)
{
    char text[16] = "";
    unsigned long mark = number * 2654435761u;
    for (int i = 0; i < 8; i++) {
        text[i] = 'A' + mark % 26;
        mark = mark / 26 + number;
    }
    plates += strlen(text) + (text[3] == text[5]);
}

static void batch(unsigned long number)
{
    for (int first = 0; first < CROSSINGS; first += @{together}) {
        unsigned long before = @{fn}();
        for (int i = first; i < first + @{together} && i < CROSSINGS; i++)
            plate(number * CROSSINGS + i);
        charged[(number + first) % BRIDGES] += @{fn}() - before;
    }
}

int main(void)
{
    double began = now(), busy = 0;
    unsigned long batches = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        batch(batches++);
        double took = now() - start, rest = 1 / @{per_s} - took;
        busy += took;
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    unsigned long all = 0;
    for (int bridge = 0; bridge < BRIDGES; bridge++)
        all += charged[bridge];
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %lu, \"seconds\": %f, \"charged\": %lu, \"plates\": %lu}\n", batches, busy, all / 1000, plates);
    return fclose(report) != 0;
}
