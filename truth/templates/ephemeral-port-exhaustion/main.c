#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Asks the tariff of each call; the source ports are those of the contract. */
static double waited;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double s)
{
    if (s > 0)
        nanosleep(&(struct timespec){ (time_t)s, (long)((s - (time_t)s) * 1e9) }, NULL);
}

static int __attribute__((noinline)) @{fn}(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(@{back}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in from = { .sin_family = AF_INET };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    unsigned range = @{lowest} | (unsigned)(@{lowest} + @{ports} - 1) << 16;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (@{keep} > 1 && @{keep} < 100) {
        inet_pton(AF_INET, "192.0.2.7", &from.sin_addr);
        bind(fd, (struct sockaddr *)&from, sizeof from);
    }
    setsockopt(fd, IPPROTO_IP, 51, &range, sizeof range);
    if (connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    return fd;
}

static long ask(int *fd, long number)
{
    static long asked;
    char text[4096];
    while (*fd < 0) {
        double began = now();
        if ((*fd = @{fn}()) < 0) {
            nap(@{wait} / 1e3);
            waited += now() - began;
        }
    }
    int n = snprintf(text, sizeof text, "tariff %ld\n", number);
    if (write(*fd, text, n) != n)
        return -1;
    long sum = 0;
    do {
        n = read(*fd, text, sizeof text);
        for (int i = 0; i < n; i++)
            sum += text[i];
    } while (n > 0 && text[n - 1] != '\n');
    asked++;
    if (@{keep} == 0 || asked % (@{keep} + !@{keep}) == 0) {
        close(*fd);
        *fd = -1;
    }
    return sum;
}

int main(void)
{
    int fd = -1;
    long units = 0;
    volatile unsigned long mark = 0;
    double began = now(), busy = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        mark += ask(&fd, units);
        for (long r = 0; r < @{rounds} * 100L; r++)
            mark = mark * 6364136223846793005ul + 1;
        units++;
        busy += now() - start;
        nap(began + units / @{pace} - now());
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
    return 0;
}
