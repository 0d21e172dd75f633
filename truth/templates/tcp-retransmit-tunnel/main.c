/* A station: each of its meters reads, encodes, and sends; the next reading goes when the one before is kept. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct meter {
    pthread_t thread;
    int number, fd;
    long units;
    double busy;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static size_t encode(struct meter *meter, char *line, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    unsigned long state = meter->number * 7919 + meter->units;
    double start = now();
    size_t n = sprintf(line, "meter-%d %ld ", meter->number, meter->units);
    do
        for (size_t i = n; i < size; i++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            line[i] = digits[state >> 60];
        }
    while (now() - start < @{encode} / 1000.0);
    line[size] = '\n';
    return size + 1;
}

static int __attribute__((noinline)) @{fn}(int fd, const char *line, size_t size)
{
    char answer[100];
    size_t got = 0;
    while (size) {
        ssize_t sent = write(fd, line, size);
        if (sent <= 0)
            return -1;
        line += sent;
        size -= sent;
    }
    do {
        ssize_t part = read(fd, answer + got, sizeof answer - got);
        if (part <= 0)
            return -1;
        got += part;
    } while (answer[got - 1] != '\n');
    return 0;
}

static void *work(void *argument)
{
    struct meter *meter = argument;
    char line[16000];
    while (now() - began < @{seconds}) {
        double start = now();
        /* Each tenth is a summary. */
        size_t size = encode(meter, line, meter->units % 10 == 9 ? @{size} * 5 : @{size});
        if (@{fn}(meter->fd, line, size))
            exit(1);
        meter->units++;
        meter->busy += now() - start;
        double rest = began + meter->units / @{rate} + meter->number * 0.007 - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    return NULL;
}

int main(void)
{
    static struct meter meters[@{lines}];
    struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(@{port}) };
    int one = 1;
    long units = 0;
    double busy = 0;
    inet_pton(AF_INET, "10.@{net}.@{sub}.2", &there.sin_addr);
    began = now();
    for (int i = 0; i < @{lines}; i++) {
        meters[i].number = i;
        meters[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(meters[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(meters[i].fd, (struct sockaddr *)&there, sizeof there)) {
            perror("collector");
            return 1;
        }
        pthread_create(&meters[i].thread, NULL, work, &meters[i]);
    }
    for (int i = 0; i < @{lines}; i++) {
        pthread_join(meters[i].thread, NULL);
        units += meters[i].units;
        busy += meters[i].busy;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    return fclose(out);
}
