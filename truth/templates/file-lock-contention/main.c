/* A mailbox file that several deliverers append to: each takes it with fcntl. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct sums {
    long units;
    double busy, waited;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double seconds)
{
    if (seconds <= 0)
        return;
    struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
}

static double take(int fd, int kind)
{
    struct flock lock = { .l_type = kind, .l_whence = SEEK_SET };
    double start = now();
    fcntl(fd, F_SETLKW, &lock);
    return now() - start;
}

static double __attribute__((noinline)) @{fn}(int number)
{
    int fd = open("@{lockfile}", O_RDWR | O_APPEND | O_CREAT, 0644);
    double waited = take(fd, F_WRLCK);
    char line[80];
    int length = snprintf(line, sizeof line, "message of %d\n", number);
    if (write(fd, line, length) != length)
        perror("mailbox");
    nap(@{keep} / 1000.0);
    take(fd, F_UNLCK);
    close(fd);
    return waited;
}

static void deliver(int number, struct sums *sums, double began)
{
    volatile unsigned check = 1;
    while (now() - began < @{seconds}) {
        double start = now();
        sums->waited += @{fn}(number);
        for (double at = now(); now() - at < @{effort} / 1000.0;)
            check = check * 31 + 7;
        sums->units++;
        sums->busy += now() - start;
        nap(sums->units / @{pace} + number * 0.02 - (now() - began));
    }
}

int main(void)
{
    struct sums *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), sum = { 0 };
    pid_t workers[@{workers}], standby[2] = { 0 };
    double began = now();
    for (int i = 0; i < 2 * @{standby}; i++)
        if (!(standby[i] = fork())) {
            take(open("leader.pid", O_RDWR), F_WRLCK);
            for (;;)
                pause();
        }
    for (int i = 0; i < @{workers}; i++)
        if (!(workers[i] = fork())) {
            deliver(i, &all[i], began);
            _exit(0);
        }
    for (int i = 0; i < @{workers}; i++) {
        waitpid(workers[i], NULL, 0);
        sum.units += all[i].units;
        sum.busy += all[i].busy;
        sum.waited += all[i].waited;
    }
    for (int i = 0; i < 2 * @{standby}; i++)
        kill(standby[i], SIGKILL);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", sum.units, sum.busy, sum.waited);
    return fclose(out);
}
