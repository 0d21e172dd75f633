#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static char last[256];

static void @{fn}(int client)
{
    struct timeval patience = { 2, 0 };
    char ask[128];

    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t got = read(client, ask, sizeof ask - 1);
    if (got > 0) {
        ask[got] = 0;
        snprintf(last, sizeof last, "%ld %s", (long)time(NULL), ask);
        if (write(client, last, strlen(last)) < 0)
            perror("write");
    }
    close(client);
}

/* The meter on the bus needs its time between two commands. */
static void meter(long millis)
{
    struct timespec pause = { millis / 1000, millis % 1000 * 1000000 };
    if (millis)
        nanosleep(&pause, NULL);
}

int main(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    fcntl(listener, F_SETFL, O_NONBLOCK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, @{backlog}))
        return 1;
    for (;;) {
        struct pollfd ready = { listener, POLLIN, 0 };
        poll(&ready, 1, -1);
        for (int client; (client = accept(listener, NULL, NULL)) >= 0;) {
            fcntl(client, F_SETFL, 0);
            @{fn}(client);
        }
        meter(@{tick});
    }
}
