#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Indexes documents of a remote store. */
static char text[@{size} + 1];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int store_open(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(@{store}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to))
        exit(3);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static long read_at(int fd, long doc, long from, long length, char *into)
{
    char ask[80], got[64 + 65536];
    int n = snprintf(ask, sizeof ask, "READ doc-%ld %ld %ld\n", doc, from, length);
    long have = 0, head = 0, size = -1;
    if (write(fd, ask, n) != n)
        exit(4);
    while (size < 0 || have < size) {
        ssize_t r = read(fd, got, sizeof got);
        if (r <= 0)
            exit(5);
        char *at = got;
        while (size < 0 && r > 0) {
            r--;
            if (*at == '\n')
                size = head;
            else
                head = head * 10 + *at - '0';
            at++;
        }
        memcpy(into + have, at, r);
        have += r;
    }
    return have;
}

static void __attribute__((noinline)) @{fn}(int fd, long doc)
{
    double began = now();
    for (long from = 0; from < @{size}; from += @{piece}) {
        long length = @{size} - from < @{piece} ? @{size} - from : @{piece};
        read_at(fd, doc, from, length, text + from);
    }
    spent += now() - began;
}

int main(void)
{
    int fd = store_open();
    unsigned long words[4096] = { 0 };
    double began = now(), busy = 0;
    long units = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        @{fn}(fd, units);
        for (int r = 0; r < @{rounds}; r++)
            for (long i = 0, h = 5381; i < @{size}; i++)
                text[i] == '\n' ? (words[h & 4095]++, h = 5381) : (h = h * 33 + text[i]);
        units++;
        busy += now() - start;
        double rest = began + units / @{pace} - now();
        if (rest > 0)
            nanosleep(&(struct timespec){ (time_t)rest, (long)((rest - (time_t)rest) * 1e9) }, NULL);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(out);
    return 0;
}
