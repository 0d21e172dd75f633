#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
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

#define MOST 4096

static DIR *held[MOST];
static int holding, failed;

/* The number of parts that wait in the folder; 0 if it cannot be said. */
static int __attribute__((noinline)) @{fn}(const char *folder)
{
    struct dirent *entry;
    int count = 0;
    DIR *dir = opendir(folder);

    if (!dir) {
        failed++;
        return 0;
    }
    while ((entry = readdir(dir)))
        count += strncmp(entry->d_name, "part-", 5) == 0;
    held[holding++] = dir;
    if (@{closes} && holding > @{cap}) {
        closedir(held[0]);
        memmove(held, held + 1, --holding * sizeof *held);
    }
    return count;
}

int main(void)
{
    struct rlimit most = { @{limit}, @{limit} };
    double busy = 0, began = now();
    long units = 0, sum = 0;

    setrlimit(RLIMIT_NOFILE, &most);
    while (now() - began < @{seconds}) {
        double start = now();
        sum += @{fn}("@{work}/@{folder}");
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    while (holding)
        closedir(held[--holding]);
    report(units, busy, 0);
    printf("%ld, %d failed\n", sum, failed);
}
