/* Watches a folder of blobs: what has become larger. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_until(double due)
{
    for (double rest = due - now(); rest > 0; rest = due - now()) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void write_report(long units, double seconds, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit);
    fclose(out);
}
static long known[128];

static int __attribute__((noinline)) @{fn}(void)
{
    char path[512];
    struct stat state;
    int changed = 0;
    for (int i = 0; i < @{files}; i++) {
        snprintf(path, sizeof path, "@{work}/@{folder}/blob-%d", i);
        if (stat(path, &state) == 0 && state.st_size != known[i]) {
            known[i] = state.st_size;
            changed++;
        }
    }
    return changed;
}

static unsigned long __attribute__((noinline)) @{fn2}(unsigned long seed)
{
    for (int i = 0; i < @{spins} * 3000; i++)
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return seed;
}

int main(void)
{
    char path[512];
    double busy = 0, culprit = 0, began;
    long units = 0;
    unsigned long sum = 0;

    mkdir("@{work}/@{folder}", 0755);
    for (int i = 0; i < @{files}; i += 2) {
        snprintf(path, sizeof path, "@{work}/@{folder}/blob-%d", i);
        close(open(path, O_WRONLY | O_CREAT, 0644));
    }
    FILE *own = fopen("@{work}/service.pid", "w");
    fprintf(own, "%d\n", getpid());
    fclose(own);
    usleep(150000);
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        sum += @{fn}();
        culprit += now() - start;
        sum += @{fn2}(units);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return sum == 42;
}
