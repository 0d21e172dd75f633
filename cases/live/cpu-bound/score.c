// A batch of 6,000 records comes each 100 ms; how many of them have come before in the same batch? For two seconds.
// Comparing each with each takes longer than a batch's 100 ms, so that it is never idle; FIXED sorts first.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORDS = 6000, KEY = 16, BATCHES = 20 };
static char keys[RECORDS][KEY];

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

__attribute__((unused)) static int by_key(const void *a, const void *b) { return strcmp(a, b); }

__attribute__((noinline)) static int count_duplicates(void) {
    int found = 0;
#ifdef FIXED
    qsort(keys, RECORDS, KEY, by_key);
    for (int i = 1; i < RECORDS; i++) found += !strcmp(keys[i], keys[i - 1]);
#else
    for (int i = 0; i < RECORDS; i++)
        for (int j = 0; j < RECORDS; j++) {
            int same = 0;
            while (same < KEY && keys[i][same] == keys[j][same]) same++;
            found += same == KEY && j < i;
        }
#endif
    return found;
}

int main(void) {
    uint64_t start = now_ms();
    long found = 0;
    int batches = 0;
    for (; batches < BATCHES && now_ms() - start < 100 * BATCHES; batches++) {
        for (int i = 0; i < RECORDS; i++) snprintf(keys[i], KEY, "customer-%06d", (i * 7919 + batches) % 5000);
        found += count_duplicates();
        uint64_t due = start + 100 * (uint64_t)(batches + 1), now = now_ms();
        struct timespec rest = {0, (long)(due > now ? due - now : 0) * 1000000};
        if (due > now) nanosleep(&rest, NULL);
    }
    printf("%d of %d batches in time, %ld duplicates\n", batches, BATCHES, found);
}
