// A gateway for positions of buses: smooths the last ones of each, and says how late it is.
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BUSES = 300, WINDOW = 32 };

struct fix {
    double lat, lon, speed;
};

struct bus {
    struct fix last[WINDOW];
    int count;
    double late;
};

static struct bus buses[BUSES];
static FILE *debug_log;
static char level[16] = "none";
static int window = 8;
static double spent;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int read_conf(const char *path) {
    char line[256], name[64], value[128];
    FILE *in = fopen(path, "r");
    if (!in)
        return -1;
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "%63s = %127s", name, value) != 2)
            continue;
        if (!strcmp(name, "debug_log"))
            debug_log = fopen(value, "a");
        else if (!strcmp(name, "level"))
            snprintf(level, sizeof level, "%s", value);
        else if (!strcmp(name, "window"))
            window = atoi(value);
    }
    fclose(in);
    if (!debug_log)
        return -1;
    setvbuf(debug_log, NULL, _IOLBF, 4096);
    return 0;
}

__attribute__((noinline, format(printf, 1, 2))) static void @{fn}(const char *text, ...) {
    double start = now();
    va_list rest;
    va_start(rest, text);
    vfprintf(debug_log, text, rest);
    va_end(rest);
    spent += now() - start;
}

static struct fix smoothed(int number) {
    struct bus *b = &buses[number];
    struct fix mean = {0, 0, 0};
    double all = 0;
    int verbose = !strcmp(level, "all");
    for (int i = 0; i < b->count; i++) {
        double weight = 1 / (1 + (b->count - 1 - i) * 0.5);
        mean.lat += b->last[i].lat * weight;
        mean.lon += b->last[i].lon * weight;
        mean.speed += b->last[i].speed * weight;
        all += weight;
        if (verbose)
            @{fn}("DEBUG bus %d step %d of %d: lat %.6f lon %.6f speed %.0f weight %.3f sums %.6f %.6f %.3f\n", number, i, b->count, b->last[i].lat,
                  b->last[i].lon, b->last[i].speed, weight, mean.lat, mean.lon, all);
    }
    return (struct fix){mean.lat / all, mean.lon / all, mean.speed / all};
}

// How far it is from where the timetable has it, in minutes.
static double lateness(int number, struct fix at) {
    double best = 1e9;
    int stop = 0;
    for (int i = 0; i < 60; i++) {
        double north = at.lat - 48 - pow(sin(number + i), 2), east = (at.lon - 11 - pow(cos(number * i), 2)) * 0.67;
        double far = sqrt(north * north + east * east) * 111;
        if (far < best) {
            best = far;
            stop = i;
        }
    }
    return best * 60 / (at.speed + 5) - stop % 3;
}

static void take(const char *line) {
    int number;
    struct fix at;
    if (sscanf(line, "%d;%lf;%lf;%lf", &number, &at.lat, &at.lon, &at.speed) != 4 || number < 0 || number >= BUSES)
        return;
    struct bus *b = &buses[number];
    if (b->count == window)
        memmove(b->last, b->last + 1, --b->count * sizeof b->last[0]);
    b->last[b->count++] = at;
    b->late = lateness(number, smoothed(number));
}

int main(void) {
    struct sockaddr_in radio = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (read_conf("@{app}.conf") || connect(fd, (struct sockaddr *)&radio, sizeof radio)) {
        perror("start");
        return 1;
    }
    FILE *in = fdopen(fd, "r");
    setvbuf(in, NULL, _IOFBF, 65536);
    char line[256];
    double began = now(), busy = 0;
    int units = 0, count;
    while (now() - began < @{seconds} && fgets(line, sizeof line, in)) {
        double start = now();
        if (sscanf(line, "BATCH %d", &count) != 1)
            return 1;
        for (int i = 0; i < count && fgets(line, sizeof line, in); i++)
            take(line);
        if (strcmp(level, "none"))
            @{fn}("batch of %d\n", count);
        units++;
        busy += now() - start;
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    return fclose(out);
}
