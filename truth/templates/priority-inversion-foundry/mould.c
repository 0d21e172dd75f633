/* How the metal cools in the mould: as many solvers as it has parts. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *solve(void *arg)
{
    double heat[256] = { 1500 };
    (void)arg;
    for (;;)
        for (int i = 1; i < 255; i++)
            heat[i] += 0.1 * (heat[i - 1] - 2 * heat[i] + heat[i + 1]);
    return heat[0] > 0 ? arg : NULL;
}

int main(void)
{
    FILE *group = fopen("/sys/fs/cgroup/cpu/@{slice}/cgroup.procs", "w");
    if (group) {
        fprintf(group, "0");
        fclose(group);
    }
    for (int i = 0; i < @{solvers}; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, solve, NULL);
    }
    FILE *ready = fopen("@{work}/mould.ready", "w");
    fclose(ready);
    for (;;)
        pause();
}
