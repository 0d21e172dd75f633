// Packs orders of seeds into crates, by several packers, and keeps the stock of the sorts. The counter at the door has the same stock card open.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct wish {
    int sort, grams;
};

struct tally {
    long crates;
    double busy, waited;
};

struct hall {
    long left[@{sorts}];
    struct tally tallies[@{packers}];
};

static struct hall *@{card};
static struct tally *mine;
static int turn = -1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void sweep(int number)
{
    semctl(turn, 0, IPC_RMID);
    if (number)
        _exit(1);
}

static void step(int by)
{
    struct sembuf one = { 0, by, 0 };
    double asked = now();
    if (semop(turn, &one, 1)) {
        perror("semop");
        exit(1);
    }
    mine->waited += now() - asked;
}

// Takes so many grams of each of these sorts from the stock.
static void __attribute__((noinline)) @{fn}(const struct wish *wishes, int many)
{
    step(-1);
    for (int i = 0; i < many; i++) {
        long *left = &@{card}->left[wishes[i].sort];
        *left -= wishes[i].grams;
        if (*left < 0)
            *left += 50000;
    }
    step(1);
}

static unsigned label(long order, const struct wish *bag)
{
    char text[96];
    int length = snprintf(text, sizeof text, "Order %06ld  sort %04d  %4d g  sow from March", order, bag->sort, bag->grams);
    unsigned check = 0;
    for (int round = 0; round < @{effort} * 20; round++)
        for (int i = 0; i < length; i++)
            check = check * 31 + text[i] + round;
    return check;
}

static unsigned crate(long order)
{
    struct wish bags[@{bags}];
    unsigned check = 0;
    for (int i = 0; i < @{bags}; i++) {
        bags[i].sort = (order * 7919 + i * 104729L) % @{sorts};
        bags[i].grams = 5 + (order + i) % 40;
        if (@{each})
            @{fn}(&bags[i], 1);
        check ^= label(order, &bags[i]);
    }
    if (!@{each})
        @{fn}(bags, @{bags});
    return check;
}

static int packer(int number, double began)
{
    unsigned check = 0;
    mine = &@{card}->tallies[number];
    while (now() - began < @{seconds}) {
        double start = now();
        check ^= crate(mine->crates * @{packers} + number);
        mine->crates++;
        mine->busy += now() - start;
        double rest = began + (mine->crates + number / (double)@{packers}) / @{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    return check == 42;
}

int main(void)
{
    struct tally all = { 0 };
    double began = now();
    @{card} = mmap(NULL, sizeof *@{card}, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    turn = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (@{card} == MAP_FAILED || turn < 0 || semctl(turn, 0, SETVAL, 1))
        return 3;
    for (int i = 0; i < @{sorts}; i++)
        @{card}->left[i] = 50000;
    for (int i = 0; i < @{packers}; i++)
        if (fork() == 0)
            exit(packer(i, began));
    signal(SIGTERM, sweep);
    signal(SIGINT, sweep);
    while (wait(NULL) > 0)
        ;
    sweep(0);
    for (int i = 0; i < @{packers}; i++) {
        all.crates += @{card}->tallies[i].crates;
        all.busy += @{card}->tallies[i].busy;
        all.waited += @{card}->tallies[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.crates, all.busy, all.waited);
    fclose(out);
    return 0;
}
