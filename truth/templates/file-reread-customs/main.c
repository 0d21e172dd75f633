// Duties on parcels from abroad: clerks (processes) take the declarations from a pipe.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A line of the tariff: code, text, percent, unit.
#define LINE 62

struct item {
    uint32_t code;
    uint32_t cents;
    uint32_t many;
};

struct declaration {
    uint32_t number;
    char country[4];
    struct item items[@{items}];
};

struct tally {
    long units;
    double busy, reading;
};

struct tariff {
    char *text;
    size_t size, room;
};

static struct tally *tallies;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int __attribute__((noinline)) @{fn}(struct tariff *tariff)
{
    struct stat about;
    int file = open("@{work}/@{folder}/@{tariff}", O_RDONLY);
    if (file < 0 || fstat(file, &about) < 0) {
        perror("tariff");
        return -1;
    }
    if (tariff->room < (size_t)about.st_size) {
        tariff->room = about.st_size;
        tariff->text = realloc(tariff->text, tariff->room);
    }
    tariff->size = 0;
    for (ssize_t got; (got = read(file, tariff->text + tariff->size, tariff->room - tariff->size)) > 0;)
        tariff->size += got;
    close(file);
    return 0;
}

// The percents of a code: the lines are in order.
static double percent_of(const struct tariff *tariff, uint32_t code)
{
    char key[12];
    size_t low = 0, high = tariff->size / LINE;
    snprintf(key, sizeof key, "%010u", code);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = memcmp(tariff->text + middle * LINE, key, 10);
        if (order == 0)
            return atof(tariff->text + middle * LINE + 52);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 4.7;
}

// How likely it is that somebody should look into the parcel.
static unsigned risk(const struct declaration *one)
{
    unsigned mark = one->number;
    for (int round = 0; round < @{rounds} * 400; round++) {
        const struct item *item = &one->items[round % @{items}];
        mark = (mark ^ item->code ^ (unsigned)one->country[round % 3]) * 16777619u + item->cents;
    }
    return mark % 100;
}

static void clerk(int jobs, int number)
{
    char path[200];
    struct declaration one;
    struct tariff tariff = { 0 };
    struct tally *mine = &tallies[number];
    snprintf(path, sizeof path, "@{work}/duties-%d.log", number);
    FILE *book = fopen(path, "w");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (@{keep} && @{fn}(&tariff) < 0)
        exit(1);
    while (read(jobs, &one, sizeof one) == sizeof one) {
        double start = now(), duty = 0;
        if (!@{keep} && @{fn}(&tariff) < 0)
            exit(1);
        mine->reading += now() - start;
        for (int i = 0; i < @{items}; i++)
            duty += one.items[i].cents * one.items[i].many * percent_of(&tariff, one.items[i].code) / 100;
        fprintf(book, "%u from %s: duty %.2f, risk %u\n", one.number, one.country, duty / 100, risk(&one));
        mine->units++;
        mine->busy += now() - start;
    }
    fclose(book);
    exit(0);
}

static struct declaration declared(uint32_t number)
{
    static const char *countries[] = { "CHN", "USA", "GBR", "CHE", "JPN" };
    struct declaration one = { .number = number };
    strcpy(one.country, countries[number % 5]);
    for (uint32_t i = 0; i < @{items}; i++) {
        uint32_t draw = (number * 2654435761u + i * 40503u) >> 3;
        one.items[i] = (struct item){ .code = (1 + draw % @{codes}) * 61, .cents = 200 + draw % 20000, .many = 1 + draw % 3 };
    }
    return one;
}

int main(void)
{
    int jobs[2];
    tallies = mmap(NULL, @{clerks} * sizeof *tallies, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pipe(jobs) < 0)
        return 1;
    for (int i = 0; i < @{clerks}; i++)
        if (fork() == 0) {
            close(jobs[1]);
            clerk(jobs[0], i);
        }
    close(jobs[0]);
    double began = now(), due = began;
    for (uint32_t number = 1; now() - began < @{seconds}; number++) {
        struct declaration one = declared(number);
        if (write(jobs[1], &one, sizeof one) != sizeof one)
            return 1;
        due += 1 / (double)@{rate};
        if (due > now())
            usleep((due - now()) * 1e6);
        else
            due = now();
    }
    close(jobs[1]);
    while (wait(NULL) > 0)
        ;
    struct tally all = { 0 };
    for (int i = 0; i < @{clerks}; i++) {
        all.units += tallies[i].units;
        all.busy += tallies[i].busy;
        all.reading += tallies[i].reading;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.reading);
    fclose(out);
    return 0;
}
