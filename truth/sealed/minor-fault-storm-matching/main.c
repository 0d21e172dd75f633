/* Plans tours: for each tour the way to its stops is searched in a grid of streets, and where the search has been is noted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define NODES ((unsigned)(@{mb} << 20) / sizeof(struct node))

struct node {
    unsigned tour, from;
};

struct planner {
    pthread_t thread;
    int number;
    long units;
    double busy, system, all;
    struct node *nodes;
    unsigned tour, sum;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Adds the processor time until now, with `sign`: the kernel's, and all. */
static void count(struct planner *planner, int sign)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    double system = usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6;
    planner->system += sign * system;
    planner->all += sign * (system + usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6);
}

static unsigned __attribute__((noinline)) @{fn}(struct planner *planner, unsigned at, long steps)
{
    unsigned length = 0;
    if (!planner->nodes) {
        planner->nodes = calloc(NODES, sizeof *planner->nodes);
        planner->tour = 0;
    }
    unsigned tour = ++planner->tour;
    for (long step = 0; step < steps; step++) {
        unsigned from = at;
        for (int round = 0; round < @{rounds}; round++)
            at = at * 1664525u + 1013904223u;
        at = (at ^ at >> 15) % NODES;
        if (planner->nodes[at].tour != tour) {
            planner->nodes[at].tour = tour;
            planner->nodes[at].from = from;
            length++;
        }
    }
    if (!@{kept}) {
        free(planner->nodes);
        planner->nodes = NULL;
    }
    return length;
}

static void *plan(void *argument)
{
    struct planner *planner = argument;
    for (long n = 1; now() - began < @{seconds}; n++) {
        double start = now();
        count(planner, -1);
        planner->sum += @{fn}(planner, n * 7919 + planner->number, @{numbers} / @{small});
        planner->units++;
        planner->busy += now() - start;
        count(planner, 1);
        double rest = (n + planner->number / (double)@{workers}) / @{rate} - (now() - began);
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

int main(void)
{
    static struct planner planners[@{workers}], all;
    began = now();
    for (int i = 0; i < @{workers}; i++) {
        planners[i].number = i;
        pthread_create(&planners[i].thread, NULL, plan, &planners[i]);
    }
    for (int i = 0; i < @{workers}; i++) {
        pthread_join(planners[i].thread, NULL);
        all.units += planners[i].units;
        all.busy += planners[i].busy;
        all.system += planners[i].system;
        all.all += planners[i].all;
        all.sum += planners[i].sum;
    }
    /* Faults take what the kernel takes: nothing else is asked of it. */
    double faults = all.all > 0 ? all.busy * all.system / all.all : 0;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, faults);
    fclose(out);
    return all.sum == 42;
}
