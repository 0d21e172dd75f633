#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <pthread.h>
#include <poll.h>

/* A gateway: what comes in on the socket is noted in the audit trail, then answered. */
static int trail;
static double noted;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(const char *text, size_t length)
{
    double start = now();
    for (int i = 0; i < @{lines}; i++)
        if (write(trail, text, length) != (ssize_t)length)
            perror("@{log}");
    noted += now() - start;
}

static unsigned __attribute__((noinline)) checksum(const char *text, size_t length)
{
    unsigned sum = 1;
    for (int round = 0; round < @{rounds} / 30; round++)
        for (size_t i = 0; i < length; i++)
            sum = sum * 31 + text[i];
    return sum;
}

static void *caller(void *argument)
{
    int line = *(int *)argument;
    char message[@{bytes} + 1], answer[16];
    double due = now();
    memset(message, 'q', sizeof message);
    message[sizeof message - 1] = '\n';
    while (write(line, message, sizeof message) > 0 && read(line, answer, sizeof answer) > 0) {
        due += 1.0 / @{per_s};
        double rest = due - now();
        if (rest > 0)
            usleep(rest * 1e6);
        else
            due = now();
    }
    return NULL;
}

int main(void)
{
    int ends[2];
    char message[@{bytes} + 1];
    pthread_t thread;
    double busy = 0, end = now() + @{seconds};
    long units = 0;

    trail = open("@{work}/@{log}", O_WRONLY | O_CREAT | O_APPEND | @{c_flag}, 0640);
    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
    pthread_create(&thread, NULL, caller, &ends[1]);
    while (now() < end) {
        ssize_t got = read(ends[0], message, sizeof message);
        double start = now();
        unsigned sum = checksum(message, got);
        @{fn}(message, got);
        write(ends[0], &sum, sizeof sum);
        busy += now() - start;
        units++;
    }
    shutdown(ends[0], SHUT_RDWR);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, noted);
    fclose(out);
    return 0;
}
