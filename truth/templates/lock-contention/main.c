/* Charges parcels: workers ask a tariff that is kept behind a reader-writer lock, and note its use. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct worker {
    pthread_t thread;
    int number;
    long units;
    double busy, waited;
};

static pthread_rwlock_t @{lock} = PTHREAD_RWLOCK_INITIALIZER;
static unsigned uses[4096];
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned __attribute__((noinline)) @{fn}(struct worker *worker, unsigned zone)
{
    double asked = now();
    pthread_rwlock_wrlock(&@{lock});
    worker->waited += now() - asked;
    double start = now();
    unsigned price = 0;
    uses[zone % 4096]++;
    do
        for (int i = 0; i < 200; i++)
            price += uses[(zone + i) % 4096] * i;
    while (now() - start < @{work} / 1000.0);
    pthread_rwlock_unlock(&@{lock});
    return price;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned bill = 0;
    char name[16];
    snprintf(name, sizeof name, "parcel-%d", worker->number);
    pthread_setname_np(pthread_self(), name);
    while (now() - began < @{seconds}) {
        double start = now();
        bill += @{fn}(worker, worker->number * 977 + worker->units);
        double printed = now();
        while (now() - printed < @{outside} / 1000.0)
            bill = bill * 1103515245 + 12345;
        worker->units++;
        worker->busy += now() - start;
        double rest = worker->units / @{pace} + worker->number * 0.004 - (now() - began);
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    return (void *)(long)bill;
}

int main(void)
{
    static struct worker workers[@{threads}], all;
    began = now();
    for (int i = 0; i < @{threads}; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < @{threads}; i++) {
        pthread_join(workers[i].thread, NULL);
        all.units += workers[i].units;
        all.busy += workers[i].busy;
        all.waited += workers[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
