/* The controller of a wine cellar's tanks: reads the thermometers, reckons for each tank how far the valve of its cooling is to be opened, and how far the must is. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum level { DEBUG, INFO };

struct logger {
    FILE *out;
    enum level level;
    double took;
};

struct tank {
    int number;
    double wanted, litres;
    double read, sugar, sum, last, valve;
};

struct cellar {
    struct logger log;
    int summary, tanks;
    long scans;
    struct tank tank[128];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void __attribute__((noinline, format(printf, 3, 4))) @{fn}(struct logger *log, enum level level, const char *format, ...)
{
    static const char *const names[] = { "DEBUG", "INFO" };
    struct timespec t;
    struct tm parts;
    char when[32];
    va_list values;

    if (level < log->level)
        return;
    double start = now();
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &parts);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &parts);
    fprintf(log->out, "%s.%06ldZ %-5s cellar ", when, t.tv_nsec / 1000, names[level]);
    va_start(values, format);
    vfprintf(log->out, format, values);
    va_end(values);
    putc('\n', log->out);
    log->took += now() - start;
}

static void scan_done(struct logger *log)
{
    double start = now();
    fflush(log->out);
    log->took += now() - start;
}

static void read_config(struct cellar *cellar)
{
    char name[32], value[32];
    FILE *in = fopen("@{work}/cellar.conf", "r");

    while (in && fscanf(in, "%31s = %31s", name, value) == 2) {
        if (!strcmp(name, "level"))
            cellar->log.level = strcmp(value, "DEBUG") ? INFO : DEBUG;
        else if (!strcmp(name, "summary"))
            cellar->summary = atoi(value);
    }
    if (in)
        fclose(in);
    in = fopen("@{work}/tanks.txt", "r");
    while (in && cellar->tanks < 128) {
        struct tank *tank = &cellar->tank[cellar->tanks];
        if (fscanf(in, "%d %lf %lf", &tank->number, &tank->wanted, &tank->litres) != 3)
            break;
        tank->read = tank->wanted + 3;
        tank->sugar = 190 + tank->number % 40;
        cellar->tanks++;
    }
    if (in)
        fclose(in);
}

/* What the thermometer says: the must warms itself by what ferments, and is cooled by what the valve lets through. */
static void read_tank(struct tank *tank, long scan)
{
    for (int step = 0; step < 60; step++) {
        double rate = 0.00002 * tank->sugar * exp((tank->read - 18) / 9);
        tank->sugar -= rate / 60;
        tank->read += (rate * 6 - tank->valve * 90 / tank->litres) / 60;
    }
    tank->read += 0.02 * sin(scan * 0.7 + tank->number);
    if (tank->sugar < 20)
        tank->sugar = 190;
}

static void control(struct cellar *cellar, struct tank *tank)
{
    double off = tank->read - tank->wanted, slope = off - tank->last;

    @{fn}(&cellar->log, DEBUG, "tank=%d read temperature=%.4f wanted=%.2f sugar=%.3f litres=%.0f", tank->number, tank->read, tank->wanted, tank->sugar, tank->litres);
    tank->sum = fmax(-50, fmin(50, tank->sum + off));
    tank->last = off;
    @{fn}(&cellar->log, DEBUG, "tank=%d control proportional=%.5f integral=%.5f differential=%.5f", tank->number, off * @{gain}, tank->sum * 0.02, slope * 0.5);
    tank->valve = fmax(0, fmin(1, off * @{gain} + tank->sum * 0.02 + slope * 0.5));
    @{fn}(&cellar->log, DEBUG, "tank=%d valve position=%.4f alcohol=%.3f left_hours=%.1f", tank->number, tank->valve, (230 - tank->sugar) / 17, tank->sugar / 0.4);
}

static void scan(struct cellar *cellar)
{
    double warmest = 0, valves = 0;

    for (int i = 0; i < cellar->tanks; i++) {
        struct tank *tank = &cellar->tank[i];
        read_tank(tank, cellar->scans);
        control(cellar, tank);
        warmest = fmax(warmest, tank->read);
        valves += tank->valve;
    }
    cellar->scans++;
    if (cellar->scans % cellar->summary == 0)
        @{fn}(&cellar->log, INFO, "scan=%ld tanks=%d warmest=%.2f cooling=%.2f", cellar->scans, cellar->tanks, warmest, valves / cellar->tanks);
    scan_done(&cellar->log);
}

int main(void)
{
    static struct cellar cellar = { .log = { .level = INFO }, .summary = 100 };
    long units = 0;
    double busy = 0;

    read_config(&cellar);
    cellar.log.out = fopen("@{work}/@{log}", "a");
    if (!cellar.log.out) {
        perror("log");
        return 1;
    }
    setvbuf(cellar.log.out, NULL, _IOFBF, 65536);
    double began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        scan(&cellar);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, cellar.log.took);
    fclose(out);
    fclose(cellar.log.out);
    return 0;
}
