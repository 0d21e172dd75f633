/* The player of a carillon: takes a bar of the tune after the other, fetches the sound of each stroke from the recordings, and mixes them. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = @{block}, PARTIALS = @{partials}, HEARD = @{heard}, TAKES = @{takes}, BAR = @{bar}, LONG = BLOCK / 2 };

struct bell {
    int key;
    double weight;
};

struct stroke {
    int bell, take;
    double loud;
};

struct player {
    int sounds, bells;
    struct bell bell[64];
    uint32_t seed;
    double took, loudest;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint32_t chance(struct player *player, uint32_t below)
{
    player->seed = player->seed * 1664525u + 1013904223u;
    return (player->seed >> 8) % below;
}

static int read_bells(struct player *player, const char *path)
{
    FILE *in = fopen(path, "r");
    int number;

    if (!in)
        return -1;
    while (player->bells < 54 && fscanf(in, "%d %d %lf", &number, &player->bell[player->bells].key, &player->bell[player->bells].weight) == 3)
        player->bells++;
    fclose(in);
    return player->bells;
}

/* The partials, as they begin to sound. */
static int partial_at(int order)
{
    return order * 11 % PARTIALS;
}

static int __attribute__((noinline)) @{fn}(int sounds, const struct stroke *stroke, unsigned char *into)
{
    off_t first = ((off_t)stroke->bell * TAKES + stroke->take) * PARTIALS * BLOCK;

    if (!strcmp("@{way}", "run"))
        return pread(sounds, into, PARTIALS * BLOCK, first) == PARTIALS * BLOCK ? 0 : -1;
    for (int order = 0; order < HEARD; order++) {
        int partial = partial_at(order);
        if (!strcmp("@{way}", "at")) {
            if (pread(sounds, into + partial * BLOCK, BLOCK, first + partial * BLOCK) != BLOCK)
                return -1;
        } else if (lseek(sounds, first + partial * BLOCK, SEEK_SET) < 0 || read(sounds, into + partial * BLOCK, BLOCK) != BLOCK) {
            return -1;
        }
    }
    return 0;
}

static void mix(const struct bell *bell, const struct stroke *stroke, const unsigned char *sound, float *bar)
{
    for (int order = 0; order < HEARD; order++) {
        const unsigned char *block = sound + partial_at(order) * BLOCK;
        float loud = stroke->loud * bell->weight / (order + 1) / 32768;
        float low = 0;
        for (int i = 0; i < LONG; i++) {
            int16_t sample;
            memcpy(&sample, block + i * 2, sizeof sample);
            low += (sample - low) * 0.35f;
            bar[i] += low * loud;
        }
    }
}

static int play(struct player *player)
{
    static unsigned char sound[PARTIALS * BLOCK];
    float bar[LONG] = { 0 };

    for (int i = 0; i < BAR; i++) {
        struct stroke stroke = { chance(player, player->bells), chance(player, TAKES), (60 + chance(player, 60)) / 127.0 };
        double start = now();
        if (@{fn}(player->sounds, &stroke, sound) != 0)
            return -1;
        player->took += now() - start;
        mix(&player->bell[stroke.bell], &stroke, sound, bar);
    }
    for (int i = 0; i < LONG; i++)
        player->loudest = fmax(player->loudest, fabsf(bar[i]));
    return 0;
}

int main(void)
{
    struct player player = { .sounds = open("@{work}/@{sounds}", O_RDONLY | O_CLOEXEC), .seed = 7 };
    long units = 0;
    double busy = 0;

    if (player.sounds < 0 || read_bells(&player, "@{work}/bells.txt") < 1) {
        perror("carillon");
        return 1;
    }
    double began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        if (play(&player) != 0) {
            perror("recordings");
            return 1;
        }
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    fprintf(stderr, "%ld bars, loudest %.3f\n", units, player.loudest);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, player.took);
    fclose(out);
    return 0;
}
