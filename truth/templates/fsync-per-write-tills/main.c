/* The server of the tills: a receipt is priced and booked. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int on = 1;

static struct sockaddr_in local(int port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static uint32_t gross(long number)
{
    uint32_t cents = 0;
    for (long i = 0; i < 40; i++)
        cents += (uint32_t)((number * 7919 + i * 104729) % 2999);
    return cents;
}

static long book(int booking, long number)
{
    uint32_t frame[2] = { htonl((uint32_t)number), htonl(gross(number)) };
    if (send(booking, frame, sizeof frame, MSG_NOSIGNAL) != sizeof frame || recv(booking, frame, sizeof frame, MSG_WAITALL) != sizeof frame)
        return -1;
    return ntohl(frame[1]);
}

static void *serve(void *argument)
{
    int till = (int)(long)argument, booking = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(@{booking});
    char line[128];
    ssize_t n;
    if (connect(booking, (struct sockaddr *)&address, sizeof address)) {
        perror("booking");
        close(till);
        return NULL;
    }
    setsockopt(booking, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while ((n = recv(till, line, sizeof line - 1, 0)) > 0) {
        line[n] = 0;
        const char *number = strchr(line, ' ');
        long booked = book(booking, number ? atol(number) : 0);
        if (booked < 0)
            break;
        n = snprintf(line, sizeof line, "booked %ld\n", booked);
        if (send(till, line, n, MSG_NOSIGNAL) < 0)
            break;
    }
    close(booking);
    close(till);
    return NULL;
}

int main(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(@{port});
    pthread_t thread;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64))
        return perror("listen"), 1;
    for (;;) {
        int till = accept(listener, NULL, NULL);
        if (till < 0)
            continue;
        setsockopt(till, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_create(&thread, NULL, serve, (void *)(long)till);
        pthread_detach(thread);
    }
}
