#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The relay's address; another one may take over. */
static unsigned __attribute__((noinline)) @{fn}(const char *name)
{
    static __thread double asked = -1;
    static __thread unsigned address;
    double time = now();
    if (asked < 0 || time - asked >= @{ttl}) {
        struct hostent entry, *found = NULL;
        char space[4096];
        int error;
        if (gethostbyname_r(name, &entry, space, sizeof space, &found, &error) == 0 && found)
            memcpy(&address, found->h_addr_list[0], 4);
        asked = time;
    }
    return address;
}

static unsigned @{fn2}(unsigned value)
{
    for (int i = 0; i < @{extra} * 20; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

static void *serve(void *given)
{
    int fd = (int)(long)given;
    FILE *in = fdopen(fd, "r");
    char line[500], answer[100];
    while (fgets(line, sizeof line, in)) {
        unsigned sum = 0;
        for (int i = 0; i < @{looks}; i++)
            sum += @{fn2}(@{fn}("localhost") + i);
        int size = snprintf(answer, sizeof answer, "routed %u\n", sum);
        if (write(fd, answer, size) != size)
            break;
    }
    fclose(in);
    return NULL;
}

int main(void)
{
    int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}) };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server, (struct sockaddr *)&at, sizeof at) || listen(server, 64)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int fd = accept(server, NULL, NULL);
        pthread_t thread;
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        pthread_create(&thread, NULL, serve, (void *)(long)fd);
        pthread_detach(thread);
    }
}
