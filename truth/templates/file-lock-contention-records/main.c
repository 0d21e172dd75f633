// Books the takings of some desks, a process for each, into one file of accounts.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct account {
    long number, cents, bookings;
    char text[40];
};

struct sum {
    long units;
    double busy, waited;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest(double seconds)
{
    if (seconds > 0)
        usleep(seconds * 1e6);
}

static void lock(int fd, int type, off_t start, off_t length)
{
    struct flock area = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };
    if (fcntl(fd, F_SETLKW, &area)) {
        perror("lock");
        _exit(1);
    }
}

// What the takings are worth: rates are worked out, and the terminal is asked.
static long value(long seed)
{
    double end = now() + @{effort} / 1000;
    while (now() < end)
        for (int i = 0; i < 1000; i++)
            seed = seed * 6364136223846793005l + 1442695040888963407l;
    rest(@{keep} / 1000);
    return (seed >> 40) & 1023;
}

static double __attribute__((noinline)) @{fn}(int book, long number)
{
    struct account account;
    off_t at = number * sizeof account;
    long cents = 0;
    if (!@{inside})
        cents = value(number);
    double start = now();
    if (@{inside})
        lock(book, F_WRLCK, 0, 0);
    else
        lock(book, F_WRLCK, at, sizeof account);
    double waited = now() - start;
    if (pread(book, &account, sizeof account, at) != sizeof account)
        memset(&account, 0, sizeof account);
    if (@{inside})
        cents = value(number);
    account.number = number;
    account.cents += cents;
    account.bookings++;
    if (pwrite(book, &account, sizeof account, at) != sizeof account)
        _exit(1);
    if (@{inside})
        lock(book, F_UNLCK, 0, 0);
    else
        lock(book, F_UNLCK, at, sizeof account);
    return waited;
}

static struct sum desk(int number)
{
    struct sum sum = { 0 };
    unsigned seed = number;
    int book = open("@{work}/@{book}", O_RDWR | O_CREAT, 0644);
    while (now() - began < @{seconds}) {
        double start = now();
        sum.waited += @{fn}(book, rand_r(&seed) % @{accounts});
        sum.units++;
        sum.busy += now() - start;
        rest(began + sum.units / (double)@{pace} + number * 0.03 - now());
    }
    return sum;
}

static void lead(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    lock(open("@{work}/leader.lck", O_RDWR), F_WRLCK, 0, 1);
    for (;;)
        pause();
}

int main(void)
{
    int pipes[2];
    pid_t leaders[2];
    if (pipe(pipes))
        return 1;
    for (int i = 0; i < 2 * @{standby}; i++)
        if ((leaders[i] = fork()) == 0)
            lead();
    began = now();
    for (int i = 0; i < @{desks}; i++)
        if (fork() == 0) {
            struct sum sum = desk(i);
            _exit(write(pipes[1], &sum, sizeof sum) != sizeof sum);
        }
    struct sum all = { 0 }, one;
    for (int i = 0; i < @{desks} && read(pipes[0], &one, sizeof one) == sizeof one; i++) {
        all.units += one.units;
        all.busy += one.busy;
        all.waited += one.waited;
    }
    for (int i = 0; i < 2 * @{standby}; i++)
        kill(leaders[i], SIGTERM);
    while (wait(NULL) > 0)
        ;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
