// The computer of a nursery: asks the controllers of its glasshouses round by round, and sets the vents, the heating and the water of each bed.
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HOUSES = 6, BEDS = @{beds}, LIMIT_MS = 2000 };

struct climate {
    int known;
    double celsius, humidity, light;
    unsigned water;
};

static const int ports[HOUSES] = {@{palms}, @{herbs}, @{cacti}, @{ferns}, @{roses}, @{seeds}};
static struct pollfd lines[HOUSES];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int line_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int line = socket(AF_INET, SOCK_DGRAM, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address)) {
        perror("controller");
        exit(1);
    }
    return line;
}

static void send_question(int house, unsigned round, unsigned water)
{
    unsigned char text[5] = {3, round >> 8, round, water >> 8, water};
    if (send(lines[house].fd, text, sizeof text, 0) < 0)
        perror("send");
}

static void take_answer(int house, unsigned round, struct climate *climate)
{
    unsigned char text[11];
    if (recv(lines[house].fd, text, sizeof text, MSG_DONTWAIT) != sizeof text || (text[1] << 8 | text[2]) != (int)(round & 0xffff))
        return;
    climate->known = 1;
    climate->celsius = (text[3] << 8 | text[4]) / 100.0;
    climate->humidity = (text[5] << 8 | text[6]) / 1000.0;
    climate->light = text[7] << 8 | text[8];
    climate->water = text[9] << 8 | text[10];
}

// Waits for the answers of some houses, until all are known or it is too late.
static void hear(int first, int count, unsigned round, struct climate *climates)
{
    double late = now() + LIMIT_MS / 1000.0;
    for (int known = 0; known < count && now() < late;) {
        struct pollfd waiting[HOUSES];
        for (int i = 0; i < count; i++) {
            waiting[i] = lines[first + i];
            waiting[i].events = climates[first + i].known ? 0 : POLLIN;
        }
        if (poll(waiting, count, LIMIT_MS) <= 0)
            return;
        for (int i = 0; i < count; i++)
            if (waiting[i].revents & (POLLIN | POLLERR)) {
                take_answer(first + i, round, &climates[first + i]);
                known += climates[first + i].known;
            }
    }
}

static __attribute__((noinline)) void @{fn}(unsigned round, struct climate *climates)
{
    unsigned water = 2400;
    memset(climates, 0, HOUSES * sizeof *climates);
    if (!strcmp("@{order}", "once")) {
        for (int house = 0; house < HOUSES; house++)
            send_question(house, round, water / HOUSES);
        hear(0, HOUSES, round, climates);
        return;
    }
    for (int house = 0; house < HOUSES; house++) {
        send_question(house, round, strcmp("@{order}", "water") ? 2400 / HOUSES : water);
        hear(house, 1, round, climates);
        water = climates[house].water;
    }
}

// How far a bed's vent is opened: by how dry the air is above it, worked out from the vapour pressure at some heights.
static double vent(const struct climate *climate, int bed)
{
    double open = 0;
    for (int height = 0; height < 24; height++) {
        double celsius = climate->celsius + height * 0.15 - bed % 7 * 0.1;
        double pressure = 0.61094 * exp(17.625 * celsius / (celsius + 243.04));
        open += pressure * (1 - climate->humidity) * (1 + climate->light / 20000);
    }
    return open / 24;
}

int main(void)
{
    for (int house = 0; house < HOUSES; house++)
        lines[house] = (struct pollfd){.fd = line_to(ports[house]), .events = POLLIN};
    FILE *journal = fopen("@{work}/vents.csv", "w");
    struct climate climates[HOUSES];
    double begun = now(), busy = 0, asking = 0;
    long rounds = 0;
    while (now() - begun < @{seconds}) {
        double began = now();
        @{fn}(rounds, climates);
        asking += now() - began;
        for (int house = 0; house < HOUSES; house++) {
            double sum = 0;
            for (int bed = 0; bed < BEDS; bed++)
                sum += vent(&climates[house], bed);
            fprintf(journal, "%ld;%d;%.1f;%.3f\n", rounds, house, climates[house].celsius, sum / BEDS);
        }
        rounds++;
        busy += now() - began;
        double rest = begun + rounds / @{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    fclose(journal);
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", rounds, busy, asking);
    return fclose(report);
}
