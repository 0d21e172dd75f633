/* Answers queries from a store with a cache of its own: workers fetch the pages that a query needs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE @{page}
#define PAGES (@{megabytes} * 1048576L / PAGE)
#define MOST (1 << 20)

static const char layout[] = "@{layout}";
static int store;

struct worker {
    pthread_t thread;
    unsigned long seed, sum;
    long units;
    double busy, culprit;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned long pick(struct worker *w, unsigned long below)
{
    w->seed = w->seed * 6364136223846793005ul + 1442695040888963407ul;
    return (w->seed >> 33) % below;
}

/* A range of the store, in large blocks. */
static void range(struct worker *w, char *buffer, off_t at, long bytes)
{
    while (bytes > 0) {
        long want = bytes < MOST ? bytes : MOST;
        if (pread(store, buffer, want, at) <= 0)
            return;
        w->sum += buffer[0];
        at += want;
        bytes -= want;
    }
}

static void __attribute__((noinline)) @{fn}(struct worker *w, char *buffer)
{
    for (int i = 0; i < @{batch}; i++)
        if (pread(store, buffer, PAGE, pick(w, PAGES) * (off_t)PAGE) == PAGE)
            w->sum += buffer[i % PAGE];
}

static void *work(void *argument)
{
    struct worker *w = argument;
    double began = now(), rate = @{load} * 12000.0 * 4096 / PAGE / @{batch} / @{workers};
    off_t next = 0;
    void *buffer;
    if (posix_memalign(&buffer, 4096, MOST))
        return NULL;
    while (now() - began < @{seconds}) {
        double start = now();
        if (strcmp(layout, "scattered") == 0) {
            @{fn}(w, buffer);
        } else if (strcmp(layout, "clustered") == 0) {
            long bytes = (@{batch} / 8 + 1) * (long)PAGE;
            range(w, buffer, pick(w, PAGES - @{batch}) * (off_t)PAGE, bytes);
        } else {
            range(w, buffer, next, 131072);
            next = (next + 131072) % (PAGES / 2 * PAGE - MOST) / 4096 * 4096;
        }
        w->culprit += now() - start;
        w->units++;
        w->busy += now() - start;
        double rest = began + w->units / rate - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    free(buffer);
    return NULL;
}

int main(void)
{
    struct worker workers[@{workers}];
    long units = 0;
    double busy = 0, culprit = 0;
    if ((store = open("@{work}/@{store}", O_RDONLY | O_DIRECT)) < 0)
        return 1;
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < @{workers}; i++) {
        workers[i].seed = i * 77 + 1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < @{workers}; i++) {
        pthread_join(workers[i].thread, NULL);
        units += workers[i].units;
        busy += workers[i].busy;
        culprit += workers[i].culprit;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
