// A batch of records comes each 100 ms; how many of them have come before in the same batch? For 25 batches.
// Comparing each with each takes half as long again as a batch's 100 ms, on any machine, so that it is never idle: a batch is as large
// as that needs. FIXED sorts first.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The slow one goes on until it has had a CPU for that long: beside others that takes longer.
enum { CPU_MS = 2300 };
enum { MOST = 40000, PROBE = 1000, KEY = 16, BATCHES = 25 };
static char keys[MOST][KEY];
static int records = PROBE;
// So that no compiler leaves out what is measured.
static volatile int kept;

static uint64_t ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int by_key(const void *a, const void *b) { return strcmp(a, b); }

__attribute__((noinline, unused)) static int count_sorted(void) {
    int found = 0;
    qsort(keys, (size_t)records, KEY, by_key);
    for (int i = 1; i < records; i++) found += !strcmp(keys[i], keys[i - 1]);
    return found;
}

__attribute__((noinline)) static int count_duplicates(void) {
    int found = 0;
    for (int i = 0; i < records; i++)
        for (int j = 0; j < records; j++) {
            int same = 0;
            while (same < KEY && keys[i][same] == keys[j][same]) same++;
            found += same == KEY && j < i;
        }
    return found;
}

static void take_batch(int number) {
    for (int i = 0; i < records; i++) snprintf(keys[i], KEY, "customer-%06d", (i * 7919 + number) % 5000);
}

// How many records make 150 ms of CPU where each is compared with each, by some rounds with few.
static int batch_size(void) {
    int rounds = 0;
    uint64_t start = ms(CLOCK_THREAD_CPUTIME_ID), took;
    take_batch(0);
    do kept = count_duplicates(), rounds++;
    while ((took = ms(CLOCK_THREAD_CPUTIME_ID) - start) < 100);
    double wanted = PROBE * sqrt(150.0 * rounds / (double)took);
    return wanted < MOST ? (int)wanted : MOST;
}

int main(void) {
    records = batch_size();
    uint64_t start = ms(CLOCK_MONOTONIC);
    long found = 0;
    int batches = 0;
    for (; batches < BATCHES; batches++) {
        if (ms(CLOCK_MONOTONIC) - start >= 100 * BATCHES && ms(CLOCK_THREAD_CPUTIME_ID) >= CPU_MS) break;
        take_batch(batches);
#ifdef FIXED
        found += count_sorted();
#else
        found += count_duplicates();
#endif
        uint64_t due = start + 100 * (uint64_t)(batches + 1), now = ms(CLOCK_MONOTONIC);
        struct timespec rest = {0, (long)(due > now ? due - now : 0) * 1000000};
        if (due > now) nanosleep(&rest, NULL);
    }
    printf("%d of %d batches of %d in time, %ld duplicates\n", batches, BATCHES, records, found);
}
