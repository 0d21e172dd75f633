/* Sends the calls of a hospital's desk to the pagers of doctors: `pager 17` is a pager that comes, `call 17` is a call. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 20000 };

struct peer {
    int fd;
    size_t have;
    char line[256];
};

static struct peer *peers[ROOM];
static int pagers[ROOM], pager_count;
static struct pollfd watched[ROOM];
static int watched_count, door, kernel_side = -1;
static unsigned long calls;

static void watch(int fd)
{
    if (kernel_side >= 0) {
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
        epoll_ctl(kernel_side, EPOLL_CTL_ADD, fd, &event);
        return;
    }
    watched[watched_count++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static void forget(int fd)
{
    for (int i = 0; i < watched_count; i++)
        if (watched[i].fd == fd) {
            watched[i] = watched[--watched_count];
            break;
        }
    free(peers[fd]);
    peers[fd] = NULL;
    close(fd);
}

/* Who has said something: their descriptors. */
static int __attribute__((noinline)) @{fn}(int *ready, int room)
{
    int count = 0;
    if (kernel_side >= 0) {
        struct epoll_event events[64];
        int got = epoll_wait(kernel_side, events, room < 64 ? room : 64, -1);
        for (int i = 0; i < got; i++)
            ready[count++] = events[i].data.fd;
        return count;
    }
    int left = poll(watched, watched_count, -1);
    for (int i = 0; i < watched_count && left > 0 && count < room; i++)
        if (watched[i].revents) {
            ready[count++] = watched[i].fd;
            left--;
        }
    return count;
}

static unsigned checksum(const char *text, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum = sum * 31 + (unsigned char)text[i];
    return sum % 997;
}

static void page(struct peer *desk, unsigned long number)
{
    char text[400];
    int length = snprintf(text, sizeof text, "call %lu: ward %lu, please. %*s", ++calls, number % 40, @{text}, "");
    length += snprintf(text + length, sizeof text - length, " %03u\n", checksum(text, length));
    int pager = pager_count ? pagers[number % pager_count] : -1;
    if (pager >= 0 && peers[pager] && send(pager, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        fprintf(stderr, "pager %lu does not hear\n", number);
    if (send(desk->fd, "sent\n", 5, MSG_NOSIGNAL) < 0)
        perror("desk");
}

static void said(struct peer *peer, const char *line)
{
    unsigned long number = strtoul(line + strcspn(line, " "), NULL, 10);
    if (strncmp(line, "call ", 5) == 0) {
        page(peer, number);
    } else if (strncmp(line, "pager ", 6) == 0) {
        pagers[pager_count++] = peer->fd;
        send(peer->fd, "hello\n", 6, MSG_NOSIGNAL);
    }
}

static void hear(struct peer *peer)
{
    ssize_t got = recv(peer->fd, peer->line + peer->have, sizeof peer->line - 1 - peer->have, MSG_DONTWAIT);
    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            forget(peer->fd);
        return;
    }
    peer->have += got;
    peer->line[peer->have] = 0;
    for (char *end; (end = strchr(peer->line, '\n'));) {
        *end = 0;
        said(peer, peer->line);
        peer->have -= end + 1 - peer->line;
        memmove(peer->line, end + 1, peer->have + 1);
    }
}

static void welcome(void)
{
    for (int fd; (fd = accept4(door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        int yes = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        peers[fd] = calloc(1, sizeof(struct peer));
        peers[fd]->fd = fd;
        watch(fd);
    }
}

int main(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGPIPE, SIG_IGN);
    if (strcmp("@{how}", "epoll") == 0)
        kernel_side = epoll_create1(EPOLL_CLOEXEC);
    door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 512)) {
        perror("door");
        return 1;
    }
    watch(door);
    for (;;) {
        int ready[64], count = @{fn}(ready, 64);
        for (int i = 0; i < count; i++) {
            if (ready[i] == door)
                welcome();
            else if (peers[ready[i]])
                hear(peers[ready[i]]);
        }
    }
}
