/* Finds the melodies of a song book that sound like what somebody hummed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS @{keys}
#define MOST 256

struct note {
    int pitch, beat;
    struct note *next;
};

struct melody {
    char title[32];
    int pitches[MOST], count;
    struct note *keys[KEYS];
};

static struct melody *book;
static int songs;
static const char *way = "@{way}";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static struct note *__attribute__((noinline)) @{fn}(const struct melody *melody, int key)
{
    struct note *first = NULL;
    for (int beat = melody->count - 1; beat >= 0; beat--) {
        struct note *note = malloc(sizeof *note);
        if (!note)
            abort();
        note->pitch = melody->pitches[beat] + key;
        note->beat = beat;
        note->next = first;
        first = note;
    }
    return first;
}

static void __attribute__((noinline)) put_away(struct note *list)
{
    while (list) {
        struct note *next = list->next;
        free(list);
        list = next;
    }
}

static long distance(const struct note *list, const int *hum)
{
    long sum = 0;
    for (; list; list = list->next)
        sum += labs((long)list->pitch - hum[list->beat]);
    return sum;
}

static long far_from(const struct melody *melody, int key, const int *hum)
{
    long far = 0;
    if (!strcmp(way, "lists")) {
        struct note *moved = @{fn}(melody, key);
        far = distance(moved, hum);
        put_away(moved);
    } else if (!strcmp(way, "early")) {
        far = distance(melody->keys[key], hum);
    } else {
        for (int beat = 0; beat < melody->count; beat++)
            far += labs((long)melody->pitches[beat] + key - hum[beat]);
    }
    return far;
}

static const struct melody *best(const int *hum)
{
    const struct melody *best = book;
    long least = -1;
    for (int song = 0; song < songs; song++)
        for (int key = 0; key < KEYS; key++) {
            long far = far_from(&book[song], key, hum);
            if (least < 0 || far < least) {
                least = far;
                best = &book[song];
            }
        }
    return best;
}

static void read_book(const char *path)
{
    FILE *in = fopen(path, "r");
    static char line[8192];
    if (!in) {
        perror(path);
        exit(1);
    }
    book = calloc(@{songs}, sizeof *book);
    while (songs < @{songs} && fgets(line, sizeof line, in)) {
        struct melody *melody = &book[songs++];
        char *word = strtok(line, " \n");
        snprintf(melody->title, sizeof melody->title, "%s", word);
        while ((word = strtok(NULL, " \n")) && melody->count < MOST)
            melody->pitches[melody->count++] = atoi(word);
        for (int key = 0; key < KEYS && !strcmp(way, "early"); key++)
            melody->keys[key] = @{fn}(melody, key);
    }
    fclose(in);
}

int main(void)
{
    long units = 0, found = 0;
    double busy = 0, began;

    read_book("@{work}/@{book}");
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        const struct melody *sung = &book[units * 7 % songs];
        int hum[MOST];
        for (int beat = 0; beat < sung->count; beat++)
            hum[beat] = sung->pitches[beat] + units % 5 + beat * units % 3 - 1;
        found += best(hum) == sung;
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    fprintf(stderr, "%ld of %ld hums found\n", found, units);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
    return 0;
}
