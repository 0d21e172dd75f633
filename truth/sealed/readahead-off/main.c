/* Verifies segments: a sum over all of each, with the advice of the configuration for its kind of store. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEP @{step}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned long add(unsigned long sum, const char *block, ssize_t n)
{
    for (ssize_t i = 0; i + 8 <= n; i += 8) {
        unsigned long word;
        memcpy(&word, block + i, 8);
        sum = (sum << 1 | sum >> 63) ^ word;
    }
    return sum;
}

static unsigned long __attribute__((noinline)) @{fn}(int fd, double *reading)
{
    static char block[STEP];
    unsigned long sum = 0;
    for (;;) {
        double start = now();
        ssize_t n = read(fd, block, STEP);
        *reading += now() - start;
        if (n <= 0)
            return sum;
        sum = add(sum, block, n);
    }
}

static unsigned long @{fn2}(int fd, double *reading)
{
    static char block[STEP];
    unsigned long sum = 0;
    double start = now();
    for (int i = 0; i < @{samples}; i++) {
        ssize_t n = pread(fd, block, STEP, random() % (@{rows} - 2) * 4096L);
        sum = add(sum, block, n);
    }
    *reading += now() - start;
    return sum;
}

int main(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int peer = socket(AF_INET, SOCK_STREAM, 0), advice = strcmp("@{advice}", "random") ? POSIX_FADV_SEQUENTIAL : POSIX_FADV_RANDOM;
    char path[4096];
    if (connect(peer, (struct sockaddr *)&address, sizeof address))
        return 1;
    dprintf(peer, "%.3f %d\n", @{load} * 15000.0 / @{rows}, @{rows});
    FILE *courier = fdopen(peer, "r");
    double began = now(), busy = 0, culprit = 0;
    unsigned long sum = 0;
    long units = 0;
    while (now() - began < @{seconds} && fgets(path, sizeof path, courier)) {
        double start = now();
        path[strcspn(path, "\n")] = 0;
        int fd = open(path, O_RDONLY);
        posix_fadvise(fd, 0, 0, advice);
        sum ^= @{samples} ? @{fn2}(fd, &culprit) : @{fn}(fd, &culprit);
        close(fd);
        busy += now() - start;
        unlink(path);
        units++;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    return sum == 1;
}
