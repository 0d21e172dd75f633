/* Computes tariffs, and samples itself: which of them it was at. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
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
static timer_t timer;
static double due;
static void *stack[@{depth}];
static volatile long samples, tariff, seen[64];

static void arm(void)
{
    /* Where it comes late the next one has more time, so that the work goes on. */
    double gap = @{gap_us} * 1e-6 + 12e-6, late = due > 0 ? now() - due : 0;
    if (late > 60e-6)
        gap += 2 * (late < 5e-3 ? late : 5e-3);
    struct itimerspec next = { { 0, 0 }, { 0, (long)(gap * 1e9) } };
    due = now() + gap;
    timer_settime(timer, 0, &next, NULL);
}

static void __attribute__((noinline)) @{fn}(int number)
{
    int depth = backtrace(stack, @{depth});
    seen[(tariff + depth) & 63]++;
    samples++;
    arm();
    (void)number;
}

static double __attribute__((noinline)) @{fn2}(long n, int depth)
{
    double price = n % 977;
    if (depth > 0)
        return @{fn2}(n + 1, depth - 1) + price;
    for (int i = 0; i < 60; i++)
        price = price * 1.0001 + i % 7;
    return price;
}

static double price_all(long first)
{
    double sum = 0;
    for (tariff = 0; tariff < @{rows} / 4; tariff++)
        sum += @{fn2}(first + tariff, @{depth});
    return sum;
}

int main(void)
{
    struct sigaction action = { .sa_handler = @{fn}, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
    double busy = 0, sum = 0, alone = 1, began;
    long units = 0;

    for (int round = 0; round < 8; round++) {
        began = now();
        sum += price_all(round);
        if (now() - began < alone)
            alone = now() - began;
    }
    backtrace(stack, 4);
    sigaction(SIGPROF, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    arm();
    began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        sum += price_all(units);
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    write_report(units, busy, busy > units * alone ? busy - units * alone : 0);
    return sum == 42;
}
