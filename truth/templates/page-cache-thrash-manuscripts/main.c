/* A reading room: a reader asks for a passage, the register says where, and the folios around it are shown. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FOLIO = @{kb} * 1024, AROUND = @{around}, ENTRY = 4096 };

static int registry, folios;
static long entries, count;
static unsigned char pages[AROUND][FOLIO];
static uint64_t state = 88172645463325252u;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static uint64_t chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static int open_file(const char *path, long unit, long *units)
{
    int file = open(path, O_RDONLY);
    must(file >= 0, path);
    *units = lseek(file, 0, SEEK_END) / unit;
    return file;
}

static void warm(int file)
{
    static char part[1 << 20];
    lseek(file, 0, SEEK_SET);
    while (read(file, part, sizeof part) > 0)
        ;
}

__attribute__((noinline)) static void @{fn}(long entry)
{
    uint64_t slot[ENTRY / 8];
    must(pread(registry, slot, ENTRY, entry * ENTRY) == ENTRY, "register");
    uint64_t where = slot[entry % 500] >> 1;
    for (int i = 0; i < AROUND; i++)
        must(pread(folios, pages[i], FOLIO, (off_t)((where + i * 7919) % count) * FOLIO) == FOLIO, "folios");
}

/* The next ones, in their order. */
static void check(long turn)
{
    struct iovec into[AROUND];
    for (int i = 0; i < AROUND; i++)
        into[i] = (struct iovec){pages[i], FOLIO};
    preadv(folios, into, AROUND, (off_t)(turn * AROUND % (count - AROUND)) * FOLIO);
}

static unsigned compare(void)
{
    unsigned sum = 1;
    for (int round = 0; round < @{rounds}; round++)
        for (int i = 0; i < AROUND; i++)
            for (int at = 0; at < 4096; at++)
                sum = sum * 31 + pages[i][at];
    return sum;
}

int main(void)
{
    FILE *group = fopen("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w");
    must(group && fprintf(group, "%d", getpid()) > 0 && !fclose(group), "control group");
    registry = open_file("@{work}/@{register}", ENTRY, &entries);
    folios = open_file("@{work}/@{folios}", FOLIO, &count);
    int passages = !strcmp("@{way}", "passages");
    if (passages) {
        warm(registry);
        warm(folios);
    }
    long units = 0;
    unsigned sum = 0;
    double busy = 0, reading = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        double start = now();
        if (passages)
            @{fn}(chance() % entries);
        else
            check(units);
        reading += now() - start;
        sum ^= compare();
        units++;
        busy += now() - start;
        due += 1.0 / @{per_s};
        if (due < now())
            due = now();
        else
            usleep((due - now()) * 1e6);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"sum\": %u}", units, busy, reading, sum);
    return fclose(out);
}
