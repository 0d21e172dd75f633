#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WORKERS @{workers}

struct worker {
    pthread_t thread;
    int number;
    long units;
    double busy, looked;
    time_t seen;
    double last;
    unsigned sum;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline)) @{fn}(struct worker *self)
{
    double asked = now();
    if (self->last && asked - self->last < @{recheck})
        return;
    self->last = asked;
    struct stat st;
    if (stat("@{work}/@{deep}/@{watched}", &st) == 0 && st.st_mtime != self->seen)
        self->seen = st.st_mtime;
    self->looked += now() - asked;
}

static unsigned @{fn2}(struct worker *self, unsigned line)
{
    for (int i = 0; i < @{extra}; i++)
        line = line * 1664525u + (unsigned)self->seen;
    return line;
}

static void *deliver(void *given)
{
    struct worker *self = given;
    while (now() - began < @{seconds}) {
        double start = now();
        for (unsigned line = 0; line < @{lines}; line++) {
            @{fn}(self);
            self->sum += @{fn2}(self, line);
        }
        self->units++;
        self->busy += now() - start;
        double rest = began + self->units * WORKERS / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

int main(void)
{
    static struct worker workers[WORKERS];
    long units = 0;
    double busy = 0, looked = 0;
    unsigned sum = 0;

    began = now();
    for (int i = 0; i < WORKERS; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, deliver, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        units += workers[i].units;
        busy += workers[i].busy;
        looked += workers[i].looked;
        sum += workers[i].sum;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"odd\": %u}", units, busy, looked, sum & 1);
    fclose(out);
    return 0;
}
