#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Renders invoices and puts them into the spool of the printer. */
#define SPOOL (60L << 20)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static char *render(long number, size_t size)
{
    char line[64], *page = malloc(size);
    int length = snprintf(line, sizeof line, "invoice %ld: so much for so many of these things\n", number);
    for (int round = 0; round < @{rounds}; round++)
        for (size_t at = 0; at + length < size; at += length)
            memcpy(page + at, line, length);
    return page;
}

static void __attribute__((noinline)) @{fn}(int spool, long number, const char *page, size_t size)
{
    off_t place = number * (long)size % SPOOL;
    for (size_t done = 0; done < size;) {
        ssize_t more = pwrite(spool, page + done, size - done < 65536 ? size - done : 65536, place + done);
        if (more < 0) {
            perror("@{spool}");
            exit(1);
        }
        done += more;
    }
}

int main(void)
{
    FILE *group = fopen("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w");
    fprintf(group, "%d", getpid());
    fclose(group);

    int spool = open("@{work}/@{spool}", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    double end = now() + @{seconds}, due = now(), busy = 0, putting = 0;
    size_t size = @{kb} * 1000;
    long units = 0;
    while (now() < end) {
        double start = now();
        char *page = render(units, size);
        double before = now();
        @{fn}(spool, units, page, size);
        putting += now() - before;
        free(page);
        busy += now() - start;
        units++;
        due += 1.0 / @{per_s};
        if (due > now())
            usleep((due - now()) * 1e6);
        else
            due = now();
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, putting);
    fclose(out);
    return 0;
}
