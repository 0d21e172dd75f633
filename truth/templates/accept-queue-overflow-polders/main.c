/* The station of a water board: takes the gauges' levels, and answers how far the pumps should open. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOURS = 240 };

static int __attribute__((noinline)) @{fn}(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, @{waiting})) {
        perror("station");
        exit(1);
    }
    return door;
}

/* Fits a tide of each period to the levels, and takes the best one. */
static double forecast(const double *level, int hours)
{
    double best = 0, next = 0;
    for (int period = 60; period < 500; period++) {
        double sine = 0, cosine = 0;
        for (int hour = 0; hour < hours; hour++) {
            double angle = 2 * M_PI * hour * 10 / period;
            sine += level[hour] * sin(angle);
            cosine += level[hour] * cos(angle);
        }
        double power = sine * sine + cosine * cosine;
        if (power > best) {
            best = power;
            next = atan2(sine, cosine);
        }
    }
    return next;
}

static void report(int gauge)
{
    char text[4096];
    size_t got = 0;
    while (got < sizeof text - 1) {
        ssize_t part = read(gauge, text + got, sizeof text - 1 - got);
        if (part <= 0)
            return;
        got += part;
        if (text[got - 1] == '\n')
            break;
    }
    text[got] = 0;
    double level[HOURS];
    int hours = 0;
    char *at = strchr(text, ' ');
    while (at && hours < HOURS) {
        level[hours++] = strtol(at + 1, &at, 10);
        at = *at == ' ' ? at : NULL;
    }
    int length = snprintf(text, sizeof text, "pumps %d\n", (int)(forecast(level, hours) * 100));
    if (write(gauge, text, length) != length)
        perror("gauge");
}

int main(void)
{
    int door = @{fn}();
    for (;;) {
        int gauge = accept4(door, NULL, NULL, SOCK_CLOEXEC);
        if (gauge < 0)
            continue;
        report(gauge);
        close(gauge);
    }
}
