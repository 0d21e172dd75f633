/* Sends notices: each by a child, so that a slow receiver holds nobody up. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static void write_report(long units, double seconds, double culprit)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit);
    fclose(out);
}
static void __attribute__((noinline)) @{fn}(long n)
{
    char path[512], text[64];
    pid_t child = fork();

    if (child < 0) {
        perror("fork");
        return;
    }
    if (child > 0)
        return;
    usleep(@{send_ms} * 1000);
    snprintf(path, sizeof path, "@{work}/@{outbox}/notice-%ld", n % 40);
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t done = write(out, text, snprintf(text, sizeof text, "notice %ld\n", n));
    _exit(done < 0);
}

int main(void)
{
    double busy = 0, began = now();
    long units = 0;

    mkdir("@{work}/@{outbox}", 0755);
    while (now() - began < @{seconds}) {
        double start = now();
        @{fn}(units++);
        if (!strcmp("@{reap}", "at once"))
            wait(NULL);
        else if (!strcmp("@{reap}", "sometimes"))
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        busy += now() - start;
        wait_until(began + units / @{rate});
    }
    write_report(units, busy, 0);
    return 0;
}
