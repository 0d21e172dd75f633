/* The office of a quarry's weighbridge: a process for each terminal, one for the cashier, one for the cabin that talks to the scale. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct weighing {
    long truck, kilos, cents;
};

static const struct sockaddr_un desk_address = { .sun_family = AF_UNIX, .sun_path = "@{desk}" };

static struct sockaddr_in local(int port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Asks the scale, for whoever is at the other end of `line`. */
static void cabin(int line)
{
    int scale = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = local(@{scale});
    struct weighing one;
    char text[64];

    if (connect(scale, (struct sockaddr *)&address, sizeof address))
        fail("scale");
    while (recv(line, &one, sizeof one, 0) == sizeof one) {
        int length = snprintf(text, sizeof text, "%ld\n", one.truck);
        if (send(scale, text, length, 0) < 0)
            fail("scale");
        ssize_t n = recv(scale, text, sizeof text - 1, 0);
        if (n <= 0)
            fail("scale");
        text[n] = 0;
        one.kilos = atol(text);
        if (send(line, &one, sizeof one, 0) < 0)
            break;
    }
    exit(0);
}

static long price(long kilos)
{
    static const long limits[] = { 7500, 12000, 18000, 26000, 40000 };
    long cents = 900;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (kilos > limits[i])
            cents += 350;
    return cents;
}

/* Takes one weighing after the other, as there is one scale. */
static void cashier(int desk, int cabin_line)
{
    struct weighing one;
    struct sockaddr_un who;
    socklen_t size = sizeof who;

    while (recvfrom(desk, &one, sizeof one, 0, (struct sockaddr *)&who, &size) == sizeof one) {
        if (send(cabin_line, &one, sizeof one, 0) < 0 || recv(cabin_line, &one, sizeof one, 0) != sizeof one)
            fail("cabin");
        one.cents = price(one.kilos);
        sendto(desk, &one, sizeof one, 0, (struct sockaddr *)&who, size);
        size = sizeof who;
    }
    exit(0);
}

static void __attribute__((noinline)) @{fn}(int desk, struct weighing *one)
{
    if (send(desk, one, sizeof *one, 0) < 0 || recv(desk, one, sizeof *one, 0) != sizeof *one)
        fail("cashier");
}

/* The mark that a note is proved by. */
static uint64_t mark(const char *text, size_t length)
{
    uint64_t mark = 14695981039346656037u;
    for (int round = 0; round < @{rounds}; round++)
        for (size_t i = 0; i < length; i++)
            mark = (mark ^ (unsigned char)text[i]) * 1099511628211u;
    return mark;
}

static void terminal(int line)
{
    struct sockaddr_un own = { .sun_family = AF_UNIX };
    int desk = socket(AF_UNIX, SOCK_DGRAM, 0), on = 1;
    FILE *in = fdopen(line, "r");
    char text[160], note[256];

    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(desk, (struct sockaddr *)&own, sizeof own.sun_family) || connect(desk, (struct sockaddr *)&desk_address, sizeof desk_address))
        fail("desk");
    while (fgets(text, sizeof text, in)) {
        struct weighing one = { 0 };
        if (sscanf(text, "weigh %ld", &one.truck) != 1)
            break;
        @{fn}(desk, &one);
        int length = snprintf(note, sizeof note, "truck %ld: %ld kg, %ld.%02ld euro", one.truck, one.kilos, one.cents / 100, one.cents % 100);
        length += snprintf(note + length, sizeof note - length, ", mark %016lx\n", (unsigned long)mark(note, length));
        if (send(line, note, length, MSG_NOSIGNAL) < 0)
            break;
    }
    exit(0);
}

int main(void)
{
    int pair[2], on = 1, desk = socket(AF_UNIX, SOCK_DGRAM, 0), door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(@{port});

    signal(SIGCHLD, SIG_IGN);
    if (bind(desk, (struct sockaddr *)&desk_address, sizeof desk_address) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
        fail("desk");
    if (!fork())
        cabin(pair[1]);
    if (!fork())
        cashier(desk, pair[0]);
    close(desk);
    close(pair[0]);
    close(pair[1]);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 32))
        fail("door");
    for (;;) {
        int line = accept(door, NULL, NULL);
        if (line >= 0 && !fork()) {
            close(door);
            terminal(line);
        }
        close(line);
    }
}
