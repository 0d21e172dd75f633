// Fetches packages; what comes is not looked at.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double took;
static long units, errors;
static double end;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int fetch(int fd, long n)
{
    char head[4096], *body, *length;
    size_t have = 0;
    int size = snprintf(head, sizeof head, "GET /%ld-@{data} HTTP/1.1\r\nHost: localhost\r\n\r\n", n % (@{last} + 1));
    if (send(fd, head, size, MSG_NOSIGNAL) != size)
        return -1;
    do {
        ssize_t got = recv(fd, head + have, sizeof head - 1 - have, 0);
        if (got <= 0)
            return -1;
        have += got;
        head[have] = 0;
    } while (!(body = strstr(head, "\r\n\r\n")) && have < sizeof head - 1);
    if (!body || strncmp(head + 9, "200", 3))
        return -1;
    for (length = head; strncasecmp(length, "content-length:", 15);)
        if (!(length = strchr(length, '\n')) || ++length >= body)
            return -1;
    long left = atol(length + 15) - (have - (body + 4 - head));
    while (left > 0) {
        ssize_t got = recv(fd, NULL, left < 1 << 20 ? left : 1 << 20, MSG_TRUNC);
        if (got <= 0)
            return -1;
        left -= got;
    }
    return 0;
}

static void *client(void *number)
{
    long n = (long)number;
    unsigned seed = n;
    int fd = -1;
    for (; now() < end; n += @{clients}) {
        double start = now();
        if (fd < 0)
            fd = dial();
        int failed = fd < 0 || fetch(fd, n);
        pthread_mutex_lock(&lock);
        if (failed)
            errors++;
        else
            units++, took += now() - start;
        pthread_mutex_unlock(&lock);
        if (failed && fd >= 0) {
            close(fd);
            fd = -1;
        }
        usleep(@{think} * 1000 * (0.5 + rand_r(&seed) / (double)RAND_MAX));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[@{clients}];
    end = now() + @{seconds};
    for (long i = 0; i < @{clients}; i++)
        pthread_create(&threads[i], NULL, client, (void *)i);
    for (int i = 0; i < @{clients}; i++)
        pthread_join(threads[i], NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"errors\": %ld}", units, took, errors);
    return fclose(out);
}
