/* Work that others do on this machine: so many processes, each busy for a part of the time. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void encode(double end)
{
    volatile unsigned long frame = 1;
    while (now() < end) {
        double start = now(), until = start + 0.1 * @{duty} / 100;
        do {
            for (int i = 0; i < 20000; i++)
                frame = frame * 6364136223846793005ul + 1442695040888963407ul;
        } while (now() < until);
        if (@{duty} < 100)
            usleep(100000 - @{duty} * 1000);
    }
}

int main(void)
{
    double end = now() + @{seconds} + 60;
    pid_t parent = getpid();

    prctl(PR_SET_NAME, "@{hog}");
    setpriority(PRIO_PROCESS, 0, @{nice});
    for (int i = 0; i < @{hogs}; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                return 1;
            /* Each as if from a session of its own: the scheduler groups processes by session. */
            setsid();
            FILE *group = fopen("/proc/self/autogroup", "w");
            if (group) {
                fprintf(group, "%d", @{nice});
                fclose(group);
            }
            encode(end);
            return 0;
        }
    FILE *ready = fopen("@{work}/others", "w");
    fclose(ready);
    sleep(@{seconds} + 60);
    return 0;
}
