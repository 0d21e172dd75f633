/* Keeps a journal of frames. One thread collects the frames of a period, another one stores them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAME @{bytes}
#define FRAMES @{used}
#define ROOM (48l << 20)

struct stored {
    int fd;
    off_t at;
};

static struct stored stores[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, closed;
static char frames[2][FRAME];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(struct stored *to, const char *frame)
{
    if (to->at + FRAME > ROOM)
        to->at = lseek(to->fd, 0, SEEK_SET);
    if (write(to->fd, frame, FRAME) != FRAME)
        abort();
    to->at += FRAME;
}

static void *store(void *argument)
{
    double *spent = argument;
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (!waiting && !closed)
            pthread_cond_wait(&changed, &mutex);
        int none = !waiting;
        waiting -= !none;
        pthread_mutex_unlock(&mutex);
        if (none)
            return NULL;
        double start = now();
        for (int i = 0; i < FRAMES; i++) {
            char *frame = frames[i % 2];
            memcpy(frame, &i, sizeof i);
            @{fn}(&stores[0], frame);
            double begun = now();
            for (int n = 1; n < @{targets}; n++)
                @{fn}(&stores[n], frame);
            spent[1] += now() - begun;
        }
        spent[0] += now() - start;
        spent[2]++;
    }
}

int main(void)
{
    const char *names[] = { "@{work}/@{journal}", "@{work}/@{second}" };
    double spent[3] = { 0 }, rate = @{load} * 1e9 / (@{block} * (double)@{blocks}), began;
    pthread_t thread;
    for (int i = 0; i < @{targets}; i++)
        if ((stores[i].fd = open(names[i], O_WRONLY | O_CREAT | O_TRUNC, 0644)) < 0)
            return 1;
    for (int i = 0; i < FRAME; i++)
        frames[0][i] = frames[1][i] = 'a' + i % 23;
    if (rate > 300)
        rate = 300;
    pthread_create(&thread, NULL, store, spent);
    began = now();
    for (long n = 1; now() - began < @{seconds}; n++) {
        pthread_mutex_lock(&mutex);
        if (waiting < 2)
            waiting++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
        double rest = began + n / rate - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    pthread_mutex_lock(&mutex);
    closed = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %.0f, \"seconds\": %f, \"culprit\": %f}", spent[2], spent[0], spent[1]);
    return fclose(out);
}
