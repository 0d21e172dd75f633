// Prints numbered vouchers: processes that were forked before share one book of numbers, first come first served.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct tally {
    long units;
    double busy, waited;
};

struct book {
    pthread_mutex_t inner;
    int taken, first, waiting, line[@{workers}];
    sem_t turn[@{workers}];
    long next;
    double level;
    struct tally tallies[@{workers}];
};

static struct book *@{gate};
static int me;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void open_book(void)
{
    pthread_mutexattr_t shared;
    @{gate} = mmap(NULL, sizeof *@{gate}, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&@{gate}->inner, &shared);
    for (int i = 0; i < @{workers}; i++)
        sem_init(&@{gate}->turn[i], 1, 0);
}

static void enter(void)
{
    pthread_mutex_lock(&@{gate}->inner);
    int free = !@{gate}->taken;
    if (free)
        @{gate}->taken = 1;
    else
        @{gate}->line[(@{gate}->first + @{gate}->waiting++) % @{workers}] = me;
    pthread_mutex_unlock(&@{gate}->inner);
    while (!free && sem_wait(&@{gate}->turn[me]))
        ;
}

static void leave(void)
{
    pthread_mutex_lock(&@{gate}->inner);
    int next = -1;
    if (@{gate}->waiting) {
        next = @{gate}->line[@{gate}->first];
        @{gate}->first = (@{gate}->first + 1) % @{workers};
        @{gate}->waiting--;
    } else {
        @{gate}->taken = 0;
    }
    pthread_mutex_unlock(&@{gate}->inner);
    if (next >= 0)
        sem_post(&@{gate}->turn[next]);
}

static long __attribute__((noinline)) @{fn}(int many, struct tally *tally)
{
    double asked = now();
    enter();
    tally->waited += now() - asked;
    for (int step = 0; step < 200; step++)
        @{gate}->level = @{gate}->level * 0.99 + many + step % 3;
    long first = @{gate}->next;
    @{gate}->next += many;
    asked = now();
    leave();
    tally->waited += now() - asked;
    return first;
}

static unsigned long voucher(long number)
{
    char text[120];
    unsigned long sum = number;
    int length = snprintf(text, sizeof text, "Voucher %08ld: one coffee, to be had until the end of the year", number);
    for (int round = 0; round < @{effort} * 3; round++)
        for (int i = 0; i < length; i++)
            sum = (sum ^ (text[i] + round)) * 1099511628211ul;
    return sum;
}

static unsigned long sheet(struct tally *tally)
{
    unsigned long sum = 0;
    long first = @{each} ? 0 : @{fn}(@{messages}, tally);
    for (int i = 0; i < @{messages}; i++)
        sum ^= voucher(@{each} ? @{fn}(1, tally) : first + i);
    return sum;
}

static int work(double began)
{
    struct tally *tally = &@{gate}->tallies[me];
    unsigned long sum = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        sum ^= sheet(tally);
        tally->units++;
        tally->busy += now() - start;
        double rest = began + (tally->units + me / (double)@{workers}) / @{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    return sum == 42;
}

int main(void)
{
    struct tally all = { 0 };
    open_book();
    double began = now();
    for (me = 0; me < @{workers}; me++)
        if (fork() == 0)
            exit(work(began));
    while (wait(NULL) > 0)
        ;
    for (int i = 0; i < @{workers}; i++) {
        all.units += @{gate}->tallies[i].units;
        all.busy += @{gate}->tallies[i].busy;
        all.waited += @{gate}->tallies[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    fclose(out);
    return 0;
}
