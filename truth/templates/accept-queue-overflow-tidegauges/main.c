/* The station of the tide gauges: takes their levels, and answers with the deviation from what was predicted. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEPT 200

struct gauge {
    char name[24];
    double level[KEPT];
    int count;
};

static struct gauge gauges[64];

static int __attribute__((noinline)) @{fn}(int port)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int yes = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&place, sizeof place) || listen(door, @{queue})) {
        perror("station");
        exit(1);
    }
    return door;
}

static struct gauge *gauge_of(const char *name)
{
    for (int i = 0; i < 64; i++) {
        if (!gauges[i].name[0])
            strcpy(gauges[i].name, name);
        if (!strcmp(gauges[i].name, name))
            return &gauges[i];
    }
    return gauges;
}

/* What the tide would be without wind, by the harmonics of the place. */
static double predicted(int at)
{
    double sum = 0;
    for (int step = 0; step < 8000; step++)
        for (int term = 0; term < @{terms}; term++)
            sum += cos((at + step) / (12.42 + term) + term) / (term + 1);
    return 300 + sum / 8000;
}

static void serve(int call)
{
    char line[128], name[24], answer[96];
    double level;
    ssize_t got = read(call, line, sizeof line - 1);

    if (got <= 0)
        return;
    line[got] = 0;
    if (sscanf(line, "%23s %lf", name, &level) != 2)
        return;
    struct gauge *gauge = gauge_of(name);
    gauge->level[gauge->count++ % KEPT] = level;
    int size = snprintf(answer, sizeof answer, "%s %.2f\n", name, level - predicted(gauge->count));
    if (send(call, answer, size, MSG_NOSIGNAL) < 0)
        perror("gauge");
}

int main(void)
{
    int door = @{fn}(@{port});
    for (;;) {
        int call = accept(door, NULL, NULL);
        if (call < 0)
            continue;
        serve(call);
        close(call);
    }
}
