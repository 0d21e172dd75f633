/* Writes the letters of a mailing: their parts are joined to one text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
static const char *const parts[] = { "Dear customer, ", "your parcel ", "is on its way ", "to the depot; ", "thank you. " };

static size_t __attribute__((noinline)) @{fn}(char *text, long count)
{
    size_t end = 0;

    text[0] = 0;
    for (long i = 0; i < count; i++) {
        const char *part = parts[i % 5];
        if (!strcmp("@{index}", "list")) {
            strcat(text, part);
        } else {
            size_t size = strlen(part);
            memcpy(text + end, part, size + 1);
            end += size;
        }
    }
    return end ? end : strlen(text);
}

int main(void)
{
    char *text = malloc(@{rows} * 16L + 1);
    double busy = 0, culprit = 0, began = now();
    long units = 0, bytes = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        bytes += @{fn}(text, @{rows});
        culprit += now() - start;
        for (char *c = text; *c; c += 64)
            bytes += *c == 'x';
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, culprit);
    return bytes == 42;
}
