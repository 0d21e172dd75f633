#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void report(long units, double busy, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
}

struct access {
    int year, month, day, hour, minute, second, status;
    long bytes;
    float took;
    char client[32], verb[8], path[64];
};

static struct access *known;
static size_t count;

static int __attribute__((noinline)) @{fn}(const char *line, struct access *to)
{
    return sscanf(line, "%d-%d-%d %d:%d:%d %31s %7s %63s %d %ld %f", &to->year, &to->month, &to->day, &to->hour, &to->minute, &to->second,
                  to->client, to->verb, to->path, &to->status, &to->bytes, &to->took) == 12;
}

static long of_log(const char *path, int status, double *culprit)
{
    char line[512], block[1 << 16];
    struct access one;
    long sum = 0;
    FILE *log = fopen(path, "r");

    setvbuf(log, block, _IOFBF, sizeof block);
    double start = now();
    while (fgets(line, sizeof line, log))
        if (@{fn}(line, &one) && one.status == status)
            sum += one.bytes;
    *culprit += now() - start;
    fclose(log);
    return sum;
}

/* All that is in the log, as records. */
static void learn(const char *path)
{
    char line[512];
    FILE *log = fopen(path, "r");
    known = calloc(@{lines}, sizeof *known);
    while (count < @{lines} && fgets(line, sizeof line, log))
        count += @{fn}(line, &known[count]);
    fclose(log);
}

static long of_records(int status)
{
    long sum = 0;
    for (size_t i = 0; i < count; i++)
        if (known[i].status == status)
            sum += known[i].bytes;
    return sum;
}

int main(void)
{
    double culprit = 0, busy = 0, began;
    long units = 0, sum = 0;

    if (@{index})
        learn("@{log}");
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        sum += @{index} ? of_records(@{status}) : of_log("@{log}", @{status}, &culprit);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    report(units, busy, culprit);
    printf("%ld\n", sum);
}
