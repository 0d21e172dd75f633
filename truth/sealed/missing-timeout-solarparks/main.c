/* Reads the inverters of solar parks: readers, a process each, take the next inverter from a common pipe and ask for its registers. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PARKS 3
#define REGISTERS @{registers}

/* What a reader has done; seen by all. */
struct account {
    volatile long units;
    volatile double busy, lost, since;
    double kilowatts;
};

static const int ports[PARKS] = { @{quarry}, @{meadow}, @{heath} };
static const double limit = @{limit};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int line_to(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { (time_t)limit, (limit - (time_t)limit) * 1e6 };
    int line = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(line, (struct sockaddr *)&address, sizeof address) || setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)) {
        perror("park");
        exit(1);
    }
    return line;
}

static void put16(unsigned char *at, int value)
{
    at[0] = value >> 8;
    at[1] = value;
}

/* The registers of an inverter; 0 if the park says nothing. */
static int __attribute__((noinline)) @{fn}(int line, int mark, int inverter, uint16_t *values)
{
    unsigned char question[12] = { 0 }, answer[300];
    put16(question, mark);
    put16(question + 4, 6);
    question[6] = inverter;
    question[7] = 4;
    put16(question + 10, REGISTERS);
    for (int attempt = 0; attempt < 3; attempt++) {
        if (send(line, question, sizeof question, 0) < 0)
            return 0;
        ssize_t n = recv(line, answer, sizeof answer, 0);
        if (n < 9 || memcmp(answer, question, 2))
            continue;
        for (int i = 0; i < answer[8] / 2; i++)
            values[i] = answer[9 + 2 * i] << 8 | answer[10 + 2 * i];
        return answer[8] / 2;
    }
    return 0;
}

static double power(const uint16_t *values, int count)
{
    double sum = 0;
    for (int i = 0; i + 1 < count; i += 2)
        sum += values[i] / 100.0 * values[i + 1] / 1000.0;
    return sum / 1000;
}

static void reader(int tasks, struct account *account)
{
    int lines[PARKS];
    uint16_t values[256];
    uint32_t number;

    for (int i = 0; i < PARKS; i++)
        lines[i] = line_to(ports[i]);
    while (read(tasks, &number, sizeof number) == sizeof number) {
        double start = now();
        account->since = start;
        int count = @{fn}(lines[number % PARKS], number & 0xffff, number / PARKS % 200 + 1, values);
        double asked = now() - start;
        account->kilowatts += power(values, count);
        if (limit > 0 && asked >= limit)
            account->lost += asked;
        account->since = 0;
        account->units++;
        account->busy += now() - start;
    }
    exit(0);
}

/* Inverters call by themselves when they burn. */
static void alarms(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{alarm}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int door = socket(AF_INET, SOCK_DGRAM, 0);
    char text[200];
    ssize_t n;

    if (bind(door, (struct sockaddr *)&address, sizeof address))
        exit(1);
    while ((n = recv(door, text, sizeof text, 0)) >= 0)
        printf("alarm: %.*s\n", (int)n, text);
    exit(0);
}

int main(void)
{
    struct account *accounts = mmap(NULL, @{readers} * sizeof *accounts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[@{readers} + 1];
    int tasks[2], count = 0;
    double began, busy = 0, lost = 0;
    long units = 0;

    if (accounts == MAP_FAILED || pipe(tasks))
        return perror("start"), 1;
    for (; count < @{readers}; count++)
        if (!(children[count] = fork()))
            reader(tasks[0], &accounts[count]);
    if (@{alarms} && !(children[count++] = fork()))
        alarms();
    began = now();
    for (uint32_t number = 0; now() - began < @{seconds}; number++) {
        if (write(tasks[1], &number, sizeof number) < 0)
            return perror("tasks"), 1;
        double rest = began + (number + 1) / @{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    double end = now();
    for (int i = 0; i < @{readers}; i++) {
        double hanging = accounts[i].since ? end - accounts[i].since : 0;
        units += accounts[i].units;
        busy += accounts[i].busy + hanging;
        lost += accounts[i].lost + hanging;
    }
    while (count)
        kill(children[--count], SIGTERM);
    while (wait(NULL) > 0)
        continue;
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, lost);
    fclose(out);
    return 0;
}
