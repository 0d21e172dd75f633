// Takes in what citizens upload: the master numbers the files, its workers have them scanned and file them.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LANES @{lanes}
#define BYTES @{bytes}
#define LIMIT @{limit}

struct lane {
    volatile double since; // of the file under way; 0: none
    volatile double busy, lost;
    volatile long units;
};

static const int scanners[] = {@{east}, @{west}};
static int lines[] = {-1, -1};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int line_to(int scanner)
{
    if (lines[scanner] >= 0)
        return lines[scanner];
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(scanners[scanner]), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (LIMIT > 0) {
        struct timeval limit = {(time_t)LIMIT, (suseconds_t)((LIMIT - (time_t)LIMIT) * 1e6)};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    if (connect(fd, (struct sockaddr *)&there, sizeof there)) {
        close(fd);
        return -1;
    }
    return lines[scanner] = fd;
}

static size_t framed(char *to, const char *content, uint32_t length)
{
    uint32_t size = htonl(length), end = 0;
    memcpy(to, "INSTREAM\n", 9);
    memcpy(to + 9, &size, 4);
    memcpy(to + 13, content, length);
    memcpy(to + 13 + length, &end, 4);
    return length + 17;
}

// The scanner's verdict on a file: 1 clean, 0 not, -1 none.
static int __attribute__((noinline)) @{fn}(int scanner, const char *content, uint32_t length)
{
    static char message[BYTES + 32];
    char answer[128];
    size_t size = framed(message, content, length), sent = 0, got = 0;
    int fd = line_to(scanner);
    if (fd < 0)
        return -1;
    while (sent < size) {
        ssize_t n = send(fd, message + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            goto gone;
        sent += n;
    }
    while (!got || answer[got - 1] != '\n') {
        ssize_t n = recv(fd, answer + got, sizeof answer - got, 0);
        if (n <= 0)
            goto gone;
        got += n;
    }
    return !memcmp(answer, "stream: OK", 10);
gone:
    close(fd);
    lines[scanner] = -1;
    return -1;
}

static void fill(char *content, uint32_t number)
{
    uint32_t state = number * 2654435761u + 1;
    for (int i = 0; i < BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        content[i] = "abcdefghijklmnopqrstuvwxyz \n .,;"[state >> 27];
    }
}

static void work(int files, struct lane *mine)
{
    static char content[BYTES];
    uint32_t number;
    while (read(files, &number, sizeof number) == sizeof number) {
        double start = now();
        mine->since = start;
        fill(content, number);
        int scanner = number % 2, clean;
        while ((clean = @{fn}(scanner, content, BYTES)) < 0) {
            mine->lost += now() - start;
            scanner = !scanner;
        }
        mine->since = 0;
        mine->busy += now() - start;
        mine->units += clean;
    }
    _exit(0);
}

static void bulletin(void)
{
    int fd = line_to(0);
    char news[256];
    send(fd, "VERSIONS\n", 9, MSG_NOSIGNAL);
    while (recv(fd, news, sizeof news, 0) > 0)
        ;
    _exit(0);
}

int main(void)
{
    struct lane *all = mmap(NULL, LANES * sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[LANES + 1];
    int files[2], count = 0;
    if (all == MAP_FAILED || pipe(files))
        return 1;
    for (; count < LANES; count++)
        if (!(children[count] = fork())) {
            close(files[1]);
            work(files[0], &all[count]);
        }
    if (@{bulletin} && !(children[count++] = fork()))
        bulletin();
    double began = now();
    for (uint32_t number = 1; now() - began < @{seconds}; number++) {
        if (write(files[1], &number, sizeof number) < 0)
            return 1;
        double rest = began + number / @{rate} - now();
        if (rest > 0) {
            struct timespec pause = {(time_t)rest, (long)((rest - (time_t)rest) * 1e9)};
            nanosleep(&pause, NULL);
        }
    }
    long units = 0;
    double busy = 0, lost = 0, end = now();
    for (struct lane *one = all; one < all + LANES; one++) {
        double hanging = one->since ? end - one->since : 0;
        units += one->units;
        busy += one->busy + hanging;
        lost += one->lost + hanging;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, lost);
    fclose(out);
    while (count-- > 0) {
        kill(children[count], SIGTERM);
        waitpid(children[count], NULL, 0);
    }
    return 0;
}
