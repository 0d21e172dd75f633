#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void report_times(long units, double busy)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
}

struct field {
    struct field *next;
    unsigned length;
    char text[];
};

struct row {
    struct row *next;
    struct field *fields;
};

static unsigned seed = 7;
static char *store;
static size_t filled;

static unsigned chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 16;
}

static void *piece(size_t size)
{
    if (!@{reuse})
        return malloc(size);
    void *at = store + filled;
    filled += (size + 15) & ~15ul;
    return at;
}

static struct row *__attribute__((noinline)) @{fn}(int rows)
{
    struct row *first = NULL;
    while (rows--) {
        struct row *row = piece(sizeof *row);
        row->fields = NULL;
        for (int i = 0; i < @{fields}; i++) {
            unsigned length = 8 + chance() % @{length};
            struct field *field = piece(sizeof *field + length);
            field->length = length;
            field->text[0] = (char)length;
            field->next = row->fields;
            row->fields = field;
        }
        row->next = first;
        first = row;
    }
    return first;
}

static void __attribute__((noinline)) drop(struct row *row)
{
    filled = 0;
    while (row && !@{reuse}) {
        struct row *next = row->next;
        for (struct field *field = row->fields, *after; field; field = after) {
            after = field->next;
            free(field);
        }
        free(row);
        row = next;
    }
}

static long widest(struct row *row)
{
    long most = 0;
    for (; row; row = row->next)
        if (row->fields->length > most)
            most = row->fields->length;
    return most;
}

int main(void)
{
    double busy = 0, began;
    long units = 0, sum = 0;

    if (@{reuse})
        store = calloc(@{used}, 32 + @{fields} * (@{length} + 48));
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        struct row *rows = @{fn}(@{used});
        sum += widest(rows);
        drop(rows);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    report_times(units, busy);
    printf("%ld\n", sum);
}
