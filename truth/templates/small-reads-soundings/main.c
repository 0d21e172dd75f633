// Soundings of a survey ship: the depth below each beam, by the tide, into a grid.
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BEAMS = 64, GRID = 256 };

struct ping_head {
    uint32_t at_ms, track, beams;
};

struct source {
    int fd;
    size_t from, until, size;
    char *ahead;
};

static double grid[GRID][GRID], reading;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int take(struct source *s, void *into, size_t length) {
    if (!s->size)
        return read(s->fd, into, length) == (ssize_t)length;
    if (s->until - s->from < length) {
        memmove(s->ahead, s->ahead + s->from, s->until - s->from);
        s->until -= s->from;
        s->from = 0;
        ssize_t got = read(s->fd, s->ahead + s->until, s->size - s->until);
        s->until += got > 0 ? got : 0;
        if (s->until < length)
            return 0;
    }
    memcpy(into, s->ahead + s->from, length);
    s->from += length;
    return 1;
}

__attribute__((noinline)) static int @{fn}(struct source *s, struct ping_head *head, uint16_t *depths) {
    double start = now();
    int ok = take(s, head, sizeof *head) && head->beams <= BEAMS && take(s, depths, head->beams * sizeof *depths);
    reading += now() - start;
    return ok;
}

static void enter(const struct ping_head *head, const uint16_t *depths) {
    double tide = 120 * sin(head->at_ms / 1000.0 * 2 * M_PI / 44700);
    for (uint32_t beam = 0; beam < head->beams; beam++) {
        double across = (beam - head->beams / 2.0) * 0.03;
        double *cell = &grid[head->track / 30 % GRID][(head->at_ms / 250 + beam) % GRID];
        *cell = *cell * 0.9 + 0.1 * (depths[beam] * cos(across) - tide);
    }
}

static int survey(const char *path, int strips, size_t page) {
    struct source s = {.fd = open(path, O_RDONLY | O_CLOEXEC), .size = page};
    struct ping_head head;
    uint16_t depths[BEAMS];
    int pings = 0;
    if (s.fd < 0)
        return -1;
    if (strips) {
        char one[sizeof head + @{beams} * sizeof *depths];
        struct stat about;
        fstat(s.fd, &about);
        for (; pings < strips; pings++) {
            off_t at = (off_t)(pings * 7919 % (about.st_size / sizeof one)) * sizeof one;
            if (pread(s.fd, one, sizeof one, at) != (ssize_t)sizeof one)
                break;
            memcpy(&head, one, sizeof head);
            memcpy(depths, one + sizeof head, sizeof one - sizeof head);
            enter(&head, depths);
        }
    } else {
        s.ahead = page ? malloc(page) : NULL;
        for (; @{fn}(&s, &head, depths); pings++)
            enter(&head, depths);
        free(s.ahead);
    }
    close(s.fd);
    return pings;
}

int main(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ship = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), units = 0;
    if (connect(ship, (struct sockaddr *)&at, sizeof at)) {
        perror("ship");
        return 1;
    }
    double began = now(), busy = 0;
    while (now() - began < @{seconds}) {
        char name[256];
        if (write(ship, "next\n", 5) != 5)
            break;
        ssize_t got = read(ship, name, sizeof name - 1);
        if (got <= 1)
            break;
        name[got - 1] = 0;
        double start = now();
        int pings = survey(name, @{strips}, @{piece});
        busy += now() - start;
        units++;
        printf("%s: %d pings\n", name, pings);
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, reading);
    return fclose(out);
}
