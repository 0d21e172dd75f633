#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int quote(int client, char *ask)
{
    char answer[64];
    int length = snprintf(answer, sizeof answer, "%zu EUR\n", strlen(ask) * 13);
    return write(client, answer, length) == length;
}

static void *@{fn}(void *of)
{
    int client = (int)(intptr_t)of;
    char ask[256];

    for (;;) {
        ssize_t got = read(client, ask, sizeof ask - 1);
        if (got <= 0)
            break;
        ask[got] = 0;
        if (!quote(client, ask))
            break;
    }
    if (@{closes}) {
        usleep((useconds_t)(@{drain} * 1e6));
        close(client);
    }
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 200))
        return 1;
    for (;;) {
        pthread_t thread;
        int client = accept(listener, NULL, NULL);
        if (client >= 0 && !pthread_create(&thread, NULL, @{fn}, (void *)(intptr_t)client))
            pthread_detach(thread);
    }
}
