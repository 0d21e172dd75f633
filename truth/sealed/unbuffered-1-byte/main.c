/* Takes deliveries apart into lines and counts them by their region. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK @{block}

struct input {
    int fd;
    size_t have, next;
    char block[BLOCK];
};

static unsigned long by_region[256], lines;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int next_byte(struct input *in)
{
    if (in->next == in->have) {
        ssize_t n = read(in->fd, in->block, BLOCK);
        if (n <= 0)
            return -1;
        in->have = n;
        in->next = 0;
    }
    return (unsigned char)in->block[in->next++];
}

static int __attribute__((noinline)) @{fn}(struct input *in, char *line, size_t room)
{
    size_t n = 0;
    int c;
    while ((c = next_byte(in)) >= 0 && c != '\n')
        if (n + 1 < room)
            line[n++] = c;
    line[n] = 0;
    return c >= 0 || n > 0;
}

static void @{fn2}(const char *path)
{
    static struct input in;
    char line[1024], key;
    in.fd = open(path, O_RDONLY);
    in.have = in.next = 0;
    for (int i = 0; i < @{heads}; i++)
        if (read(in.fd, &key, 1) == 1)
            by_region[(unsigned char)key]++;
    while (@{fn}(&in, line, sizeof line)) {
        by_region[(unsigned char)line[0]]++;
        lines++;
    }
    close(in.fd);
}

int main(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char path[4096];
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        return 1;
    double rate = @{load} * 2500000.0 / (@{rows} * (double)@{row});
    if (rate > 40)
        rate = 40;
    dprintf(fd, "%.3f %d\n", rate, @{rows});
    FILE *courier = fdopen(fd, "r");
    double began = now(), busy = 0, culprit = 0;
    long units = 0;
    while (now() - began < @{seconds} && fgets(path, sizeof path, courier)) {
        double start = now();
        path[strcspn(path, "\n")] = 0;
        @{fn2}(path);
        culprit += now() - start;
        unlink(path);
        units++;
        busy += now() - start;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    return 0;
}
