/* Meters calls: each thread handles a link, and takes each call's credit from an account that all share. Some threads have a higher priority
   on the machines of the customers, so the lock lends it: whoever waits longest at the highest one gets the lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

struct link {
    pthread_t thread;
    int number;
    long units;
    double busy, waited;
    unsigned long sum;
};

static pthread_mutex_t @{lock};
static pthread_barrier_t round_end;
static long credit = 1L << 60, used[64];
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static long __attribute__((noinline)) @{fn}(struct link *link, long many)
{
    double asked = now();
    pthread_mutex_lock(&@{lock});
    link->waited += now() - asked;
    credit -= many;
    used[link->number % 64] += many;
    long left = credit;
    for (int i = 0; i < 640; i++)
        left = left * 3 + used[i % 64] % 7;
    pthread_mutex_unlock(&@{lock});
    return left;
}

static unsigned long decode(unsigned long call)
{
    for (int i = 0; i < @{outside} * 600; i++)
        call = (call ^ call >> 29) * 1099511628211ul;
    return call;
}

static void handle(struct link *link)
{
    if (!@{each})
        @{fn}(link, @{lines});
    for (int call = 0; call < @{lines}; call++) {
        if (@{each})
            link->sum += @{fn}(link, 1);
        link->sum ^= decode(link->units * 977 + call);
    }
}

static void *work(void *argument)
{
    struct link *link = argument;
    char name[16];
    snprintf(name, sizeof name, "link-%d", link->number);
    pthread_setname_np(pthread_self(), name);
    long rounds = (long)(@{seconds} * @{pace});
    while (@{barrier} ? link->units < rounds : now() - began < @{seconds}) {
        double start = now();
        handle(link);
        link->units++;
        link->busy += now() - start;
        if (@{barrier})
            pthread_barrier_wait(&round_end);
        double apart = @{barrier} ? 0 : link->number / (double)@{threads};
        double rest = (link->units + apart) / @{pace} - (now() - began);
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

int main(void)
{
    static struct link links[@{threads}], all;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&@{lock}, &kind);
    pthread_barrier_init(&round_end, NULL, @{threads});
    began = now();
    for (int i = 0; i < @{threads}; i++) {
        links[i].number = i;
        pthread_create(&links[i].thread, NULL, work, &links[i]);
    }
    for (int i = 0; i < @{threads}; i++) {
        pthread_join(links[i].thread, NULL);
        all.units += links[i].units;
        all.busy += links[i].busy;
        all.waited += links[i].waited;
        all.sum ^= links[i].sum;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    fclose(out);
    return all.sum == 42;
}
