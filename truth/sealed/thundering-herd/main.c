/* Tells visitors their number: a set of processes, each with a poller of its own. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef EPOLLEXCLUSIVE
#define EPOLLEXCLUSIVE (1u << 28)
#endif

static volatile sig_atomic_t fresh;

static void news(int signal)
{
    fresh = signal;
}

static int __attribute__((noinline)) @{fn}(int poller, int listener)
{
    struct epoll_event event;
    if (epoll_wait(poller, &event, 1, -1) <= 0)
        return -1;
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static void work(int listener)
{
    int poller = epoll_create1(0);
    long number = 0;
    struct epoll_event wanted = { EPOLLIN | (@{alone} ? EPOLLEXCLUSIVE : 0) };
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &wanted);
    for (;;) {
        char text[256];
        int visitor = @{fn}(poller, listener);
        if (fresh) {
            fresh = 0;
            number = 0;
        }
        if (visitor < 0)
            continue;
        if (read(visitor, text, sizeof text) > 0) {
            int length = snprintf(text, sizeof text, "%d-%ld\n", getpid(), ++number);
            if (write(visitor, text, length) < 0)
                perror("visitor");
        }
        close(visitor);
    }
}

int main(void)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1, count = @{workers};
    static pid_t workers[1000];
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sigaction action = { .sa_handler = news };
    sigaction(SIGUSR1, &action, NULL);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address))
        return perror("bind"), 1;
    for (int i = 0; i < count; i++)
        if (!(workers[i] = fork())) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            work(listener);
        }
    listen(listener, 128);
    for (;;) {
        if (!@{news}) {
            pause();
            continue;
        }
        sleep(@{news});
        for (int i = 0; i < count; i++)
            kill(workers[i], SIGUSR1);
    }
}
