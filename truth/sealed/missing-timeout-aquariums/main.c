/* Watches the tanks of a public aquarium: asks their probes, smooths what they say, and decides what is dosed. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TANKS @{tanks}
#define WATCHES @{workers}
#define HISTORY 240

struct tank {
    double warm[HISTORY], salt[HISTORY], acid[HISTORY];
    int seen;
    double buffer_ml, rest_until;
};

struct watch {
    int number, line;
    long units;
    double busy, waited;
    _Atomic double since;
};

static struct tank tanks[TANKS];
static struct watch watches[WATCHES];
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(void)
{
    struct sockaddr_in bus = { .sin_family = AF_INET, .sin_port = htons(@{probes}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { 2, 0 }, limit = { 0, @{limit_ms} * 1000 };
    int line = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(line, (struct sockaddr *)&bus, sizeof bus)) {
        perror("probes");
        exit(1);
    }
    return line;
}

/* What a probe says; false if it says nothing. */
static int __attribute__((noinline)) @{fn}(struct watch *w, int number, double *warm, double *salt, double *acid)
{
    char text[256];
    size_t have = 0;
    int size = snprintf(text, sizeof text, "READ %d\n", number);

    if (send(w->line, text, size, MSG_NOSIGNAL) != size)
        return 0;
    for (;;) {
        ssize_t more = recv(w->line, text + have, sizeof text - 1 - have, 0);
        if (more <= 0)
            return 0;
        have += more;
        text[have] = 0;
        if (strchr(text, '\n'))
            return sscanf(text, "tank %*d warm %lf salt %lf acid %lf", warm, salt, acid) == 3;
    }
}

static double median(const double *values, int count)
{
    double sorted[HISTORY];
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[count / 2];
}

static void dose(struct tank *tank, double warm, double salt, double acid)
{
    int at = tank->seen++ % HISTORY, count = tank->seen < HISTORY ? tank->seen : HISTORY;
    tank->warm[at] = warm;
    tank->salt[at] = salt;
    tank->acid[at] = acid;
    double lack = 8.15 - median(tank->acid, count), thin = 34.5 - median(tank->salt, count);
    double solved = 1 + 0.02 * (median(tank->warm, count) - 24);
    if (lack > 0)
        tank->buffer_ml += 12 * lack * solved * exp(-thin * thin);
}

static void visit(struct watch *w, int number)
{
    struct tank *tank = &tanks[number];
    double warm, salt, acid, start = now();

    if (start < tank->rest_until)
        return;
    w->since = start;
    int told = @{fn}(w, number, &warm, &salt, &acid);
    w->since = 0;
    w->waited += now() - start;
    if (told) {
        dose(tank, warm, salt, acid);
    } else {
        fprintf(stderr, "tank %d: no answer\n", number);
        tank->rest_until = now() + 30;
        close(w->line);
        w->line = dial();
    }
    w->units++;
    w->busy += now() - start;
}

static void *watching(void *given)
{
    struct watch *w = given;
    long turns = 0;

    w->line = dial();
    for (int number = w->number; now() - began < @{seconds}; number += WATCHES) {
        if (number >= TANKS)
            number = w->number;
        visit(w, number);
        double rest = began + ++turns / @{rate} - now();
        if (rest > 0)
            nanosleep(&(struct timespec){ (time_t)rest, (long)(fmod(rest, 1) * 1e9) }, NULL);
    }
    return NULL;
}

/* Keepers come here and ask what a tank got. */
static void *door(void *unused)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(@{door}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int hall = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    (void)unused;
    setsockopt(hall, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(hall, (struct sockaddr *)&here, sizeof here) || listen(hall, 8))
        return NULL;
    for (;;) {
        int keeper = accept(hall, NULL, NULL);
        if (keeper < 0)
            continue;
        for (int i = 0; i < TANKS; i++)
            dprintf(keeper, "%d: %.1f ml\n", i, tanks[i].buffer_ml);
        close(keeper);
    }
}

int main(void)
{
    pthread_t thread;
    long units = 0;
    double busy = 0, waited = 0;

    began = now();
    pthread_create(&thread, NULL, door, NULL);
    for (int i = 0; i < WATCHES; i++) {
        watches[i].number = i;
        pthread_create(&thread, NULL, watching, &watches[i]);
    }
    double rest = began + @{seconds} - now();
    nanosleep(&(struct timespec){ (time_t)rest, (long)(fmod(rest, 1) * 1e9) }, NULL);
    for (int i = 0; i < WATCHES; i++) {
        double since = watches[i].since, open = since ? now() - since : 0;
        units += watches[i].units;
        busy += watches[i].busy + open;
        waited += watches[i].waited + open;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
    exit(0);
}
