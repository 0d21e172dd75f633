/* Decodes the readings of meters by a number of threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double began, busy, culprit;
static long units, sum;

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned long __attribute__((noinline)) @{fn}(unsigned long reading)
{
    for (long i = 0; i < @{work_ms} * 750000L; i++)
        reading = reading * 6364136223846793005ul + 1442695040888963407ul;
    return reading;
}

static void *@{fn2}(void *argument)
{
    cpu_set_t set;
    long number = (long)argument;

    CPU_ZERO(&set);
    CPU_SET(@{cpu}, &set);
    if (@{pin})
        pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    for (long n = 0; now() - began < @{seconds}; n++) {
        double start = now(), before = used();
        unsigned long value = @{fn}(number + n);
        double took = now() - start, waited = took - (used() - before);
        pthread_mutex_lock(&lock);
        units++;
        sum += value & 1;
        busy += took;
        culprit += waited > 0 ? waited : 0;
        pthread_mutex_unlock(&lock);
        wait_until(began + (n + 1 + number / (double)@{workers}) * @{work_ms} / 1000.0 * @{workers} / @{load});
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[@{workers}];

    began = now();
    for (long i = 0; i < @{workers}; i++)
        pthread_create(&threads[i], NULL, @{fn2}, (void *)i);
    for (int i = 0; i < @{workers}; i++)
        pthread_join(threads[i], NULL);
    write_report(units, busy, culprit);
    return sum == -1;
}
