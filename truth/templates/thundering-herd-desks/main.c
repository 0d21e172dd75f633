// Checks the barcodes of a sorting hall: desks (processes) that take the next scan from a pipe.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct scan {
    double came;
    char code[24];
};

struct tally {
    long units;
    double spent;
};

static struct tally *tallies;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

// The time of the processors that this desk has taken.
static double used(void)
{
    struct rusage all;
    getrusage(RUSAGE_SELF, &all);
    return all.ru_utime.tv_sec + all.ru_stime.tv_sec + (all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e6;
}

// 1: a scan; 0: none for this desk; -1: the hall closes.
static int __attribute__((noinline)) @{fn}(int jobs, struct scan *next)
{
    if (@{polled}) {
        struct pollfd door = { jobs, POLLIN, 0 };
        if (poll(&door, 1, -1) < 0)
            return 0;
    }
    ssize_t got = read(jobs, next, sizeof *next);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return got == sizeof *next ? 1 : -1;
}

static int right(const char *code)
{
    int sum = 0;
    for (const char *c = code; *c; c++)
        sum = sum * 3 + (*c - '0');
    return sum % 10 == 0;
}

static void check(struct scan *scan, struct tally *tally)
{
    double start = now();
    int repaired = 0;
    // Of a code that cannot be right, the nearest that can.
    while (now() - start < @{effort} / 1000) {
        scan->code[repaired % strlen(scan->code)] = '0' + repaired % 10;
        repaired += 1 + right(scan->code);
    }
    tally->units++;
}

static void desk(int number)
{
    struct scan scan;
    int jobs = open("@{work}/@{jobs}", O_RDONLY | (@{polled} ? O_NONBLOCK : 0));
    double before = used();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int got; (got = @{fn}(jobs, &scan)) >= 0;)
        if (got)
            check(&scan, &tallies[number]);
    tallies[number].spent = used() - before;
    exit(0);
}

int main(void)
{
    long number = 0;
    tallies = mmap(NULL, @{crew} * sizeof *tallies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mkfifo("@{work}/@{jobs}", 0600);
    // Read as well, so that to open it waits for nobody.
    int both = open("@{work}/@{jobs}", O_RDWR), jobs = open("@{work}/@{jobs}", O_WRONLY);
    for (int i = 0; i < @{crew}; i++)
        if (fork() == 0) {
            close(both);
            close(jobs);
            desk(i);
        }
    usleep(100000);
    double began = now(), due = began;
    while (now() - began < @{seconds}) {
        struct scan scans[@{at_once}];
        due += 1 / (double)@{rate};
        while (due > now())
            usleep((due - now()) * 1e6);
        for (int i = 0; i < @{at_once}; i++) {
            scans[i].came = now();
            snprintf(scans[i].code, sizeof scans[i].code, "%013ld", ++number * 7919 % 10000000000000);
        }
        if (write(jobs, scans, sizeof scans) < 0)
            return 1;
    }
    close(both);
    close(jobs);
    while (wait(NULL) > 0)
        ;
    struct tally all = { 0 };
    for (int i = 0; i < @{crew}; i++) {
        all.units += tallies[i].units;
        all.spent += tallies[i].spent;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", all.units, all.spent);
    fclose(out);
    return 0;
}
