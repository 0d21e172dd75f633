/* An index and its journal: a writer adds, a compactor shortens. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER, journal_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long units, entries;
static volatile double weight;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double ms)
{
    struct timespec t = { (time_t)(ms / 1000), (long)((ms / 1000 - (time_t)(ms / 1000)) * 1e9) };
    nanosleep(&t, NULL);
}

static void __attribute__((noinline)) @{fn}(void)
{
    pthread_mutex_lock(&index_lock);
    nap(@{nap});
    pthread_mutex_lock(&journal_lock);
    entries++;
    pthread_mutex_unlock(&journal_lock);
    pthread_mutex_unlock(&index_lock);
    units++;
}

static void __attribute__((noinline)) @{fn2}(void)
{
    pthread_mutex_t *first = @{order} ? &index_lock : &journal_lock, *second = @{order} ? &journal_lock : &index_lock;
    pthread_mutex_lock(first);
    nap(@{nap});
    pthread_mutex_lock(second);
    double start = now();
    while (now() - start < @{inside} / 1000.0)
        weight += sqrt(entries);
    entries /= 2;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    units++;
}

static void *writer(void *unused)
{
    pthread_setname_np(pthread_self(), "writer");
    for (;;) {
        @{fn}();
        nap(@{gap} * 3);
    }
    return unused;
}

static void *compactor(void *unused)
{
    pthread_setname_np(pthread_self(), "compactor");
    for (;;) {
        @{fn2}();
        nap(@{gap} * 4);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    double began = now();
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, compactor, NULL);
    nap(@{seconds} * 1000.0);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, now() - began);
    fclose(out);
    _exit(0);
}
