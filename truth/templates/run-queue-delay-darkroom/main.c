/* A photo laboratory: its desk says how long a print is to be exposed, and the archive's negatives are developed meanwhile. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIDE 512

struct settings {
    int port, developers, rest;
    char paper[16], manners[16], negative[64];
};

static struct settings lab;
static unsigned char negative[SIDE * SIDE];
static atomic_long developed;

static int read_settings(const char *path)
{
    char line[128], name[32], value[64];
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31[a-z] = %63s", name, value) != 2)
            continue;
        if (!strcmp(name, "port"))
            lab.port = atoi(value);
        else if (!strcmp(name, "developers"))
            lab.developers = atoi(value);
        else if (!strcmp(name, "rest"))
            lab.rest = atoi(value);
        else if (!strcmp(name, "paper"))
            snprintf(lab.paper, sizeof lab.paper, "%.15s", value);
        else if (!strcmp(name, "manners"))
            snprintf(lab.manners, sizeof lab.manners, "%.15s", value);
        else if (!strcmp(name, "negative"))
            snprintf(lab.negative, sizeof lab.negative, "%s", value);
    }
    fclose(file);
    file = fopen(lab.negative, "rb");
    if (!file || fread(negative, 1, sizeof negative, file) != sizeof negative)
        return 0;
    fclose(file);
    return 1;
}

/* One picture: the grain is smoothed, and the tones are spread. */
static long __attribute__((noinline)) @{fn}(long number, unsigned char *out)
{
    long histogram[256] = { 0 }, sum = 0;
    for (int y = 1; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            const unsigned char *at = negative + y * SIDE + x;
            int tone = (at[-SIDE - 1] + at[-SIDE] + at[-SIDE + 1] + at[-1] + 2 * at[0] + at[1] + at[SIDE - 1] + at[SIDE] + at[SIDE + 1]) / 10;
            tone = (int)(255 * pow(tone / 255.0, 0.6 + number % 50 / 100.0));
            out[y * SIDE + x] = tone;
            histogram[tone]++;
        }
    for (int tone = 0; tone < 256; tone++)
        sum += histogram[tone] * tone;
    return sum / (SIDE * SIDE);
}

static void *develop(void *argument)
{
    long number = (long)argument;
    unsigned char *out = malloc(SIDE * SIDE);
    struct sched_param none = { 0 };
    if (!strcmp(lab.manners, "humble") && (nice(19) < 0 || sched_setscheduler(0, SCHED_IDLE, &none)))
        perror("archive");
    for (;; number += lab.developers) {
        if (@{fn}(number, out) >= 0)
            atomic_fetch_add(&developed, 1);
        if (lab.rest)
            usleep(lab.rest * 1000);
    }
    return NULL;
}

/* Seconds below the enlarger, by the densities of the strips of a test print. */
static double exposure(long number)
{
    double seconds = 4;
    for (int strip = 0; strip < @{strips}; strip++) {
        double density = 0;
        for (int i = 0; i < SIDE * 16; i++)
            density += log10(1 + negative[(number * 977 + strip * 4099 + i) % (SIDE * SIDE)]);
        seconds += (density / (SIDE * 16) - 1.9) * 2 / (strip + 1);
    }
    return seconds;
}

static void *serve(void *argument)
{
    FILE *counter = argument;
    char text[128];
    long number;
    while (fgets(text, sizeof text, counter) && sscanf(text, "print %ld", &number) == 1) {
        int size = snprintf(text, sizeof text, "print %ld on %s: %.2f s; %ld from the archive\n", number, lab.paper, exposure(number), atomic_load(&developed));
        if (send(fileno(counter), text, size, MSG_NOSIGNAL) != size)
            break;
    }
    fclose(counter);
    return NULL;
}

static void start(void *(*what)(void *), void *with)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, what, with))
        pthread_detach(thread);
}

int main(void)
{
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (!read_settings("lab.ini")) {
        fprintf(stderr, "lab.ini, or its negative, cannot be read\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(lab.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 32)) {
        perror("desk");
        return 1;
    }
    for (long i = 0; i < lab.developers; i++)
        start(develop, (void *)i);
    for (;;) {
        int fd = accept(door, NULL, NULL);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        start(serve, fdopen(fd, "r"));
    }
}
