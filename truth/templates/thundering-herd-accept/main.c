/* How many pieces there are: processes that were forked before, each with its own loop of events. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* What `status` shows: a line for each process. */
struct score {
    char state[16];
    long served, turns;
    struct timespec since;
};

static struct score *scores;
static unsigned tariff[512];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void note(struct score *mine, const char *state)
{
    snprintf(mine->state, sizeof mine->state, "%s", state);
    clock_gettime(CLOCK_REALTIME, &mine->since);
}

static void answer(int fd)
{
    char line[200];
    ssize_t got = read(fd, line, sizeof line - 1);
    if (got > 0) {
        double start = now();
        unsigned pieces = 0;
        while (now() - start < @{effort} / 1000.0)
            for (int i = 0; i < 100; i++)
                pieces += tariff[(i + got) % 512] * i;
        int size = snprintf(line, sizeof line, "%u pieces\n", pieces % 1000);
        if (write(fd, line, size) < 0)
            perror("answer");
    }
    close(fd);
}

static void __attribute__((noinline)) @{fn}(int door, struct score *mine)
{
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    mine->turns++;
    note(mine, "accepting");
    int fd = accept4(door, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
    if (fd >= 0) {
        note(mine, "answering");
        answer(fd);
        mine->served++;
    }
    note(mine, "waiting");
}

static void work(int door, struct score *mine)
{
    sigset_t set;
    struct epoll_event event = { .events = EPOLLIN | (@{shared} ? 0 : EPOLLEXCLUSIVE), .data.fd = door };
    int loop = epoll_create1(0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    int news = signalfd(-1, &set, SFD_NONBLOCK);
    epoll_ctl(loop, EPOLL_CTL_ADD, door, &event);
    event.events = EPOLLIN;
    event.data.fd = news;
    epoll_ctl(loop, EPOLL_CTL_ADD, news, &event);
    for (;;) {
        struct epoll_event ready[8];
        int n = epoll_wait(loop, ready, 8, -1);
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == door) {
                @{fn}(door, mine);
            } else {
                struct signalfd_siginfo told;
                if (read(news, &told, sizeof told) > 0)
                    for (int k = 0; k < 512; k++)
                        tariff[k] = tariff[k] * 3 + k;
            }
        }
    }
}

int main(void)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    pid_t crew[@{crew}];
    sigset_t set;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (struct sockaddr *)&here, sizeof here) || listen(door, 200)) {
        perror("@{port}");
        return 1;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    scores = mmap(NULL, sizeof *scores * @{crew}, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < @{crew}; i++)
        if (!(crew[i] = fork()))
            work(door, &scores[i]);
    for (;;) {
        usleep((@{news} ? @{news} : 5) * 1e6);
        for (int i = 0; @{news} > 0 && i < @{crew}; i++)
            kill(crew[i], SIGHUP);
    }
}
