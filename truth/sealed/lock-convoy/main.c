/* Counts the words of files: the lock inherits priorities, as the control part needs it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct reader {
    pthread_t thread;
    int number;
    long units;
    double busy, waited;
};

static pthread_mutex_t @{lock};
static pthread_barrier_t evening;
static unsigned long counts[64];
static double began;
static int over;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(struct reader *reader, const unsigned *found)
{
    double start = now();
    pthread_mutex_lock(&@{lock});
    reader->waited += now() - start;
    for (int i = 0; i < 64; i++)
        counts[i] += found[i];
    pthread_mutex_unlock(&@{lock});
}

static void *run(void *argument)
{
    struct reader *reader = argument;
    unsigned found[64];
    while (!over) {
        double start = now();
        for (int row = 0; row < @{rows}; row += @{batch}) {
            memset(found, 0, sizeof found);
            double parse = now();
            do
                for (int i = 0; i < 16; i++)
                    found[(row * 7 + i * i) % 64]++;
            while (now() - parse < @{effort} * 1e-6 * @{batch});
            @{fn}(reader, found);
        }
        reader->units++;
        reader->busy += now() - start;
        double rest = reader->units / @{pace} + reader->number * 0.01 - (now() - began);
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
        if (@{meet} && pthread_barrier_wait(&evening) == PTHREAD_BARRIER_SERIAL_THREAD)
            over = now() - began > @{seconds};
        if (@{meet})
            pthread_barrier_wait(&evening);
        else if (now() - began > @{seconds})
            break;
    }
    return NULL;
}

int main(void)
{
    static struct reader readers[@{threads}], all;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&@{lock}, &kind);
    pthread_barrier_init(&evening, NULL, @{threads});
    began = now();
    for (int i = 0; i < @{threads}; i++) {
        readers[i].number = i;
        pthread_create(&readers[i].thread, NULL, run, &readers[i]);
    }
    for (int i = 0; i < @{threads}; i++) {
        pthread_join(readers[i].thread, NULL);
        all.units += readers[i].units;
        all.busy += readers[i].busy;
        all.waited += readers[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
