#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_until(double due)
{
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void report(long units, double busy, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
}

static struct sockaddr_in last[8];

static int __attribute__((noinline)) @{fn}(int host)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    char name[128];

    snprintf(name, sizeof name, "node%d.@{zone}@{dot}", host);
    if (getaddrinfo(name, "443", &hints, &found))
        return 0;
    memcpy(&last[host], found->ai_addr, sizeof last[host]);
    freeaddrinfo(found);
    return 1;
}

int main(void)
{
    double began, busy = 0, culprit = 0;
    long units = 0, good = 0;

    res_init();
    _res.nscount = 1;
    _res.nsaddr_list[0] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(53) };
    inet_pton(AF_INET, "@{ns}", &_res.nsaddr_list[0].sin_addr);
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        if (!@{cache} || units % (@{cache} + 1) == 0) {
            good += @{fn}(units % 8);
            culprit += (now() - start) * @{wasted};
        }
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    report(units, busy, culprit);
    printf("%ld of %ld\n", good, units);
    return good == 0;
}
