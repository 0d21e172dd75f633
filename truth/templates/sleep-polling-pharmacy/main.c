/* A pharmacy: the counter takes prescriptions, a process beside it knows which drugs must not go together. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DRUGS = @{drugs}, ITEMS = @{items}, ASKED = 1, ANSWERED = 2 };

struct ask {
    long kind;
    int number, drugs[ITEMS];
};

struct answer {
    long kind;
    int number, worst;
};

static int box;
static double waited;
static volatile long units;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
}

/* The check: each pair of drugs, by way of what both do to a third. */
static int worst_of(const int *drugs)
{
    int worst = 0;
    for (int a = 0; a < ITEMS; a++)
        for (int b = 0; b < a; b++)
            for (int third = 0; third < DRUGS; third++) {
                int risk = (drugs[a] * 31 + third * 17) % 101 * ((drugs[b] * 13 + third * 7) % 89);
                worst = risk > worst ? risk : worst;
            }
    return worst;
}

static void check(void)
{
    struct ask ask;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    while (msgrcv(box, &ask, sizeof ask - sizeof(long), ASKED, 0) > 0 && ask.number) {
        struct answer answer = { ANSWERED, ask.number, worst_of(ask.drugs) };
        msgsnd(box, &answer, sizeof answer - sizeof(long), 0);
    }
    _exit(0);
}

static __attribute__((noinline)) int @{fn}(void)
{
    struct answer answer;
    int how = strcmp("@{answer}", "look") ? 0 : IPC_NOWAIT;
    while (msgrcv(box, &answer, sizeof answer - sizeof(long), ANSWERED, how) < 0) {
        if (errno != ENOMSG)
            exit(1);
        rest(@{pause} / 1000);
    }
    return answer.worst;
}

static void *keep_log(void *unused)
{
    FILE *log = fopen("@{work}/till.log", "w");
    for (;;) {
        rest(@{beat_ms} / 1000.0);
        fprintf(log, "%ld prescriptions\n", units);
        fflush(log);
    }
    return unused;
}

static void end(int number)
{
    msgctl(box, IPC_RMID, NULL);
    _exit(number ? 1 : 0);
}

int main(void)
{
    char line[256];
    pthread_t clerk;
    double busy = 0, began = now();
    box = msgget(IPC_PRIVATE, 0600);
    pid_t checker = fork();
    if (!checker)
        check();
    signal(SIGTERM, end);
    pthread_create(&clerk, NULL, keep_log, NULL);
    FILE *prescriptions = fopen("@{work}/prescriptions", "r");
    while (now() - began < @{seconds} && fgets(line, sizeof line, prescriptions)) {
        struct ask ask = { .kind = ASKED };
        char *at = line;
        double start = now();
        ask.number = strtol(at, &at, 10);
        for (int i = 0; i < ITEMS; i++)
            ask.drugs[i] = strtol(at, &at, 10);
        msgsnd(box, &ask, sizeof ask - sizeof(long), 0);
        double before = now();
        int worst = @{fn}();
        waited += now() - before;
        printf("prescription %d: %s\n", ask.number, worst > 8500 ? "ask the doctor" : "hand over");
        units++;
        busy += now() - start;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
    fflush(stdout);
    kill(checker, SIGTERM);
    waitpid(checker, NULL, 0);
    end(0);
}
