/* Takes orders for engraving: reckons the path of the needle over a motif, and enters it on the customer's card. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct path {
    long length, x, y;
    unsigned mark;
};

static FILE *cards[4096];
static unsigned first, next;
static double opening;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int reckon(long motif, struct path *path)
{
    char name[300], part[4096];
    size_t size;
    snprintf(name, sizeof name, "@{work}/@{designs}/motif-%ld.txt", motif);
    FILE *text = fopen(name, "r");
    if (!text)
        return -1;
    memset(path, 0, sizeof *path);
    while ((size = fread(part, 1, sizeof part, text)) > 0)
        for (size_t i = 0; i < size; i++) {
            int dx = part[i] % 7 - 3, dy = part[i] / 7 % 7 - 3;
            path->x += dx;
            path->y += dy;
            path->length += abs(dx) + abs(dy);
            path->mark = path->mark * 31 + part[i];
        }
    fclose(text);
    return 0;
}

static FILE *__attribute__((noinline)) @{fn}(long customer)
{
    char name[300];
    double start = now();
    snprintf(name, sizeof name, "@{work}/@{cards}/c%ld.card", customer);
    FILE *card = fopen(name, "a");
    if (card)
        cards[next++ % 4096] = card;
    opening += now() - start;
    return card;
}

static int order(long number)
{
    struct path path;
    FILE *card = @{fn}(1000 + number * 17);
    if (!card || reckon(number % 40, &path))
        return -1;
    fprintf(card, "order %ld: %ld steps to %ld,%ld, %08x\n", number, path.length, path.x, path.y, path.mark);
    fflush(card);
    while (next - first > @{hold})
        fclose(cards[first++ % 4096]);
    return 0;
}

int main(void)
{
    struct rlimit most = { @{limit}, @{limit} };
    setrlimit(RLIMIT_NOFILE, &most);
    double began = now(), busy = 0;
    long units = 0, late = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        if (order(units) && late++ % 50 == 0)
            fprintf(stderr, "order %ld is put off: %s\n", units, strerror(errno));
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            usleep((useconds_t)(rest * 1e6));
    }
    while (first < next)
        fclose(cards[first++ % 4096]);
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"late\": %ld}", units, busy, opening, late);
    return fclose(report) != 0;
}
