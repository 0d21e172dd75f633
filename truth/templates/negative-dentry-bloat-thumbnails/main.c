/* Puts together the playlists of a radio: for each title the form of its cover that the car's screen can show, if it is on the shelf. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KNOWN = 1 << 15, TITLES = @{pictures} };

static const char *const sizes[] = {"tiny", "small", "card", "wide", "tall", "full", "print", "poster"};

struct title {
    char link[96];
    int seconds, form;
};

/* What was found out of the shelf, by the number of a key; an older one gives way. */
static struct {
    uint64_t key;
    int form;
} known[KNOWN];

static struct title titles[TITLES];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t key_of(const char *link)
{
    size_t length = strlen(link);
    const char *rest = strchr(link, '?');
    if (rest && !strcmp("@{key}", "picture"))
        length = rest - link;
    uint64_t key = 1469598103934665603u;
    for (size_t i = 0; i < length; i++)
        key = (key ^ (unsigned char)link[i]) * 1099511628211u;
    return key;
}

static int @{fn}(uint64_t key)
{
    double start = now();
    int found = -1;
    char path[256];
    struct stat status;
    for (int size = 0; size < @{forms} && found < 0; size++) {
        snprintf(path, sizeof path, "@{work}/@{shelf}/%x/%016llx-%s@{ending}", (unsigned)(key >> 60), (unsigned long long)key, sizes[size]);
        if (stat(path, &status) == 0)
            found = size;
    }
    spent += now() - start;
    return found;
}

static int form_of(const char *link)
{
    uint64_t key = key_of(link);
    size_t at = key % KNOWN;
    if (known[at].key != key) {
        known[at].key = key;
        known[at].form = @{fn}(key);
    }
    return known[at].form;
}

/* A listener's titles; the station signs a link for the listener who may hear it. */
static void compose(int listener)
{
    for (int i = 0; i < TITLES; i++) {
        int at = snprintf(titles[i].link, sizeof titles[i].link, "/covers/%d", (listener * 29 + i * 5) % 700);
        if (i % @{part} == 0)
            snprintf(titles[i].link + at, sizeof titles[i].link - at, "?listener=%d&mark=%08x", listener, listener * 2654435761u + i * 40503u);
        titles[i].seconds = 120 + (listener * 31 + i * 17) % 240;
    }
}

/* Long and short ones in turn, so that the news come at the full hour. */
static int arrange(void)
{
    int over = 0;
    for (int round = 0; round < @{rounds} * 400; round++) {
        int at = 0;
        over = 0;
        for (int i = 0; i + 1 < TITLES; i++) {
            if (at % 3600 + titles[i].seconds > 3600 && titles[i + 1].seconds < titles[i].seconds) {
                struct title swap = titles[i];
                titles[i] = titles[i + 1];
                titles[i + 1] = swap;
            }
            at += titles[i].seconds;
            over += at % 3600 < 60;
        }
    }
    return over;
}

int main(void)
{
    FILE *log = fopen("@{work}/playlists.log", "w");
    int units = 0, shown = 0;
    double busy = 0, began = now(), due = began;
    setvbuf(log, NULL, _IOLBF, 0);
    while (now() - began < @{seconds}) {
        due = due + 1.0 / @{rate} > now() ? due + 1.0 / @{rate} : now();
        if (due > now())
            usleep((due - now()) * 1e6);
        compose(units);
        double start = now();
        for (int i = 0; i < TITLES; i++) {
            titles[i].form = form_of(titles[i].link);
            shown += titles[i].form >= 0;
        }
        int over = arrange();
        busy += now() - start;
        units++;
        if (units % 25 == 0)
            fprintf(log, "playlist %d: %d titles at the hour, %d covers so far\n", units, over, shown);
    }
    fclose(log);
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(report);
    return 0;
}
