/* Answers what a policy costs: clerks compute from the table of rates; a publisher sets new rates, and nobody else may write there meanwhile. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const size_t table_bytes = (size_t)@{table_mb} << 20, sheet_bytes = (size_t)@{sheet_kb} << 10;
static uint32_t *rates;
static double finish;

struct clerk {
    pthread_t thread;
    int number, units;
    double busy, spent;
    uint64_t cents;
    void *sheet;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void pause_for(double seconds)
{
    if (seconds > 0)
        usleep(seconds * 1e6);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* A clean sheet to compute on. */
static uint32_t *@{fn}(struct clerk *clerk)
{
    if (@{keep} && clerk->sheet)
        return clerk->sheet;
    double start = now();
    void *sheet = mmap(NULL, sheet_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sheet == MAP_FAILED)
        fail("sheet");
    clerk->spent += now() - start;
    return clerk->sheet = sheet;
}

static void put_away(struct clerk *clerk, uint32_t *sheet)
{
    if (@{keep})
        return;
    double start = now();
    munmap(sheet, sheet_bytes);
    clerk->spent += now() - start;
}

static uint64_t compute(uint32_t *sheet, int policy)
{
    size_t cells = sheet_bytes / 64, all = table_bytes / sizeof *rates;
    uint64_t sum = 0;
    for (int round = 0; round < @{rounds}; round++)
        for (size_t i = 0; i < cells; i++) {
            sheet[i] = rates[((size_t)policy * 7919 + i * 31) % all] % 1000 + (round ? sheet[i] : 0);
            sum = sum * 31 + sheet[i];
        }
    return sum % 1000000;
}

static void *serve(void *argument)
{
    struct clerk *clerk = argument;
    double due = now();
    while (now() < finish) {
        due = due + 1.0 / @{rate} > now() ? due + 1.0 / @{rate} : now();
        pause_for(due - now());
        double start = now();
        for (int part = 0; part < @{sheets}; part++) {
            uint32_t *sheet = @{fn}(clerk);
            clerk->cents += compute(sheet, clerk->number * 1000 + clerk->units * 10 + part);
            put_away(clerk, sheet);
        }
        clerk->busy += now() - start;
        clerk->units++;
    }
    return NULL;
}

/* New rates come in; between them the table can only be read. */
static void *@{fn2}(void *argument)
{
    FILE *log = argument;
    size_t all = table_bytes / sizeof *rates;
    for (unsigned edition = 1; now() < finish; edition++) {
        if (mprotect(rates, table_bytes, PROT_READ | PROT_WRITE))
            fail("open");
        for (unsigned i = 0; i < 200; i++)
            rates[(edition * 977 + i * 131) % all] = edition + i;
        if (mprotect(rates, table_bytes, PROT_READ))
            fail("close");
        if (edition % 100 == 0)
            fprintf(log, "edition %u\n", edition);
        pause_for(@{often_ms} / 1000);
    }
    return NULL;
}

int main(void)
{
    static struct clerk clerks[@{clerks}];
    FILE *log = fopen("@{work}/quotes.log", "w");
    pthread_t publisher;
    rates = mmap(NULL, table_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rates == MAP_FAILED)
        fail("rates");
    for (size_t i = 0; i < table_bytes / sizeof *rates; i++)
        rates[i] = i * 2654435761u;
    finish = now() + @{seconds};
    pthread_create(&publisher, NULL, @{fn2}, log);
    for (int i = 0; i < @{clerks}; i++) {
        clerks[i].number = i;
        pthread_create(&clerks[i].thread, NULL, serve, &clerks[i]);
    }
    int units = 0;
    double busy = 0, spent = 0;
    for (int i = 0; i < @{clerks}; i++) {
        pthread_join(clerks[i].thread, NULL);
        units += clerks[i].units;
        busy += clerks[i].busy;
        spent += clerks[i].spent;
        fprintf(log, "clerk %d: %d quotes\n", i, clerks[i].units);
    }
    pthread_join(publisher, NULL);
    fclose(log);
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(report);
    return 0;
}
