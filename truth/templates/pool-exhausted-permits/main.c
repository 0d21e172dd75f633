/* Grants parking permits: which zone somebody lives in, and what it costs for the vehicle. A few processes share the door. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ZONES @{zones}
#define CORNERS @{corners}

struct zone {
    double x[CORNERS], y[CORNERS];
    int cents;
};

static struct zone zones[ZONES];

static void load_zones(void)
{
    for (int z = 0; z < ZONES; z++) {
        double cx = z % 20 * 10, cy = z / 20 * 10;
        for (int c = 0; c < CORNERS; c++) {
            double angle = 2 * M_PI * c / CORNERS, radius = 5.5 + sin(z * 3.7 + c * 1.9);
            zones[z].x[c] = cx + radius * cos(angle);
            zones[z].y[c] = cy + radius * sin(angle);
        }
        zones[z].cents = 900 + z * 131 % 2400;
    }
}

static int is_inside(const struct zone *zone, double x, double y)
{
    int inside = 0;
    for (int i = 0, j = CORNERS - 1; i < CORNERS; j = i++)
        if ((zone->y[i] > y) != (zone->y[j] > y) &&
            x < (zone->x[j] - zone->x[i]) * (y - zone->y[i]) / (zone->y[j] - zone->y[i]) + zone->x[i])
            inside = !inside;
    return inside;
}

/* The share of a street, house by house, that lies in the cheapest zone. */
static int cheapest(long citizen)
{
    int cents = 3300;
    for (int house = 0; house < 120; house++) {
        double x = (citizen * 17 + house * 3) % 200, y = (citizen * 29 + house) % 100;
        for (int z = 0; z < ZONES; z++)
            if (is_inside(&zones[z], x, y) && zones[z].cents < cents)
                cents = zones[z].cents;
    }
    return cents;
}

static int connected(int port)
{
    int on = 1, line = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(line, (struct sockaddr *)&address, sizeof address)) {
        perror("register");
        exit(1);
    }
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return line;
}

static int __attribute__((noinline)) @{fn}(int line, long plate, char *kind, int *emissions)
{
    char text[128];
    ssize_t n = snprintf(text, sizeof text, "plate %ld\n", plate);
    if (write(line, text, n) != n)
        return -1;
    for (ssize_t have = 0; (n = read(line, text + have, sizeof text - 1 - have)) > 0;) {
        have += n;
        text[have] = 0;
        if (strchr(text, '\n'))
            return sscanf(text, "%15s %d", kind, emissions) == 2 ? 0 : -1;
    }
    return -1;
}

static void work(int door)
{
    int line = connected(@{register});
    long granted = 0;
    for (;;) {
        char text[128], kind[16];
        int emissions, client = accept(door, NULL, NULL);
        if (client < 0)
            continue;
        ssize_t n = read(client, text, sizeof text - 1);
        if (n > 0) {
            text[n] = 0;
            long citizen = atol(strchr(text, ' ') ? strchr(text, ' ') : "0");
            if (@{fn}(line, citizen, kind, &emissions))
                exit(1);
            int cents = cheapest(citizen) + emissions * 4 + (strcmp(kind, "lorry") ? 0 : 5000);
            n = snprintf(text, sizeof text, "granted %ld-%ld %s %d.%02d\n", (long)getpid(), ++granted, kind, cents / 100, cents % 100);
            if (write(client, text, n) < 0)
                perror("citizen");
        }
        close(client);
    }
}

int main(void)
{
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    signal(SIGPIPE, SIG_IGN);
    load_zones();
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 128)) {
        perror("door");
        return 1;
    }
    for (int worker = 0; worker < @{workers}; worker++)
        if (!fork())
            work(door);
    while (wait(NULL) > 0)
        ;
    return 1;
}
