#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Looks names up in a directory that is cut into shards; two threads answer. */
#define SIZE (@{mb}L << 20)
#define THREADS 2

static char *kept[@{count}];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static double busy, touching, end;
static long units;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static char *map_shard(int number)
{
    char path[4096];
    snprintf(path, sizeof path, "@{work}/@{folder}/@{shard}.%d", number);
    int file = open(path, O_RDONLY);
    char *shard = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    madvise(shard, SIZE, MADV_RANDOM);
    return shard;
}

static unsigned __attribute__((noinline)) @{fn}(const char *shard, unsigned *chance, double *took)
{
    unsigned sum = 0;
    for (int i = 0; i < @{touches}; i++) {
        const char *entry = shard + rand_r(chance) % (SIZE / 4096) * 4096;
        double start = now();
        sum += *(const volatile char *)entry;
        *took += now() - start;
        for (int round = 0; round < @{rounds}; round++)
            for (int at = 0; at < 1024; at++)
                sum = sum * 33 + entry[at];
    }
    return sum;
}

static void *answer(void *argument)
{
    unsigned chance = 1 + (long)argument, sum = 0;
    double due = now();
    while (now() < end) {
        double start = now(), took = 0;
        int number = rand_r(&chance) % @{count};
        char *shard = kept[number] ? kept[number] : map_shard(number);
        sum += @{fn}(shard, &chance, &took);
        if (!kept[number])
            munmap(shard, SIZE);
        pthread_mutex_lock(&guard);
        busy += now() - start;
        touching += took;
        units++;
        pthread_mutex_unlock(&guard);
        due += THREADS / (double)@{per_s};
        if (due > now())
            usleep((due - now()) * 1e6);
        else
            due = now();
    }
    return (void *)(long)sum;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int number = 0; number < @{count} && strcmp("@{mode}", "each"); number++) {
        kept[number] = map_shard(number);
        for (long at = 0; at < SIZE && !strcmp("@{mode}", "preload"); at += 4096)
            ((volatile char *)kept[number])[at];
    }
    end = now() + @{seconds};
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, answer, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, touching);
    fclose(out);
    return 0;
}
