/* Ships what arrives to the station: one thread takes the names, another sends. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK @{block}

static double busy, culprit;
static long units;
static int names[2];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        exit(1);
    return fd;
}

static void put(int to, const char *block, ssize_t n)
{
    while (n > 0) {
        ssize_t sent = send(to, block, n, 0);
        if (sent < 0)
            exit(1);
        block += sent;
        n -= sent;
    }
}

static void __attribute__((noinline)) @{fn}(int from, int to)
{
    static char block[BLOCK];
    ssize_t n;
    while ((n = read(from, block, BLOCK)) > 0)
        put(to, block, n);
}

static void whole(int from, int to)
{
    struct stat about;
    off_t at = 0;
    fstat(from, &about);
    while (at < about.st_size && sendfile(to, from, &at, about.st_size - at) > 0)
        ;
}

static void changed(int from, int to)
{
    static char block[65536];
    ssize_t n;
    while ((n = read(from, block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            block[i] ^= 0x5a + i % 13;
        put(to, block, n);
    }
}

static void *ship(void *argument)
{
    int station = dial(@{sink});
    FILE *list = fdopen(names[0], "r");
    char path[4096];
    (void)argument;
    while (fgets(path, sizeof path, list)) {
        double start = now();
        path[strcspn(path, "\n")] = 0;
        int file = open(path, O_RDONLY);
        double opened = now();
        (strcmp("@{way}", "copied") == 0 ? @{fn} : strcmp("@{way}", "whole") == 0 ? whole : changed)(file, station);
        culprit += now() - opened;
        close(file);
        busy += now() - start;
        unlink(path);
        units++;
    }
    return NULL;
}

int main(void)
{
    int fd = dial(@{port});
    char path[4096];
    pthread_t thread;
    if (pipe(names))
        return 1;
    dprintf(fd, "%.3f %d\n", @{load} * 4800.0 / @{rows}, @{used});
    FILE *courier = fdopen(fd, "r");
    double began = now();
    pthread_create(&thread, NULL, ship, NULL);
    while (now() - began < @{seconds} && fgets(path, sizeof path, courier))
        if (write(names[1], path, strlen(path)) < 0)
            return 1;
    close(names[1]);
    pthread_join(thread, NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
