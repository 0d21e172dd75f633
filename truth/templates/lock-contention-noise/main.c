// Adds the sounds that the microphones of a city hear to its map of noise; a process for each row of microphones, all on one map.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIDE = 240, WORKERS = @{workers}, REACH = @{reach}, SPAN = 2 * REACH + 1, STEPS = 60 };

struct account {
    long units;
    double busy, waited;
};

struct city {
    pthread_mutex_t @{lock};
    float level[SIDE][SIDE];
    unsigned char houses[SIDE][SIDE];
    struct account accounts[WORKERS];
};

struct sound {
    int x, y;
    float decibel;
};

static struct city *city;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int inside(int at) { return at < 0 ? 0 : at >= SIDE ? SIDE - 1 : at; }

// What of a sound arrives a way off: less by the distance, and by the houses between.
static float heard(const struct sound *sound, int dx, int dy)
{
    float walls = 0;
    for (int step = 1; step <= STEPS; step++) {
        float part = (float)step / STEPS;
        walls += city->houses[inside(sound->y + (int)(dy * part))][inside(sound->x + (int)(dx * part))];
    }
    return powf(10, (sound->decibel - 20 * log10f(1 + hypotf(dx, dy)) - walls / 9) / 10);
}

static void spread(const struct sound *sound, float out[SPAN][SPAN])
{
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++)
            out[dy + REACH][dx + REACH] = heard(sound, dx, dy);
}

static void add(const struct sound *sound, float in[SPAN][SPAN])
{
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++)
            city->level[inside(sound->y + dy)][inside(sound->x + dx)] += in[dy + REACH][dx + REACH];
}

static __attribute__((noinline)) void @{fn}(const struct sound *sound, struct account *account)
{
    static float part[SPAN][SPAN];
    int aside = "@{under}"[1] == 'd';
    if (aside)
        spread(sound, part);
    double began = now();
    pthread_mutex_lock(&city->@{lock});
    account->waited += now() - began;
    if (!aside)
        spread(sound, part);
    add(sound, part);
    pthread_mutex_unlock(&city->@{lock});
}

// The loudest moment of what a microphone recorded, and where that was.
static struct sound listen_to(unsigned *seed)
{
    float loudest = 0;
    for (int sample = 0; sample < 4000; sample++) {
        float level = sinf(sample * 0.11f) * (rand_r(seed) % 1000) / 1000;
        loudest = fmaxf(loudest, level);
    }
    return (struct sound){rand_r(seed) % SIDE, rand_r(seed) % SIDE, 60 + 40 * loudest};
}

static void row(int number, double begun)
{
    unsigned seed = number * 977 + 5;
    struct account *account = &city->accounts[number];
    while (now() - begun < @{seconds}) {
        double began = now();
        struct sound sound = listen_to(&seed);
        @{fn}(&sound, account);
        account->units++;
        account->busy += now() - began;
        double rest = begun + (account->units + number / (WORKERS + 1.0)) / @{pace} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
}

int main(void)
{
    city = mmap(NULL, sizeof *city, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (city == MAP_FAILED)
        return 1;
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&city->@{lock}, &shared);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            city->houses[y][x] = (x * 7 + y * 13) % 11 < 4;
    double begun = now();
    for (int number = 0; number < WORKERS; number++)
        if (!fork()) {
            row(number, begun);
            _exit(0);
        }
    while (wait(NULL) > 0);
    struct account sum = {0};
    for (int number = 0; number < WORKERS; number++) {
        sum.units += city->accounts[number].units;
        sum.busy += city->accounts[number].busy;
        sum.waited += city->accounts[number].waited;
    }
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", sum.units, sum.busy, sum.waited);
    return fclose(report);
}
