/* Sends the brochures of the orders to the press. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct order {
    long number;
    int brochure, copies;
    double price;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void put(int to, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = send(to, bytes, size, MSG_NOSIGNAL);
        if (n < 0)
            die("press");
        bytes += n;
        size -= n;
    }
}

static void stamp(char *piece, size_t size, const struct order *order)
{
    for (size_t at = 0; at < size; at++)
        piece[at] ^= (order->number * 131 + at) & 1;
}

__attribute__((noinline)) static void @{fn}(int press, int sheet, off_t size, const struct order *order)
{
    static char piece[@{piece_kb} * 1024];
    if (!strcmp("@{way}", "whole")) {
        off_t at = 0;
        while (at < size)
            if (sendfile(press, sheet, &at, size - at) <= 0)
                die("sendfile");
        return;
    }
    ssize_t n;
    while ((n = read(sheet, piece, sizeof piece)) > 0) {
        if (@{stamp})
            stamp(piece, n, order);
        put(press, piece, n);
    }
}

static struct order next_order(long number)
{
    struct order order = {number, number % (@{last} + 1), 1 + number * 7 % 40, 0};
    for (int copy = 0; copy < order.copies; copy++)
        order.price += 0.4 / (1 + copy * 0.02);
    return order;
}

int main(void)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int press = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(press, (struct sockaddr *)&there, sizeof there) < 0)
        die("press");
    double began = now(), busy = 0, sending = 0, income = 0;
    long units = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        struct order order = next_order(units);
        char path[512], head[64], answer[8];
        snprintf(path, sizeof path, "@{work}/@{shelf}/sheet-%d.@{ending}", order.brochure);
        int sheet = open(path, O_RDONLY);
        struct stat about;
        if (sheet < 0 || fstat(sheet, &about) < 0)
            die(path);
        memset(head, ' ', sizeof head);
        head[snprintf(head, sizeof head, "print %lld %d", (long long)about.st_size, order.copies)] = ' ';
        put(press, head, sizeof head);
        double from = now();
        @{fn}(press, sheet, about.st_size, &order);
        sending += now() - from;
        close(sheet);
        /* A few may be on the press at once. */
        if (units >= 8 && recv(press, answer, 3, MSG_WAITALL) != 3)
            die("press");
        income += order.price;
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"income\": %.2f}", units, busy, sending, income);
    return fclose(out);
}
