/* Says where the planets stand, and draws the pictures of the dome ahead of the show. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct planet {
    const char *name;
    double period, e, axis;
} planets[] = { { "Mercury", 87.97, 0.2056, 0.387 }, { "Venus", 224.7, 0.0068, 0.723 }, { "Mars", 686.98, 0.0934, 1.524 },
                { "Jupiter", 4332.6, 0.0485, 5.203 }, { "Saturn", 10759, 0.0555, 9.537 } };

static double kepler(double mean, double e)
{
    double angle = mean;
    for (int i = 0; i < 12; i++)
        angle -= (angle - e * sin(angle) - mean) / (1 - e * cos(angle));
    return angle;
}

/* The way of each planet through the night, and when it is highest. */
static int sky(long day, char *out, size_t room)
{
    size_t used = 0;
    int steps = @{effort} * 50;
    for (size_t p = 0; p < sizeof planets / sizeof *planets; p++) {
        double highest = -1e9;
        int best = 0;
        for (int step = 0; step < steps; step++) {
            double t = day + step / (double)steps, angle = kepler(2 * M_PI * t / planets[p].period, planets[p].e);
            double height = planets[p].axis * (1 - planets[p].e * cos(angle)) * sin(2 * M_PI * t + angle);
            if (height > highest) {
                highest = height;
                best = step;
            }
        }
        used += snprintf(out + used, room - used, "%s %.4f %.2f\n", planets[p].name, highest, best * 24.0 / steps);
    }
    return used;
}

/* One picture of the dome after the other. */
static void __attribute__((noinline)) @{fn}(int picture)
{
    static volatile double line[@{width}];
    for (;; picture++)
        for (int y = 0; y < @{width}; y++)
            for (int x = 0; x < @{width}; x++)
                line[x] += exp(-((x * 7919L + y * 104729L + picture) % 997) / 90.0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < @{painters}; i++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, "@{painter}");
            setpriority(PRIO_PROCESS, 0, @{nice});
            @{fn}(i * 1000);
        }
    }
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr = { htonl(INADDR_LOOPBACK) } };
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 64)) {
        perror("port");
        return 1;
    }
    for (;;) {
        int client = accept(listener, NULL, NULL);
        char ask[4096], body[2048], head[256];
        ssize_t got;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        while ((got = read(client, ask, sizeof ask - 1)) > 0) {
            ask[got] = 0;
            char *number = strstr(ask, "/sky/");
            int length = sky(number ? atol(number + 5) : 0, body, sizeof body);
            int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", length);
            memmove(body + n, body, length);
            memcpy(body, head, n);
            if (write(client, body, n + length) < 0)
                break;
        }
        close(client);
    }
}
