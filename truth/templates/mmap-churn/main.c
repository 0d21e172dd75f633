/* Encodes messages for the wire, in scratch memory of its own for each of them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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
static const size_t size = @{kb} * 1024L;
static char *kept;

static unsigned __attribute__((noinline)) @{fn}(long n, int own)
{
    char *scratch = kept;
    unsigned sum = 0;

    if (own)
        scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (scratch == MAP_FAILED)
        return 0;
    int used = snprintf(scratch, size, "message %ld for customer %ld: the parcel is on its way", n, n % 97);
    for (int i = 0; i < used; i++)
        sum = sum * 31 + scratch[i];
    if (own)
        munmap(scratch, size);
    return sum;
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main(void)
{
    double busy = 0, culprit = 0, began;
    long units = 0, n = 0;
    unsigned sum = 0;

    kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        for (int i = 0; i < @{batch}; i++)
            sum += @{fn}(n++, !strcmp("@{keep}", "no") && i % @{every} == 0);
        culprit += now() - start;
        sum += sign(n, @{batch} * @{kb} / 2 * @{spins});
        busy += now() - start;
        units++;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return sum == 42;
}
