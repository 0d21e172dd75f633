/* Prices telephone calls. The table says what a minute to a prefix costs; a new edition of it comes now and then. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES @{entries}

struct entry {
    uint64_t prefix;
    uint32_t scale; /* the number without its last digits: divided by this */
    uint32_t cents;
};

struct edition {
    unsigned number;
    struct entry entries[ENTRIES];
};

struct worker {
    pthread_t thread;
    int number;
    long units;
    double busy, waited;
    uint64_t sum;
};

static struct edition *@{lock};
static pthread_mutex_t @{lock}_mutex = PTHREAD_MUTEX_INITIALIZER;
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest_until(double due)
{
    double rest = due - now();
    if (rest > 0)
        usleep(rest * 1e6);
}

/* An edition that is out of date may still be read: its room is used again much later. */
static struct edition *printed(unsigned number)
{
    static struct edition room[8];
    struct edition *edition = &room[number % 8];
    edition->number = number;
    for (unsigned i = 0; i < ENTRIES; i++) {
        static const uint32_t scales[] = {1000000, 100000, 10000};
        edition->entries[i] = (struct entry){20000 + i * 48271u % 900000, scales[i % 3], 1 + (i * 31 + number) % 90};
    }
    return edition;
}

static uint32_t priced(const struct edition *edition, uint64_t callee)
{
    uint64_t longest = 0;
    uint32_t cents = 99;
    for (int i = 0; i < ENTRIES; i++) {
        const struct entry *entry = &edition->entries[i];
        if (callee / entry->scale == entry->prefix && entry->prefix > longest) {
            longest = entry->prefix;
            cents = entry->cents;
        }
    }
    return cents;
}

static uint32_t __attribute__((noinline)) @{fn}(struct worker *worker, uint64_t callee)
{
    double asked = now();
    pthread_mutex_lock(&@{lock}_mutex);
    worker->waited += now() - asked;
    const struct edition *present = @{lock};
    if (strcmp("@{view}", "edition") == 0) {
        pthread_mutex_unlock(&@{lock}_mutex);
        return priced(present, callee);
    }
    uint32_t cents = priced(present, callee);
    pthread_mutex_unlock(&@{lock}_mutex);
    return cents;
}

/* A line of the bill. */
static uint64_t billed(int worker, long call, uint64_t callee, uint32_t cents)
{
    char line[120];
    uint64_t sum = 14695981039346656037u;
    for (int part = 0; part < 60; part++) {
        int length = snprintf(line, sizeof line, "%d;%ld;%llu;%d;%u.%02u", worker, call, (unsigned long long)callee, part, cents / 100, cents % 100);
        for (int i = 0; i < length; i++)
            sum = (sum ^ (unsigned char)line[i]) * 1099511628211u;
    }
    return sum;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    while (now() - began < @{seconds}) {
        double start = now();
        long call = worker->units * 37 + worker->number;
        uint64_t callee = 20000000000u + (uint64_t)call * 7368787 % 900000000u;
        worker->sum += billed(worker->number, call, callee, @{fn}(worker, callee) * (1 + call % 40));
        worker->busy += now() - start;
        worker->units++;
        rest_until(began + worker->units / @{rate} + worker->number * 0.004);
    }
    return NULL;
}

static void *publish(void *nothing)
{
    for (unsigned number = 2; now() - began < @{seconds}; number++) {
        rest_until(now() + @{editions});
        struct edition *next = printed(number);
        pthread_mutex_lock(&@{lock}_mutex);
        @{lock} = next;
        pthread_mutex_unlock(&@{lock}_mutex);
    }
    return nothing;
}

int main(void)
{
    struct worker workers[@{workers}] = {0};
    pthread_t publisher;
    @{lock} = printed(1);
    began = now();
    for (int i = 0; i < @{workers}; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    pthread_create(&publisher, NULL, publish, NULL);
    long units = 0;
    double busy = 0, waited = 0;
    for (int i = 0; i < @{workers}; i++) {
        pthread_join(workers[i].thread, NULL);
        units += workers[i].units;
        busy += workers[i].busy;
        waited += workers[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    return fclose(out) != 0;
}
