/* Sends ambulances: each call gets the one that is there first. The statistics of the shift are kept from the same board. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CARS = 240 };

struct car {
    double x, y;
    int is_busy;
    unsigned long tours;
};

static struct {
    pthread_mutex_t lock;
    struct car cars[CARS];
} board = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_int is_over;
static double hours[24];

static double clock_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

static void rest(double seconds)
{
    if (seconds > 0) {
        struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
        nanosleep(&t, NULL);
    }
}

/* How the cars are spread over the town, hour by hour. */
static void __attribute__((noinline)) @{fn}(const struct car *cars)
{
    double until = clock_of(CLOCK_THREAD_CPUTIME_ID) + @{hold_ms} / 1000;
    do {
        for (int hour = 0; hour < 24; hour++)
            for (int i = 0; i < CARS; i++)
                hours[hour] += sqrt(cars[i].x * hour + cars[i].y) * 1e-6;
    } while (clock_of(CLOCK_THREAD_CPUTIME_ID) < until);
}

static void *keep(void *unused)
{
    static struct car copy[CARS];
    setpriority(PRIO_PROCESS, 0, @{nice});
    while (!is_over) {
        pthread_mutex_lock(&board.lock);
        if (@{short})
            memcpy(copy, board.cars, sizeof copy);
        else
            @{fn}(board.cars);
        pthread_mutex_unlock(&board.lock);
        if (@{short})
            @{fn}(copy);
        rest(@{gap_ms} / 1000.0);
    }
    return unused;
}

/* The way through the streets, about. */
static double way(const struct car *car, double x, double y)
{
    double length = 0;
    for (int step = 1; step <= @{effort}; step++)
        length += hypot(car->x - x / step, car->y - y * step) / step;
    return length;
}

static double waited;

static int @{fn2}(unsigned long call)
{
    double x = call * 7919 % 1000, y = call * 104729 % 1000, least = 1e18;
    int best = -1;
    double asked = now();
    pthread_mutex_lock(&board.lock);
    waited += now() - asked;
    for (int i = 0; i < CARS; i++) {
        double length = way(&board.cars[i], x, y);
        if (!board.cars[i].is_busy && length < least) {
            least = length;
            best = i;
        }
    }
    if (best >= 0) {
        board.cars[best] = (struct car){ x, y, 1, board.cars[best].tours + 1 };
        board.cars[(best + 97) % CARS].is_busy = 0;
    }
    pthread_mutex_unlock(&board.lock);
    return best;
}

int main(void)
{
    pthread_t keeper;
    FILE *group = fopen("/sys/fs/cgroup/cpu/@{slice}/cgroup.procs", "w");
    if (group) {
        fprintf(group, "0");
        fclose(group);
    }
    for (int i = 0; i < CARS; i++)
        board.cars[i] = (struct car){ i * 37 % 1000, i * 91 % 1000, 0, 0 };
    if (setpriority(PRIO_PROCESS, 0, -10))
        perror("priority");
    pthread_create(&keeper, NULL, keep, NULL);
    pthread_setname_np(keeper, "@{low}");

    long units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due = fmax(due + 1.0 / @{rate}, now());
        rest(due - now());
        double start = now();
        int car = @{fn2}(units);
        if (car < 0)
            printf("no car for call %ld\n", units);
        busy += now() - start;
        units++;
    }
    is_over = 1;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
    exit(0);
}
