/* Draws the labels of a mail-order house. The master holds the glyphs; a worker, which is a copy of it, draws. A worker that falls is replaced. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GLYPH = 1024, WIDE = 512, HIGH = 64 };

struct label {
    int order;
    char text[120];
};

struct drawn {
    int order;
    uint32_t ink, sum;
};

static uint8_t *glyphs;
static size_t glyph_count;
static FILE *events;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void load_glyphs(void)
{
    uint32_t seed = 2463534242u;
    glyph_count = ((size_t)@{held_mb} << 20) / GLYPH;
    glyphs = malloc(glyph_count * GLYPH);
    if (!glyphs) {
        perror("glyphs");
        exit(1);
    }
    for (size_t i = 0; i < glyph_count * GLYPH; i += 4) {
        seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
        memcpy(glyphs + i, &seed, 4);
    }
}

/* The glyph of a letter in the face that the customer chose; there is none for letters that no face has. */
static const uint8_t *glyph_of(int face, unsigned char letter)
{
    if (letter < 32)
        return NULL;
    return glyphs + ((size_t)face * 7919 + letter) % glyph_count * GLYPH;
}

static struct drawn @{fn}(const struct label *label)
{
    static uint8_t page[HIGH][WIDE];
    struct drawn drawn = {label->order, 0, 0};
    for (int pass = 0; pass < @{effort}; pass++) {
        memset(page, 0, sizeof page);
        for (int at = 0; label->text[at]; at++) {
            const uint8_t *glyph = glyph_of(label->order % 97 + pass, (unsigned char)label->text[at]);
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++)
                    page[y + at % 2 * 32][(at * 11 + x) % WIDE] |= glyph[y * 32 + x];
        }
    }
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            drawn.ink += page[y][x] > 128;
            drawn.sum = drawn.sum * 31 + page[y][x];
        }
    return drawn;
}

struct worker {
    pid_t pid;
    int line;
};

static struct worker hire(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
        exit(1);
    struct worker worker = {fork(), pair[0]};
    if (worker.pid == 0) {
        struct label label;
        close(pair[0]);
        while (recv(pair[1], &label, sizeof label, 0) > 0) {
            struct drawn drawn = @{fn}(&label);
            send(pair[1], &drawn, sizeof drawn, 0);
        }
        _exit(0);
    }
    close(pair[1]);
    return worker;
}

static double replace(struct worker *worker, int order)
{
    double began = now();
    int status;
    close(worker->line);
    waitpid(worker->pid, &status, 0);
    *worker = hire();
    fprintf(events, "label %d: the worker ended by signal %d\n", order, WTERMSIG(status));
    fflush(events);
    return now() - began;
}

static void address(struct label *label, int order)
{
    int at = snprintf(label->text, sizeof label->text, "Order %d, row %d: ", order, order * 7 % 90);
    for (; at < @{letters} + 20; at++)
        label->text[at] = 'A' + (order * 3 + at * 5) % 26;
    label->text[at] = 0;
    label->order = order;
    /* Some customers paste what has control characters in it. */
    if (order % @{one_in} == @{one_in} / 2)
        label->text[at - 3] = '\t';
}

int main(void)
{
    struct rlimit core = {@{core} ? RLIM_INFINITY : 0, @{core} ? RLIM_INFINITY : 0};
    setrlimit(RLIMIT_CORE, &core);
    signal(SIGPIPE, SIG_IGN);
    events = fopen("@{work}/labels.log", "w");
    load_glyphs();
    struct worker worker = hire();
    int units = 0, refused = 0;
    double busy = 0, spent = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due = due + 1.0 / @{rate} > now() ? due + 1.0 / @{rate} : now();
        if (due > now())
            usleep((due - now()) * 1e6);
        double start = now();
        struct label label;
        struct drawn drawn;
        address(&label, units);
        send(worker.line, &label, sizeof label, 0);
        double asked = now();
        if (recv(worker.line, &drawn, sizeof drawn, 0) <= 0) {
            /* What came of it is known when the line is closed: by then the worker is gone. */
            spent += now() - asked + replace(&worker, units);
            refused++;
        }
        busy += now() - start;
        units++;
    }
    fprintf(events, "%d labels, %d refused\n", units, refused);
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(report);
    kill(worker.pid, SIGTERM);
    return 0;
}
