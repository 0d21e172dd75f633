#include <nl_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static nl_catd kept[@{names} + 1];
static double culprit;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The products' folders, in the order of their age; the site's own is the last unless it is to win. */
static void set_path(void)
{
    static char path[@{dirs} * 512 + 1024];
    size_t used = 0;
    if (!strcmp("@{at}", "first"))
        used += sprintf(path, "@{work}/@{base}/p%d/@{sub}/%%N.cat:", @{dirs});
    for (int i = 1; i <= @{dirs}; i++)
        used += snprintf(path + used, sizeof path - used, "@{work}/@{base}/p%d/@{sub}/%%N.cat:", i);
    path[used - 1] = 0;
    setenv("NLSPATH", path, 1);
}

static size_t __attribute__((noinline)) @{fn}(int number)
{
    char name[200], line[400];
    snprintf(name, sizeof name, "@{stem}_%d", number);
    double asked = now();
    nl_catd texts = kept[number] ? kept[number] : catopen(name, 0);
    culprit += now() - asked;
    size_t size = snprintf(line, sizeof line, "%s: %s", catgets(texts, 1, 1, ""), catgets(texts, 1, 2, "?"));
    if (@{keep})
        kept[number] = texts;
    else
        catclose(texts);
    return size;
}

static unsigned @{fn2}(unsigned value)
{
    for (int i = 0; i < @{extra} * 500; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

int main(void)
{
    long units = 0;
    double busy = 0, began;
    unsigned sum = 0;

    set_path();
    if (@{keep})
        for (int i = 1; i <= @{names}; i++)
            @{fn}(i);
    culprit = 0;
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        sum += @{fn}(1 + units % @{names}) + @{fn2}(units);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"odd\": %u}", units, busy, culprit, sum & 1);
    fclose(out);
    return 0;
}
