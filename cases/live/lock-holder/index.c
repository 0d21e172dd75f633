// Three workers look up 600 records each under the lock that guards the index; one thread renews the index every 50 ms,
// which takes 40 ms. It holds the lock meanwhile; FIXED renews a copy and takes the lock only to exchange the two.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 4096, LOOKUPS = 600, WORKERS = 3, REBUILD_MS = 40 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;
static uint32_t tables[2][KEYS], *table = tables[0];

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// Bound by time and not by steps, so that the case is the same on a fast machine and on a slow one.
__attribute__((noinline)) static void rebuild_index(uint32_t *into) {
    uint64_t end = now_ms() + REBUILD_MS;
    do
        for (uint32_t i = 0; i < KEYS; i++) into[i] = into[(i * 2654435761u) % KEYS] * 31 + i;
    while (now_ms() < end);
}

static void *renew(void *unused) {
    (void)unused;
    while (!over) {
#ifdef FIXED
        uint32_t *fresh = table == tables[0] ? tables[1] : tables[0];
        rebuild_index(fresh);
        pthread_mutex_lock(&lock);
        table = fresh;
#else
        pthread_mutex_lock(&lock);
        rebuild_index(table);
#endif
        pthread_mutex_unlock(&lock);
        usleep(10000);
    }
    return NULL;
}

static void *look_up(void *unused) {
    (void)unused;
    uintptr_t sum = 0;
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        pthread_mutex_lock(&lock);
        sum += table[i % KEYS];
        pthread_mutex_unlock(&lock);
        usleep(500);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t renewer, workers[WORKERS];
    pthread_create(&renewer, NULL, renew, NULL);
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, look_up, NULL);
    uintptr_t sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        void *part;
        pthread_join(workers[i], &part);
        sum += (uintptr_t)part;
    }
    over = true;
    pthread_join(renewer, NULL);
    printf("%lu\n", (unsigned long)sum);
}
