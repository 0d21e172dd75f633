/* Prints tide tables: for each hour the height of the water, with the day's date where a day begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOURS = @{hours} };

static struct tm local[HOURS];
static char page[HOURS * 40];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(time_t first)
{
    for (int i = 0; i < HOURS; i++) {
        time_t at = first + i * 3600L;
        if (i % @{every} == 0) {
            local[i] = *localtime(&at);
            continue;
        }
        local[i] = local[i - 1];
        if (++local[i].tm_hour == 24) {
            local[i].tm_hour = 0;
            local[i].tm_mday = local[i].tm_mday % 28 + 1;
        }
    }
}

/* Two waves, of the moon and of the sun, in centimetres. */
static int height(unsigned long hour, unsigned port)
{
    int moon = (int)((hour * 100 + port * 37) % 1242) - 621, sun = (int)((hour + port) % 12) - 6;
    return 320 - abs(moon) / 3 + sun * 4;
}

static size_t print(unsigned long table)
{
    char *at = page;
    for (int i = 0; i < HOURS; i++) {
        if (local[i].tm_hour == 0)
            at += sprintf(at, "%d.%d.\n", local[i].tm_mday, local[i].tm_mon + 1);
        int cm = height(table * 24 + i, table % 60);
        *at++ = '0' + local[i].tm_hour / 10;
        *at++ = '0' + local[i].tm_hour % 10;
        *at++ = ' ';
        *at++ = '0' + cm / 100 % 10;
        *at++ = '0' + cm / 10 % 10;
        *at++ = '0' + cm % 10;
        *at++ = '\n';
    }
    return at - page;
}

int main(void)
{
    if (strlen("@{zone}"))
        setenv("TZ", "@{zone}", 1);
    double began = now(), busy = 0, times = 0;
    unsigned long tables = 0, bytes = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        @{fn}(1780000000 + tables % 365 * 86400);
        times += now() - start;
        bytes += print(tables++);
        double took = now() - start, rest = 1 / @{per_s} - took;
        busy += took;
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %lu, \"seconds\": %f, \"culprit\": %f, \"bytes\": %lu}\n", tables, busy, times, bytes);
    return fclose(report) != 0;
}
