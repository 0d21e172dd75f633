/* Renders pages: the renderer is found among the packages, as its version is not ours to know. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

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
static int __attribute__((noinline)) @{fn}(char *page, double *spent)
{
    char *arguments[] = { "@{tool}", page, NULL };
    pid_t child;
    int status;
    double start = now();

    if (posix_spawnp(&child, "@{program}", NULL, NULL, arguments, environ))
        return -1;
    *spent += now() - start;
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    static char path[300000], line[4096], page[64];
    FILE *conf = fopen("@{work}/search.conf", "r");
    char *end = path;
    double busy = 0, culprit = 0, began = now();
    long units = 0;

    while (fgets(line, sizeof line, conf) && end < path + sizeof path - 4096) {
        line[strcspn(line, "\n")] = 0;
        end += sprintf(end, "%s%s", end > path ? ":" : "", line);
    }
    fclose(conf);
    setenv("PATH", path, 1);
    while (now() - began < @{seconds}) {
        double start = now();
        snprintf(page, sizeof page, "page-%ld", units);
        if (@{fn}(page, &culprit))
            return 1;
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return 0;
}
