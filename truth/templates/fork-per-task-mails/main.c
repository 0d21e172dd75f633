/* Mails the permits of a town hall: senders take the numbers that are due from a pipe. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

extern char **environ;

enum { SIZE = @{kb} * 1024 };

#define BITS (strcmp("@{tool}", "base64") ? 5u : 6u)

static int due[2];
static pthread_mutex_t sums = PTHREAD_MUTEX_INITIALIZER;
static long units;
static double busy, coding;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The permit in letters, by the program of the system. */
static __attribute__((noinline)) size_t @{fn}(const unsigned char *content, size_t size, char *text, size_t room)
{
    char *words[] = { "@{tool}", "-w", "76", NULL };
    int in[2], out[2];
    size_t got = 0;
    ssize_t n;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    int error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (!error && write(in[1], content, size) < (ssize_t)size)
        perror(words[0]);
    close(in[1]);
    while (!error && (n = read(out[0], text + got, room - got)) > 0)
        got += n;
    close(out[0]);
    if (!error)
        waitpid(child, NULL, 0);
    return got;
}

static size_t in_letters(const unsigned char *content, size_t size, char *text)
{
    const char *letters = BITS == 6 ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned bits = 0, held = 0, column = 0;
    size_t at = 0;
    for (size_t i = 0; i < size; i++) {
        bits = bits << 8 | content[i];
        for (held += 8; held >= BITS; held -= BITS) {
            text[at++] = letters[bits >> (held - BITS) & ((1 << BITS) - 1)];
            if (++column == 76) {
                text[at++] = '\n';
                column = 0;
            }
        }
    }
    if (held)
        text[at++] = letters[bits << (BITS - held) & ((1 << BITS) - 1)];
    text[at++] = '\n';
    return at;
}

static void permit(unsigned char *content, int number)
{
    for (int i = 0; i < SIZE; i++)
        content[i] = number * 31 + i * (i >> 5);
}

static void *sender(void *given)
{
    unsigned char *content = malloc(SIZE);
    char *text = malloc(SIZE * 2 + 100), name[4096];
    int number;
    snprintf(name, sizeof name, "@{work}/@{outbox}/sender-%ld.mbox", (long)given);
    FILE *out = fopen(name, "w");
    while (read(due[0], &number, sizeof number) == sizeof number) {
        double start = now(), before;
        permit(content, number);
        before = now();
        size_t length = !strcmp("@{coder}", "program") ? @{fn}(content, SIZE, text, SIZE * 2 + 100) : in_letters(content, SIZE, text);
        double took = now() - before;
        if (ftell(out) > 4000000)
            rewind(out);
        fprintf(out, "To: citizen-%d@example.org\nSubject: Your permit\nContent-Transfer-Encoding: @{tool}\n\n", number);
        fwrite(text, 1, length, out);
        pthread_mutex_lock(&sums);
        units++;
        busy += now() - start;
        coding += took;
        pthread_mutex_unlock(&sums);
        if (@{every} && number % (@{every} + !@{every}) == 0)
            @{fn}((const unsigned char *)name, strlen(name), text, SIZE);
    }
    fclose(out);
    free(text);
    free(content);
    return NULL;
}

int main(void)
{
    pthread_t senders[@{senders}];
    if (pipe2(due, O_CLOEXEC))
        return 1;
    fcntl(due[1], F_SETPIPE_SZ, 4096);
    for (int i = 0; i < @{senders}; i++)
        pthread_create(&senders[i], NULL, sender, (void *)(long)i);
    double began = now(), rest;
    for (int number = 1; now() - began < @{seconds}; number++) {
        if (write(due[1], &number, sizeof number) < 0)
            return 1;
        if ((rest = began + number / (double)@{rate} - now()) > 0) {
            struct timespec t = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&t, NULL);
        }
    }
    close(due[1]);
    for (int i = 0; i < @{senders}; i++)
        pthread_join(senders[i], NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, coding);
    fclose(out);
    return 0;
}
