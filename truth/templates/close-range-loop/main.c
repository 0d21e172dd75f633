/* Runs the hook of each event, with nothing inherited but the three streams. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
static double *spent;

static int __attribute__((noinline)) @{fn}(const char *program, const char *argument)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        return -1;
    if (child == 0) {
        double start = now();
        if (@{top} == 0)
            close_range(3, ~0U, 0);
        else
            for (int fd = 3; fd < @{top}; fd++)
                close(fd);
        *spent += now() - start;
        execl(program, program, argument, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status;
}

int main(void)
{
    char argument[32];
    double busy = 0, began = now();
    long units = 0;

    spent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (now() - began < @{seconds}) {
        double start = now();
        snprintf(argument, sizeof argument, "event-%ld", units);
        if (@{fn}("@{work}/bin/@{tool}", argument))
            return 1;
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, *spent);
    return 0;
}
