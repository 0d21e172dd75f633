/* Writes invoices: each gets the next number. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    for (double rest = due - now(); rest > 0; rest = due - now()) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static long __attribute__((noinline)) @{fn2}(int numbers)
{
    char text[32] = "";
    flock(numbers, LOCK_EX);
    if (pread(numbers, text, sizeof text - 1, 0) <= 0)
        exit(1);
    long number = atol(text) + 1;
    int size = snprintf(text, sizeof text, "%ld", number);
    if (pwrite(numbers, text, size, 0) != size)
        exit(1);
    flock(numbers, LOCK_UN);
    return number;
}

static unsigned long invoice(long number)
{
    unsigned long check = number;
    char line[128];
    for (int i = 0; i < @{lines}; i++) {
        snprintf(line, sizeof line, "%ld;%d;article %lu;%lu.%02lu", number, i, check % 9973, check % 300, check % 100);
        for (char *c = line; *c; c++)
            check = check * 31 + (unsigned char)*c;
    }
    return check;
}

int main(void)
{
    int numbers = open("@{work}/@{numbers}", O_RDWR);
    double busy = 0, culprit = 0, began = now();
    unsigned long check = 0;
    long units = 0;
    if (numbers < 0)
        return perror("numbers"), 1;
    while (now() - began < @{seconds}) {
        double start = now();
        long number = @{fn2}(numbers);
        culprit += now() - start;
        check ^= invoice(number);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    printf("%lx\n", check);
}
