/* Checks the backups that come in: a sum of each file of an archive goes into the catalogue. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 512, FACTOR = @{factor} };

struct tape {
    int fd;
    size_t at, filled;
    double spent;
    unsigned char room[FACTOR];
};

static struct tape tape;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The next block; NULL where the archive ends. */
static __attribute__((noinline)) const unsigned char *@{fn}(struct tape *tape)
{
    if (tape->at == tape->filled) {
        double start = now();
        ssize_t n = read(tape->fd, tape->room, FACTOR);
        tape->spent += now() - start;
        if (n < BLOCK)
            return NULL;
        tape->filled = n - n % BLOCK;
        tape->at = 0;
    }
    tape->at += BLOCK;
    return tape->room + tape->at - BLOCK;
}

static uint32_t summed(uint32_t sum, const unsigned char *block)
{
    uint64_t word, all = sum;
    for (int i = 0; i < BLOCK; i += 8) {
        memcpy(&word, block + i, 8);
        all = (all ^ word) * 0x9e3779b97f4a7c15u;
        all ^= all >> 29;
    }
    return (uint32_t)(all ^ all >> 32);
}

static long check(FILE *catalogue, const char *path)
{
    const unsigned char *head;
    long files = 0;
    tape.fd = open(path, O_RDONLY);
    tape.at = tape.filled = 0;
    while ((head = @{fn}(&tape)) && head[0]) {
        char name[101] = { 0 };
        memcpy(name, head, 100);
        long size = strtol((const char *)head + 124, NULL, 8);
        uint32_t sum = 0;
        for (; size > 0; size -= BLOCK)
            sum = summed(sum, @{fn}(&tape));
        fprintf(catalogue, "%08x %s\n", sum, name);
        files++;
    }
    close(tape.fd);
    return files;
}

static long sample(FILE *catalogue, const char *path)
{
    unsigned char block[BLOCK];
    struct stat st;
    int fd = open(path, O_RDONLY);
    fstat(fd, &st);
    for (int i = 0; i < @{samples}; i++) {
        if (pread(fd, block, BLOCK, rand() % (st.st_size / BLOCK) * BLOCK) != BLOCK)
            perror(path);
        fprintf(catalogue, "%08x\n", summed(0, block));
    }
    close(fd);
    return @{samples};
}

int main(void)
{
    FILE *arrivals = fopen("@{work}/arrivals", "r"), *catalogue = fopen("@{work}/catalogue.txt", "w");
    char path[4096];
    long units = 0, files = 0;
    double busy = 0, began = now();
    while (now() - began < @{seconds} && fgets(path, sizeof path, arrivals)) {
        path[strcspn(path, "\n")] = 0;
        double start = now();
        files += @{samples} ? sample(catalogue, path) : check(catalogue, path);
        busy += now() - start;
        unlink(path);
        units++;
    }
    fclose(catalogue);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"files\": %ld}", units, busy, tape.spent, files);
    fclose(out);
    return 0;
}
