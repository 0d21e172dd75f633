/* Collects the values of all stations. */
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct station {
    int fd, closed;
    double sum;
};

static long units;
static double busy, culprit;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void account(struct station *station, const char *text)
{
    double start = now();
    do
        for (int i = 0; i < 50; i++)
            station->sum += atof(text + 6) * 1e-6 + i;
    while (now() - start < @{effort} / 1000.0);
    units++;
    busy += now() - start;
}

static int __attribute__((noinline)) @{fn}(int poller, struct epoll_event *event)
{
    struct station *station = event->data.ptr;
    char text[512];
    if (station->closed)
        return 0;
    if (!(event->events & EPOLLIN))
        return 0;
    ssize_t n = read(station->fd, text, sizeof text - 1);
    if (n > 0) {
        text[n] = 0;
        account(station, text);
        return 1;
    }
    station->closed = 1;
    if (@{tidy}) {
        epoll_ctl(poller, EPOLL_CTL_DEL, station->fd, NULL);
        close(station->fd);
    }
    return 0;
}

int main(void)
{
    int poller = epoll_create1(0);
    static struct station stations[@{stations}];
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (int i = 0; i < @{stations}; i++) {
        stations[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(stations[i].fd, (struct sockaddr *)&address, sizeof address))
            return perror("connect"), 1;
        struct epoll_event wanted = { EPOLLIN | EPOLLRDHUP, { .ptr = &stations[i] } };
        epoll_ctl(poller, EPOLL_CTL_ADD, stations[i].fd, &wanted);
    }
    double began = now();
    while (now() - began < @{seconds}) {
        struct epoll_event events[16];
        double start = now();
        int n = epoll_wait(poller, events, 16, 1000), done = 0;
        for (int i = 0; i < n; i++)
            done += @{fn}(poller, &events[i]);
        if (!done && !@{tidy}) {
            culprit += now() - start;
            busy += now() - start;
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    return fclose(out);
}
