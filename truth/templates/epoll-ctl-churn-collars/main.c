/* Hears from the collars of a herd where each animal is, and tells the ranch which have left the pasture. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096 };

struct collar {
    int used, heard;
    size_t rest;
    char text[256];
};

static struct collar collars[MOST];
static int list, door, ranch, paused, waiting_for_ranch, top;
static char *out;
static size_t out_size, out_room;
static double spent;
static long units;
static double corner_lat[@{corners}], corner_lon[@{corners}];

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void on_list(int what, int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(list, what, fd, &event) < 0)
        perror("epoll_ctl");
}

__attribute__((noinline)) static void @{fn}(void)
{
    double start = now();
    for (int fd = 0; fd <= top; fd++)
        if (collars[fd].used && collars[fd].heard) {
            on_list(EPOLL_CTL_DEL, fd, 0);
            collars[fd].heard = 0;
        }
    paused = 1;
    spent += now() - start;
}

__attribute__((noinline)) static void @{fn2}(void)
{
    double start = now();
    for (int fd = 0; fd <= top; fd++)
        if (collars[fd].used && !collars[fd].heard) {
            on_list(EPOLL_CTL_ADD, fd, EPOLLIN);
            collars[fd].heard = 1;
        }
    paused = 0;
    spent += now() - start;
}

static void want_ranch(int want)
{
    if (want != waiting_for_ranch) {
        on_list(EPOLL_CTL_MOD, ranch, want ? EPOLLOUT : 0);
        waiting_for_ranch = want;
    }
}

static void send_out(void)
{
    ssize_t n = send(ranch, out, out_size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
        perror("ranch");
        exit(1);
    }
    if (n > 0) {
        memmove(out, out + n, out_size - n);
        out_size -= n;
    }
    want_ranch(out_size > 0);
    if (paused && !out_size)
        @{fn2}();
}

/* What is to be sent goes at once, unless the way to the ranch is full: then whoever speaks has to wait. */
static void flow(void)
{
    if (!out_size)
        return;
    if (out_size > @{high}) {
        if (!paused)
            @{fn}();
        want_ranch(1);
        return;
    }
    send_out();
}

static int inside(double lat, double lon)
{
    int in = 0;
    for (int i = 0, j = @{corners} - 1; i < @{corners}; j = i++)
        if ((corner_lat[i] > lat) != (corner_lat[j] > lat) && lon < (corner_lon[j] - corner_lon[i]) * (lat - corner_lat[i]) / (corner_lat[j] - corner_lat[i]) + corner_lon[i])
            in = !in;
    return in;
}

static void place(const char *text)
{
    int number, at;
    double lat, lon;
    if (sscanf(text, "%d;%lf;%lf;%d", &number, &lat, &lon, &at) != 4)
        return;
    if (out_size + 64 > out_room)
        out = realloc(out, out_room = out_room * 2 + 4096);
    out_size += snprintf(out + out_size, 64, "%d;%d;%s\n", number, at, inside(lat, lon) ? "in" : "out");
    units++;
}

static void hear(int fd)
{
    struct collar *one = &collars[fd];
    ssize_t n = recv(fd, one->text + one->rest, sizeof one->text - 1 - one->rest, 0);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            close(fd);
            one->used = 0;
        }
        return;
    }
    one->rest += n;
    one->text[one->rest] = 0;
    char *from = one->text, *end;
    for (; (end = strchr(from, '\n')); from = end + 1) {
        *end = 0;
        place(from);
    }
    one->rest -= from - one->text;
    memmove(one->text, from, one->rest);
}

static void take(void)
{
    int fd;
    while ((fd = accept4(door, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MOST) {
            close(fd);
            continue;
        }
        if (fd > top)
            top = fd;
        collars[fd] = (struct collar){.used = 1, .heard = !paused};
        if (!paused)
            on_list(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
}

static struct sockaddr_in address(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int main(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < MOST ? files.rlim_max : MOST;
    setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < @{corners}; i++) {
        corner_lat[i] = 47.1 + 0.15 * sin(6.2831853 * i / @{corners});
        corner_lon[i] = 8.5 + 0.3 * cos(6.2831853 * i / @{corners});
    }
    struct sockaddr_in there = address(@{ranch}), here = address(@{door});
    int on = 1;
    ranch = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ranch, (struct sockaddr *)&there, sizeof there) < 0) {
        perror("ranch");
        return 1;
    }
    fcntl(ranch, F_SETFL, O_NONBLOCK);
    door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&here, sizeof here) < 0 || listen(door, 512) < 0) {
        perror("door");
        return 1;
    }
    list = epoll_create1(EPOLL_CLOEXEC);
    on_list(EPOLL_CTL_ADD, door, EPOLLIN);
    on_list(EPOLL_CTL_ADD, ranch, 0);
    double busy = 0, end = now() + @{seconds};
    while (now() < end) {
        struct epoll_event ready[64];
        int n = epoll_wait(list, ready, 64, 200);
        double start = now();
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            if (fd == door)
                take();
            else if (fd == ranch)
                send_out();
            else if (collars[fd].used)
                hear(fd);
        }
        flow();
        busy += now() - start;
    }
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    return fclose(report);
}
