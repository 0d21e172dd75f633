/* The practice console of a carillon: plays what is on the music stand, stroke by stroke, without waking the town. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BELLS 49
#define BAR 24000

struct stroke {
    int bell, force, at;
};

struct bar {
    struct stroke *strokes;
    int count;
};

static struct { double longest; int rate; size_t above; char buffers[16]; } console = { 2, 44100, 131072, "bar" };
static float bells[BELLS];
static float mix[BAR];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int read_settings(const char *path)
{
    char line[128], name[32], value[32];
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31[a-z_] = %31s", name, value) != 2)
            continue;
        if (!strcmp(name, "rate"))
            console.rate = atoi(value);
        else if (!strcmp(name, "longest"))
            console.longest = atof(value);
        else if (!strcmp(name, "return_above"))
            console.above = strtoul(value, NULL, 10);
        else if (!strcmp(name, "buffers"))
            snprintf(console.buffers, sizeof console.buffers, "%.15s", value);
    }
    fclose(file);
    mallopt(M_MMAP_THRESHOLD, console.above);
    mallopt(M_TRIM_THRESHOLD, 2 * console.above);
    for (int bell = 0; bell < BELLS; bell++)
        bells[bell] = 130.8 * pow(2, bell / 12.0);
    return 1;
}

static struct bar *read_score(const char *path, int *count)
{
    struct bar *bars = NULL;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &room, file) > 0) {
        bars = realloc(bars, (*count + 1) * sizeof *bars);
        struct bar *bar = &bars[(*count)++];
        memset(bar, 0, sizeof *bar);
        for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
            struct stroke stroke;
            if (sscanf(word, "%d:%d:%d", &stroke.bell, &stroke.force, &stroke.at) != 3)
                continue;
            if (bar->count % 64 == 0)
                bar->strokes = realloc(bar->strokes, (bar->count + 64) * sizeof stroke);
            bar->strokes[bar->count++] = stroke;
        }
    }
    free(line);
    if (file)
        fclose(file);
    return bars;
}

/* As much as the heaviest bell sounds for. */
static float * __attribute__((noinline)) @{fn2}(void)
{
    return malloc((size_t)(console.longest * console.rate) * sizeof(float));
}

static void ring(float *sound, int length, const struct stroke *stroke)
{
    double turn = 2 * M_PI * bells[stroke->bell] / console.rate;
    float first = sinf(turn), before = 0, twice = 2 * cosf(turn), loud = stroke->force / 127.0f;
    for (int i = 0; i < length; i++) {
        sound[i] += loud * first;
        float next = twice * first - before;
        before = first;
        first = next;
        loud *= 0.9985f;
    }
    for (int i = 0; i < length; i++)
        mix[stroke->at + i] += sound[i];
}

static void __attribute__((noinline)) @{fn}(const struct stroke *stroke, float *sound)
{
    int length = @{sounds} + stroke->force * 4 - stroke->bell * 8;
    float *own = NULL;
    double start = now();
    if (!sound)
        sound = own = @{fn2}();
    memset(sound, 0, length * sizeof *sound);
    spent += now() - start;
    ring(sound, length, stroke);
    start = now();
    free(own);
    spent += now() - start;
}

static float play(const struct bar *bar)
{
    float peak = 0, *sound = strcmp(console.buffers, "bar") ? NULL : @{fn2}();
    memset(mix, 0, sizeof mix);
    for (int i = 0; i < bar->count; i++)
        @{fn}(&bar->strokes[i], sound);
    free(sound);
    for (int i = 0; i < BAR; i++)
        peak = fmaxf(peak, fabsf(mix[i]));
    return peak;
}

int main(void)
{
    int count = 0;
    if (!read_settings("@{work}/console.ini"))
        return 1;
    struct bar *score = read_score("@{work}/@{score}", &count);
    if (!count)
        return 1;
    double busy = 0, began = now();
    long units = 0;
    float loudest = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        loudest = fmaxf(loudest, play(&score[units++ % count]));
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    printf("%ld bars, the loudest %.2f\n", units, loudest);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(out);
    return 0;
}
