// Holds counters of many visitors in memory; each shard puts its own into a snapshot now and then.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 65536

struct shard {
    int number;
    long units;
    double busy, writing;
    unsigned char *state;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void name(char *path, const struct shard *shard, long number)
{
    snprintf(path, 4096, "@{work}/@{volume}/%d-%ld-@{snapshot}", shard->number, number);
}

static __attribute__((noinline)) int @{fn}(struct shard *shard, const int *blocks, int count)
{
    char path[4096];
    name(path, shard, shard->units);
    size_t size = (size_t)count * (BLOCK + 64);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, size))
        return -1;
    unsigned char *to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (to == MAP_FAILED)
        return -1;
    for (int i = 0; i < count; i++) {
        unsigned char *record = to + (size_t)i * (BLOCK + 64);
        memcpy(record, &blocks[i], sizeof blocks[i]);
        memcpy(record + 64, shard->state + (size_t)blocks[i] * BLOCK, BLOCK);
    }
    munmap(to, size);
    name(path, shard, shard->units - 2);
    unlink(path);
    return 0;
}

static void *keep(void *argument)
{
    struct shard *shard = argument;
    int blocks[@{used}];
    int most = @{used} * @{changed} < 1 ? 1 : (int)(@{used} * @{changed});
    unsigned seed = shard->number;
    while (now() - began < @{seconds}) {
        double start = now();
        for (int i = 0; i < most; i++)
            blocks[i] = most < @{used} ? rand_r(&seed) % @{used} : i;
        // The visits of this period.
        for (long visit = 0; now() - start < @{effort} / 1000; visit += 500)
            for (int i = 0; i < 500; i++)
                shard->state[(size_t)blocks[i % most] * BLOCK + rand_r(&seed) % BLOCK]++;
        double written = now();
        if (@{fn}(shard, blocks, most)) {
            perror("@{snapshot}");
            exit(1);
        }
        shard->writing += now() - written;
        shard->units++;
        shard->busy += now() - start;
        double rest = start + @{period} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    return NULL;
}

int main(void)
{
    struct shard shards[@{shards}] = { 0 };
    pthread_t threads[@{shards}];
    long units = 0;
    double busy = 0, writing = 0;
    began = now();
    for (int i = 0; i < @{shards}; i++) {
        shards[i].number = i;
        shards[i].state = calloc(@{used}, BLOCK);
        pthread_create(&threads[i], NULL, keep, &shards[i]);
    }
    for (int i = 0; i < @{shards}; i++) {
        pthread_join(threads[i], NULL);
        units += shards[i].units;
        busy += shards[i].busy;
        writing += shards[i].writing;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, writing);
    return fclose(out);
}
