#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A thread for each visitor; the clerk thread stamps what has lain long enough. */
struct folder {
    double due;
    int stamped;
    struct folder *next;
};

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER, come = PTHREAD_COND_INITIALIZER;
static struct folder *pile;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void *clerk(void *unused)
{
    pthread_mutex_lock(&desk);
    for (;;) {
        double next = 0, t = now();
        for (struct folder **at = &pile; *at;) {
            struct folder *one = *at;
            if (one->due <= t) {
                one->stamped = 1;
                *at = one->next;
                pthread_cond_broadcast(&done);
                continue;
            }
            if (!next || one->due < next)
                next = one->due;
            at = &one->next;
        }
        if (!next) {
            pthread_cond_wait(&come, &desk);
            continue;
        }
        struct timespec until = { (time_t)next, (long)((next - (time_t)next) * 1e9) };
        pthread_cond_timedwait(&come, &desk, &until);
    }
    return unused;
}

static void @{fn2}(unsigned number)
{
    struct folder one = { now() + @{hold} / 1000.0 * (0.9 + number * 7919 % 100 * 0.003), 0, NULL };
    pthread_mutex_lock(&desk);
    one.next = pile;
    pile = &one;
    pthread_cond_signal(&come);
    while (!one.stamped)
        pthread_cond_wait(&done, &desk);
    pthread_mutex_unlock(&desk);
}

static int __attribute__((noinline)) @{fn}(int fd, unsigned number)
{
    char part[8192];
    int n = snprintf(part, sizeof part, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", @{bytes});
    if (send(fd, part, n, 0) < 0)
        return -1;
    memset(part, 'a' + number % 26, sizeof part);
    for (int left = @{bytes}; left > 0; left -= n)
        if ((n = send(fd, part, left < (int)sizeof part ? left : (int)sizeof part, 0)) < 0)
            return -1;
    return 0;
}

static void *visitor(void *argument)
{
    int on = 1, fd = (int)(long)argument;
    char ask[4096];
    ssize_t n;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while ((n = read(fd, ask, sizeof ask - 1)) > 0) {
        ask[n] = 0;
        char *path = strchr(ask, '/'), *last = path ? strchr(path + 1, '/') : NULL;
        unsigned number = last ? strtoul(last + 1, NULL, 10) : 0;
        @{fn2}(number);
        if (@{fn}(fd, number)) {
            perror("visitor");
            break;
        }
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int on = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server, (struct sockaddr *)&at, sizeof at) || listen(server, 128))
        return 3;
    pthread_create(&thread, NULL, clerk, NULL);
    for (;;) {
        int fd = accept(server, NULL, NULL);
        if (fd >= 0 && !pthread_create(&thread, NULL, visitor, (void *)(long)fd))
            pthread_detach(thread);
    }
}
