/* Joins parcels with their routes: the hash table of a tour is mapped, filled, read and dropped by a thread of its own. */
#define _GNU_SOURCE
#include <pthread.h>
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
struct slot { long parcel, route; };

static const size_t size = @{mb} * 1048576ul, slots = @{mb} * 1048576ul / sizeof(struct slot);
static struct slot *kept;
static double culprit;
static long found;

static struct slot *__attribute__((noinline)) @{fn}(struct slot *table, long tour)
{
    for (long i = 0; i < @{touched}; i++) {
        long parcel = tour * 1000003 + i;
        size_t at = (size_t)(parcel * 0x9e3779b97f4a7c15ul) % slots;
        table[at].parcel = parcel;
        table[at].route = parcel % 31;
    }
    return table;
}

static void *@{fn2}(void *argument)
{
    long tour = *(long *)argument;
    double start = now();
    int keep = !strcmp("@{mode}", "kept");
    struct slot *table = keep ? kept : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (table == MAP_FAILED)
        return NULL;
    @{fn}(table, tour);
    for (long i = 0; i < @{touched}; i++) {
        long parcel = tour * 1000003 + i;
        found += table[(size_t)(parcel * 0x9e3779b97f4a7c15ul) % slots].parcel == parcel;
    }
    if (!keep)
        munmap(table, size);
    culprit += now() - start;
    return NULL;
}

static unsigned long __attribute__((noinline)) sign(unsigned long value, long rounds)
{
    while (rounds-- > 0)
        value = value * 6364136223846793005ul + 1442695040888963407ul;
    return value;
}

int main(void)
{
    double busy = 0, began;
    long units = 0;

    kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    began = now();
    while (now() - began < @{seconds}) {
        pthread_t thread;
        double start = now();
        pthread_create(&thread, NULL, @{fn2}, &units);
        pthread_join(thread, NULL);
        found += sign(units, @{touched} * 4L * @{spins}) & 1;
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return found == 42;
}
