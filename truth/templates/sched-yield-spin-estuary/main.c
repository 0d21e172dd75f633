/* The water of an estuary, step by step: each thread has a strip of the grid, and all meet after each sweep. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = @{threads}, CELLS = @{cells}, SWEEPS = @{sweeps}, LOOKS = @{looks} };

struct meeting {
    atomic_int there, round;
    pthread_mutex_t lock;
    pthread_cond_t on;
};

static struct meeting start = { .lock = PTHREAD_MUTEX_INITIALIZER, .on = PTHREAD_COND_INITIALIZER };
static struct meeting swept = { .lock = PTHREAD_MUTEX_INITIALIZER, .on = PTHREAD_COND_INITIALIZER };
static float water[2][CELLS + 2];
static double waited[THREADS];
static atomic_int is_over;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void @{fn}(struct meeting *meeting)
{
    int round = atomic_load(&meeting->round);
    if (atomic_fetch_add(&meeting->there, 1) + 1 == THREADS) {
        atomic_store(&meeting->there, 0);
        pthread_mutex_lock(&meeting->lock);
        atomic_fetch_add(&meeting->round, 1);
        pthread_cond_broadcast(&meeting->on);
        pthread_mutex_unlock(&meeting->lock);
        return;
    }
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load(&meeting->round) != round)
            return;
        sched_yield();
    }
    pthread_mutex_lock(&meeting->lock);
    while (atomic_load(&meeting->round) == round)
        pthread_cond_wait(&meeting->on, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

/* Most cells are in the two arms of the river's mouth, which the first two have. */
static int border(int thread)
{
    int arms = CELLS * @{share};
    return 1 + (thread < 2 ? arms / 2 * thread : arms + (long)(CELLS - arms) * (thread - 2) / (THREADS - 2));
}

static void sweep(const float *from, float *to, int first, int last)
{
    for (int pass = 0; pass < 40; pass++)
        for (int i = first; i < last; i++)
            to[i] = from[i] + 0.2f * (from[i - 1] - 2 * from[i] + from[i + 1]) - 0.001f * to[i] * to[i];
}

static void step(int thread)
{
    for (int i = 0; i < SWEEPS; i++) {
        sweep(water[i & 1], water[~i & 1], border(thread), thread + 1 < THREADS ? border(thread + 1) : CELLS + 1);
        double before = now();
        @{fn}(&swept);
        waited[thread] += now() - before;
    }
}

static void *work(void *given)
{
    int thread = (int)(long)given;
    char name[16];
    snprintf(name, sizeof name, "@{thread}-%d", thread);
    pthread_setname_np(pthread_self(), name);
    for (;;) {
        @{fn}(&start);
        if (is_over)
            return NULL;
        step(thread);
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    long units = 0;
    double busy = 0, began = now(), rest, spent = 0;
    for (int i = 1; i < CELLS; i++)
        water[0][i] = water[1][i] = i * 37 % 100 / 100.0f;
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    while (now() - began < @{seconds}) {
        double from = now();
        @{fn}(&start);
        step(0);
        busy += now() - from;
        units++;
        if ((rest = began + units / (double)@{rate} - now()) > 0) {
            struct timespec t = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&t, NULL);
        }
    }
    is_over = 1;
    @{fn}(&start);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        spent += waited[i] / THREADS;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"level\": %f}", units, busy, spent, water[0][CELLS / 2]);
    fclose(out);
    return 0;
}
