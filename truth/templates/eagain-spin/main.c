/* Follows the exchange and keeps a moving average of the quotes. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct feed {
    int fd;
    char text[4096];
    size_t length;
};

static double busy, culprit, average;
static long units;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void quote(const char *line)
{
    double price = 0, start = now();
    long number;
    sscanf(line, "quote %ld %lf", &number, &price);
    while (now() - start < @{effort} / 1000.0)
        for (int i = 0; i < 100; i++)
            average = average * 0.99 + sqrt(price) * 0.01;
    units++;
    busy += now() - start;
}

static ssize_t __attribute__((noinline)) @{fn}(struct feed *feed)
{
    ssize_t n = recv(feed->fd, feed->text + feed->length, sizeof feed->text - 1 - feed->length, MSG_DONTWAIT);
    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;
    feed->length += n;
    feed->text[feed->length] = 0;
    char *line = feed->text, *end;
    while ((end = strchr(line, '\n'))) {
        *end = 0;
        quote(line);
        line = end + 1;
    }
    feed->length -= line - feed->text;
    memmove(feed->text, line, feed->length);
    return n;
}

int main(void)
{
    struct feed feed = { socket(AF_INET, SOCK_STREAM, 0) };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(feed.fd, (struct sockaddr *)&address, sizeof address))
        return perror("connect"), 1;
    double began = now();
    while (now() - began < @{seconds}) {
        if (@{wait}) {
            struct pollfd wanted = { feed.fd, POLLIN, 0 };
            poll(&wanted, 1, 500);
        }
        double start = now();
        ssize_t n = @{fn}(&feed);
        if (n < 0)
            break;
        if (n == 0) {
            culprit += now() - start;
            busy += now() - start;
        }
        while (@{wait} == 2 && n > 0)
            n = @{fn}(&feed);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
