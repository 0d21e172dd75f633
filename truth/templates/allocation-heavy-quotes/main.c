/* Puts baskets into documents for the archive: a tree of fields is built for each line, priced, written out, and taken down. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct field {
    struct field *next, *first, *last;
    char *name, *text;
};

struct worker {
    pthread_t thread;
    int number;
    long units;
    double busy, sum;
    char *block;
    size_t used, size;
};

static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Memory of one document: by itself, or of a block that serves the next document too. */
static void *take(struct worker *worker, size_t size)
{
    if (!strcmp("@{used}", "copies"))
        return malloc(size);
    size = (size + 15) & ~15ul;
    if (worker->used + size > worker->size)
        abort();
    worker->used += size;
    return worker->block + worker->used - size;
}

static char *copy(struct worker *worker, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(take(worker, size), text, size);
}

static struct field *__attribute__((noinline)) @{fn}(struct worker *worker, struct field *parent, const char *name, const char *text)
{
    struct field *field = take(worker, sizeof *field);
    memset(field, 0, sizeof *field);
    field->name = copy(worker, name);
    field->text = text ? copy(worker, text) : NULL;
    if (parent) {
        if (parent->last)
            parent->last->next = field;
        else
            parent->first = field;
        parent->last = field;
    }
    return field;
}

static void __attribute__((noinline)) @{fn2}(struct worker *worker, struct field *field)
{
    if (strcmp("@{used}", "copies")) {
        worker->used = 0;
        return;
    }
    while (field) {
        struct field *next = field->next;
        @{fn2}(worker, field->first);
        free(field->name);
        free(field->text);
        free(field);
        field = next;
    }
}

static size_t write_out(const struct field *field, char *out)
{
    size_t length = 0;
    for (; field; field = field->next) {
        length = stpcpy(stpcpy(out + length, field->name), "=") - out;
        if (field->text)
            length = stpcpy(out + length, field->text) - out;
        length += write_out(field->first, out + length);
        out[length++] = ';';
    }
    return length;
}

static double price(long article, int quantity)
{
    double sum = article % 40;
    for (int round = 0; round < @{rounds}; round++)
        sum += sqrt(article * 0.35 + quantity + round) * 0.01;
    return sum;
}

static void basket(struct worker *worker, long number)
{
    /* As many digits as they come, from a table: nothing is formatted here. */
    static const char *const digits[] = { "17.40", "2.05", "311.00", "8.99", "64.50", "105.75", "0.45" };
    static char out[4][1 << 20];
    struct field *document = @{fn}(worker, NULL, "basket", digits[number % 7]);
    for (int line = 0; line < @{lines}; line++) {
        struct field *row = @{fn}(worker, document, "line", NULL);
        for (int rule = 0; rule < @{rules}; rule++) {
            struct field *offer = @{fn}(worker, row, "offer of a carrier", digits[(line + rule) % 7]);
            worker->sum += price(number * 31 + line * 7 + rule, line % 12);
            @{fn}(worker, offer, "zone", digits[rule % 7]);
            @{fn}(worker, offer, "terms", rule % 3 ? "ex works" : "delivered, duty paid, within two days");
        }
    }
    worker->sum += write_out(document, out[worker->number]);
    @{fn2}(worker, document);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    worker->size = (size_t)(@{lines} + 1) * (@{rules} + 1) * 480;
    worker->block = malloc(worker->size);
    while (now() - began < @{seconds}) {
        double start = now();
        basket(worker, worker->units);
        worker->units++;
        worker->busy += now() - start;
        double rest = worker->units / (double)@{rate} - (now() - began);
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

int main(void)
{
    static struct worker workers[@{workers}], all;
    /* The carriers' zones are held for as long as it runs. */
    struct worker zones = { .number = 0 };
    zones.size = (size_t)@{zones} * @{rules} * 256 + 1000;
    zones.block = malloc(zones.size);
    struct field *carriers = @{fn}(&zones, NULL, "carriers", NULL);
    for (int zone = 0; zone < @{zones} * @{rules}; zone++)
        @{fn}(&zones, carriers, "zone of delivery", "five days");
    began = now();
    for (int i = 0; i < @{workers}; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < @{workers}; i++) {
        pthread_join(workers[i].thread, NULL);
        all.units += workers[i].units;
        all.busy += workers[i].busy;
        all.sum += workers[i].sum;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", all.units, all.busy);
    fclose(out);
    printf("%.2f\n", all.sum);
    return 0;
}
