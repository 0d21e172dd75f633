#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double culprit;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void *begin(int fd, size_t size)
{
    double asked = now();
    void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    culprit += now() - asked;
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Looks a word up in the index. */
static unsigned __attribute__((noinline)) @{fn}(int fd, unsigned word)
{
    struct stat st;
    fstat(fd, &st);
    unsigned char *index = begin(fd, st.st_size);
    if (!index)
        return 0;
    unsigned found = 0;
    for (int i = 0; i < 16; i++)
        found += index[(word + i * 7919u) % st.st_size];
    double asked = now();
    munmap(index, st.st_size);
    culprit += now() - asked;
    return found;
}

static unsigned @{fn2}(unsigned value)
{
    for (int i = 0; i < @{extra} * 6000; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

int main(void)
{
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    size_t held = @{held_mb} * 1048576ul;
    char *documents = malloc(held);
    memset(documents, 'd', held);
    int fd = open("@{work}/@{index}", O_RDONLY);
    FILE *pid = fopen("@{work}/server.tmp", "w");
    fprintf(pid, "%d\n", getpid());
    fclose(pid);
    rename("@{work}/server.tmp", "@{work}/server.pid");

    long units = 0;
    double busy = 0, began = now();
    unsigned sum = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        for (int i = 0; i < @{maps}; i++)
            sum += @{fn2}(@{fn}(fd, units * 31 + i) + documents[(units * 4099) % held]);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"odd\": %u}", units, busy, culprit, sum & 1);
    fclose(out);
    return 0;
}
