#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Publishes the readings of meters. */
struct link {
    int fd;
    double spent;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void link_open(struct link *l)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(@{back}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    l->fd = socket(AF_INET, SOCK_STREAM, 0);
    l->spent = 0;
    if (connect(l->fd, (struct sockaddr *)&to, sizeof to))
        exit(3);
}

static int __attribute__((noinline)) @{fn}(struct link *l, const char *topic, const char *body, size_t length)
{
    char head[64], answer[64];
    double began = now();
    struct iovec part[2] = { { head, snprintf(head, sizeof head, "PUT %s %zu\n", topic, length) }, { (void *)body, length } };
    if (@{split}) {
        for (int i = 0; i < 2; i++)
            if (send(l->fd, part[i].iov_base, part[i].iov_len, 0) < 0)
                exit(4);
    } else if (writev(l->fd, part, 2) < 0)
        exit(4);
    ssize_t n = recv(l->fd, answer, sizeof answer, 0);
    l->spent += now() - began;
    return n > 2 && !memcmp(answer, "OK", 2);
}

int main(void)
{
    struct link broker;
    static char body[@{bytes} + 32];
    double began = now(), busy = 0;
    long units = 0;
    unsigned long state = 1;
    link_open(&broker);
    while (now() - began < @{seconds}) {
        double start = now();
        for (size_t r = 0; r < @{rounds}; r++)
            for (int i = 0; i < @{bytes}; i++)
                body[i] = 'a' + (state = state * 6364136223846793005ul + 1) % 26;
        if (!@{fn}(&broker, "meter", body, @{bytes}))
            return 5;
        units++;
        busy += now() - start;
        double rest = began + units / @{pace} - now();
        if (rest > 0)
            nanosleep(&(struct timespec){ (time_t)rest, (long)((rest - (time_t)rest) * 1e9) }, NULL);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, broker.spent);
    fclose(out);
    return 0;
}
