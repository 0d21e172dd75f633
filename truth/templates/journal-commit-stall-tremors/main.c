#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Ring of segments of a few seismometers, and the helicorder's picture of the day. */
enum { KEPT = 20 };

static const char *const ring = "@{work}/@{volume}/@{segments}";
static volatile int over;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long units;
static double busy, putting;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest(double seconds)
{
    if (seconds > 0)
        usleep((useconds_t)(seconds * 1e6));
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void put(int station, long number, const char *segment, size_t size)
{
    char draft[512], path[512];
    snprintf(draft, sizeof draft, "%s/%d/open", ring, station);
    snprintf(path, sizeof path, "%s/%d/%08ld.seg", ring, station, number);
    int out = open(draft, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (out < 0 || write(out, segment, size) != (ssize_t)size || close(out) || rename(draft, path))
        fail(path);
    if (number >= KEPT) {
        snprintf(path, sizeof path, "%s/%d/%08ld.seg", ring, station, number - KEPT);
        unlink(path);
    }
}

static void *listen_to(void *which)
{
    int station = (int)(long)which;
    char folder[512], segment[@{bytes}];
    snprintf(folder, sizeof folder, "%s/%d", ring, station);
    if (mkdir(folder, 0755))
        fail(folder);
    memset(segment, 'z', sizeof segment);
    double due = now() + station / 200.0;
    for (long number = 0; !over; number++) {
        rest(due - now());
        double start = now();
        for (unsigned wave = station + 1; now() - start < @{effort} / 1e3; wave = wave * 1664525 + 1013904223)
            segment[wave % sizeof segment] ^= wave >> 24;
        double before = now();
        put(station, number, segment, sizeof segment);
        double end = now();
        pthread_mutex_lock(&guard);
        units++;
        busy += end - start;
        putting += end - before;
        pthread_mutex_unlock(&guard);
        due = due + 1.0 / @{rate} > end ? due + 1.0 / @{rate} : end;
    }
    return NULL;
}

static void __attribute__((noinline)) @{fn}(const char *day, size_t size)
{
    const char *draft = "@{work}/@{pictures}/@{picture}.new";
    int out = open(draft, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (out < 0)
        fail(draft);
    for (size_t at = 0; at < size; at += 1 << 18)
        if (write(out, day + at, size - at < 1 << 18 ? size - at : 1 << 18) < 0)
            fail(draft);
    if (fsync(out) || close(out) || rename(draft, "@{work}/@{pictures}/@{picture}"))
        fail(draft);
}

static void *draw(void *day)
{
    for (;;) {
        rest(@{gap});
        @{fn}(day, @{kb} * 1024ul);
    }
}

/* The names of the segments are kept, some moments' together. */
static void *keep_index(void *none)
{
    int folder = open(ring, O_RDONLY | O_DIRECTORY);
    do
        rest(@{beat});
    while (fsync(folder) == 0);
    return none;
}

int main(void)
{
    pthread_t stations[@{stations}], other;
    char *day = malloc(@{kb} * 1024ul);
    for (size_t i = 0; i < @{kb} * 1024ul; i++)
        day[i] = (char)(i * i >> 7);
    mkdir("@{work}/@{pictures}", 0755);
    if (mkdir(ring, 0755))
        fail(ring);
    for (long i = 0; i < @{stations}; i++)
        pthread_create(&stations[i], NULL, listen_to, (void *)i);
    pthread_create(&other, NULL, draw, day);
    pthread_create(&other, NULL, keep_index, NULL);
    rest(@{seconds});
    over = 1;
    for (int i = 0; i < @{stations}; i++)
        pthread_join(stations[i], NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, putting);
    fclose(out);
    return 0;
}
