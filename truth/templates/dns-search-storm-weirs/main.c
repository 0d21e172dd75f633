/* Regulates a river: works out from the levels how far each gate is to open, and tells the gate. */
#define _GNU_SOURCE
#include <math.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct gate {
    char host[80];
    double level, opening;
    struct sockaddr_storage at;
    socklen_t size;
    double asked;
};

static struct gate gates[@{river}];
static double looking;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The plant's own settings of the network, as in its container. */
static void enter(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)
        || mount("@{work}/resolv.conf", "/etc/resolv.conf", NULL, MS_BIND, NULL)) {
        perror("resolv.conf");
        exit(1);
    }
}

static int __attribute__((noinline)) @{fn}(struct gate *gate)
{
    struct addrinfo want = { .ai_socktype = SOCK_DGRAM }, *found;
    double start = now();
    int wrong = getaddrinfo(gate->host, "@{command}", &want, &found);
    looking += now() - start;
    if (wrong) {
        fprintf(stderr, "%s: %s\n", gate->host, gai_strerror(wrong));
        return -1;
    }
    memcpy(&gate->at, found->ai_addr, found->ai_addrlen);
    gate->size = found->ai_addrlen;
    gate->asked = now();
    freeaddrinfo(found);
    return 0;
}

static void flow(long minute)
{
    double above = 3.2 + sin(minute * 0.01);
    for (int i = 0; i < @{river}; i++) {
        double wanted = 2.4 - 0.02 * i, through = gates[i].opening * sqrt(2 * 9.81 * above);
        gates[i].level += 0.1 * (above - gates[i].level) - 0.004 * through;
        gates[i].opening = fmin(1, fmax(0, gates[i].opening + 0.2 * (gates[i].level - wanted)));
        above = gates[i].level;
    }
}

int main(void)
{
    enter();
    for (int i = 0; i < @{river}; i++) {
        snprintf(gates[i].host, sizeof gates[i].host, "gate%02d.@{zone}@{root}", i + 1);
        gates[i].level = 2;
    }
    int line = socket(AF_INET, SOCK_DGRAM, 0);
    double began = now(), busy = 0;
    long units = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        flow(units);
        struct gate *gate = &gates[units % @{river}];
        if ((!gate->size || now() - gate->asked >= @{keep}) && @{fn}(gate))
            return 1;
        char text[80];
        int size = snprintf(text, sizeof text, "open %ld %.3f at %.2f", units % @{river} + 1, gate->opening, gate->level);
        sendto(line, text, size, 0, (struct sockaddr *)&gate->at, gate->size);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, looking * @{wasted});
    return fclose(report) != 0;
}
