#include <stdio.h>
#include <string.h>
#include <time.h>

struct row { time_t at; unsigned amount; };

static struct row rows[@{rows}];
static unsigned long per_hour[24];
static double culprit;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void pause_until(double due)
{
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

/* The local time of a row; those of one span share the date and the hour. */
static int __attribute__((noinline)) @{fn}(time_t at)
{
    static struct tm broken;
    static time_t from = -1;
    if (from < 0 || at < from || at >= from + @{span}) {
        broken = *@{convert};
        from = at;
    }
    return broken.tm_hour;
}

static unsigned @{fn2}(unsigned value)
{
    for (int i = 0; i < @{extra}; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

int main(void)
{
    double began = now(), busy = 0;
    long units = 0;
    time_t first = 1709300000 + @{day} * 86400L;
    unsigned sum = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        for (int i = 0; i < @{rows}; i++) {
            rows[i].at = first + i * @{step};
            rows[i].amount = i * 7 + units;
        }
        for (int i = 0; i < @{rows}; i++) {
            double asked = now();
            int hour = @{fn}(rows[i].at);
            culprit += now() - asked;
            per_hour[hour] += rows[i].amount;
            sum += @{fn2}(rows[i].amount);
        }
        units++;
        busy += now() - start;
        pause_until(began + units / (double)@{rate});
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"sum\": %u}", units, busy, culprit, sum % 10);
    fclose(out);
    return 0;
}
