// A map service: shades the tiles of a sheet by the height of the land.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 128, TILES = @{tiles} };

struct sheet {
    int number;
    double ordered;
    atomic_int next;
    double there[TILES], shading[TILES], shade[TILES];
};

static double clock_of(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double now(void) { return clock_of(CLOCK_MONOTONIC); }

static void rest(double seconds) {
    struct timespec t = {(time_t)seconds, (seconds - (time_t)seconds) * 1e9};
    if (seconds > 0)
        nanosleep(&t, NULL);
}

static void relief(int sheet, int tile, float *land) {
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            land[y * SIDE + x] = 400 + 80 * sinf((x + tile) * 0.11f) * cosf((y + sheet) * 0.07f);
}

// How bright a tile is when the sun comes from the north-west, after the valleys were smoothed.
__attribute__((noinline)) static double @{fn}(int sheet, int tile) {
    float *land = malloc(2 * SIDE * SIDE * sizeof *land), *smooth = land + SIDE * SIDE, sum = 0;
    if (!land)
        return 0;
    relief(sheet, tile, land);
    for (int pass = 0; pass < @{passes}; pass++) {
        for (int y = 1; y < SIDE - 1; y++)
            for (int x = 1; x < SIDE - 1; x++) {
                const float *at = land + y * SIDE + x;
                float east = at[1] - at[-1], south = at[SIDE] - at[-SIDE];
                smooth[y * SIDE + x] = *at * 0.6f + (at[1] + at[-1] + at[SIDE] + at[-SIDE]) * 0.1f;
                sum += (1 - east * 0.01f - south * 0.01f) / sqrtf(1 + east * east + south * south);
            }
        for (int i = SIDE; i < SIDE * (SIDE - 1); i++)
            land[i] = smooth[i] * 0.999f + 0.1f;
    }
    free(land);
    return sum;
}

static void *shader(void *argument) {
    struct sheet *s = argument;
    for (int tile; (tile = atomic_fetch_add(&s->next, 1)) < TILES;) {
        double before = clock_of(CLOCK_THREAD_CPUTIME_ID), from = now();
        rest(@{archive_ms} / 1000.0);
        s->shade[tile] = @{fn}(s->number, tile);
        s->there[tile] = now() - s->ordered;
        s->shading[tile] = now() - from - (clock_of(CLOCK_THREAD_CPUTIME_ID) - before);
    }
    return NULL;
}

static int shade(struct sheet *s) {
    pthread_t threads[@{threads}];
    int count = 0;
    for (; count < @{threads}; count++)
        if (pthread_create(&threads[count], NULL, shader, s))
            break;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return count;
}

int main(void) {
    static struct sheet s;
    double began = now(), seconds = 0, waited = 0;
    int units = 0;
    for (int number = 0; now() - began < @{seconds}; number++) {
        s.number = number;
        s.ordered = now();
        atomic_store(&s.next, 0);
        if (!shade(&s))
            return 1;
        double bright = 0;
        for (int tile = 0; tile < TILES; tile++) {
            seconds += s.there[tile];
            waited += s.shading[tile];
            bright += s.shade[tile];
            units++;
        }
        printf("sheet %d: %.1f\n", number, bright / TILES);
        rest((number + 1) / @{rate} - (now() - began));
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, waited);
    return fclose(out);
}
