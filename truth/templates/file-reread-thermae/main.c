/* The gate of a thermal bath: who holds a season card to the reader comes in, if passages are left on it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECE (1 << 18)
#define LINE 256

struct entry {
    char kind[12];
    int left;
    char portrait[LINE];
};

static char window[LINE + PIECE + 1];
static struct entry *entries;
static long room;
static struct { char kind[12]; long cents, takings; } tariff[8];
static int kinds;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int read_tariff(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (kinds < 8 && fscanf(file, "%11s %ld", tariff[kinds].kind, &tariff[kinds].cents) == 2)
        kinds++;
    fclose(file);
    return kinds > 0;
}

static int parse(const char *line, struct entry *entry)
{
    return sscanf(line, "%*8d;%11[^;];%d;%255[^\n]", entry->kind, &entry->left, entry->portrait) == 3;
}

/* A card's last line is the one that counts. */
static int __attribute__((noinline)) @{fn}(const char *path, long card, struct entry *entry)
{
    char wanted[16], line[LINE * 2];
    int size = snprintf(wanted, sizeof wanted, "\n%08ld;", card), found = 0;
    size_t kept = 1;
    ssize_t got;
    int roll = open(path, O_RDONLY | O_CLOEXEC);
    window[0] = '\n';
    while (roll >= 0 && (got = read(roll, window + kept, PIECE)) > 0) {
        size_t all = kept + got;
        char *end = memrchr(window, '\n', all), *at = window;
        while ((at = memmem(at, end - at, wanted, size))) {
            char *stop = memchr(at + 1, '\n', window + all - at - 1);
            snprintf(line, sizeof line, "%.*s", (int)(stop - at - 1), at + 1);
            found = parse(line, entry);
            at++;
        }
        kept = window + all - end;
        memmove(window, end, kept);
    }
    if (roll >= 0)
        close(roll);
    return found;
}

/* What the desk has written since the last time. */
static void @{fn2}(const char *path)
{
    static int roll = -1;
    static size_t kept;
    ssize_t got;
    if (roll < 0)
        roll = open(path, O_RDONLY | O_CLOEXEC);
    while ((got = read(roll, window + kept, PIECE)) > 0) {
        char *line = window, *stop;
        window[kept += got] = 0;
        for (; (stop = strchr(line, '\n')); line = stop + 1) {
            long card = atol(line);
            if (card >= room) {
                entries = realloc(entries, (card + 4096) * sizeof *entries);
                memset(entries + room, 0, (card + 4096 - room) * sizeof *entries);
                room = card + 4096;
            }
            *stop = 0;
            parse(line, &entries[card]);
        }
        kept = window + kept - line;
        memmove(window, line, kept);
    }
}

static int look_up(const char *path, const char *way, long card, struct entry *entry)
{
    if (!strcmp(way, "through"))
        return @{fn}(path, card, entry);
    @{fn2}(path);
    if (card >= room || !entries[card].kind[0])
        return 0;
    *entry = entries[card];
    return 1;
}

/* The number of the face that the camera is to see; 0 where the gate stays shut. */
static unsigned long pass(const struct entry *entry)
{
    unsigned long face = 14695981039346656037ul;
    if (entry->left < 1)
        return 0;
    for (int i = 0; i < kinds; i++)
        if (!strcmp(tariff[i].kind, entry->kind))
            tariff[i].takings += tariff[i].cents / 10;
    for (int i = 0; i < 200; i++)
        for (const char *p = entry->portrait; *p; p++)
            face = (face ^ (unsigned char)*p) * 1099511628211ul;
    return face | 1;
}

int main(void)
{
    const char *path = "@{work}/@{roll}", *way = "@{way}";
    double busy = 0, culprit = 0, began;
    long units = 0, refused = 0;
    struct entry entry;

    if (!read_tariff("@{work}/tariff.conf"))
        return 1;
    srandom(5);
    look_up(path, way, 0, &entry);
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        int known = look_up(path, way, random() % @{cards}, &entry);
        culprit += now() - start;
        if (!known || !pass(&entry))
            refused++;
        units++;
        busy += now() - start;
        double rest = began + units / @{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    printf("%ld passages, %ld refused\n", units, refused);
    for (int i = 0; i < kinds; i++)
        printf("%s: %ld\n", tariff[i].kind, tariff[i].takings);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    return 0;
}
