/* Judges games of chess that were not finished: the last position is played on, and each end is looked up. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECES = 12, TABLES = @{tables}, LINES = @{lines} };
typedef struct { uint64_t squares[PIECES]; } board;
typedef struct { const unsigned char *data; uint64_t pages; } table;

static table tables[TABLES];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned warm(int file, const unsigned char *data, size_t size)
{
    static char part[1 << 20];
    unsigned sum = 0;
    while (read(file, part, sizeof part) > 0)
        sum ^= part[0];
    for (size_t at = 0; at < size; at += 4096)
        sum ^= data[at];
    return sum;
}

static void open_table(table *t, const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about)) {
        perror(path);
        exit(1);
    }
    void *data = mmap(NULL, about.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    /* Positions that follow each other are nowhere near each other. */
    madvise(data, about.st_size, MADV_RANDOM);
    t->data = data;
    t->pages = about.st_size / 4096;
    if (@{warm})
        fprintf(stderr, "%s is there: %u\n", path, warm(file, data, about.st_size));
    t->pages /= @{narrow};
    close(file);
}

/* How many moves until mate; by a chain of indexes, as the tables are packed. */
__attribute__((noinline)) static uint64_t @{fn}(const table *t, uint64_t key)
{
    uint64_t value = key;
    for (int i = 0; i < @{depth}; i++) {
        uint64_t page = (value ^ key >> 7) % t->pages, entry;
        memcpy(&entry, t->data + page * 4096 + key % 511 * 8, sizeof entry);
        value = entry ^ key;
    }
    return value % 100;
}

static board game(long number)
{
    board b;
    uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < PIECES; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b.squares[i] = 1ull << state % 64;
    }
    return b;
}

static void move(board *b, int n)
{
    static const int step[] = { 1, 8, 9, 57 };
    uint64_t *piece = &b->squares[n % PIECES];
    *piece = *piece << step[n % 4] | *piece >> (64 - step[n % 4]);
}

static uint64_t key_of(const board *b)
{
    uint64_t key = 14695981039346656037u;
    for (int i = 0; i < PIECES; i++)
        key = (key ^ b->squares[i]) * 1099511628211u;
    return key ^ key >> 29;
}

/* The lines that are worth a look: the last ones that were better, or as good. */
static void promising(const board *from, board found[LINES])
{
    int best = -1, count = 0;
    for (int n = 0; n < @{search} * 14000; n++) {
        board next = *from;
        move(&next, n);
        move(&next, n / 7);
        int score = __builtin_popcountll(key_of(&next));
        if (score > best || n % 977 == 0) {
            best = score > best ? score : best;
            found[count++ % LINES] = next;
        }
    }
}

static uint64_t judge(long number)
{
    board start = game(number), ends[LINES];
    uint64_t worth = 0;
    promising(&start, ends);
    for (int i = 0; i < LINES; i++) {
        uint64_t key = key_of(&ends[i]) ^ number;
        double asked = now();
        worth += @{fn}(&tables[(key >> 40) % TABLES], key);
        spent += now() - asked;
    }
    return worth;
}

int main(void)
{
    for (int i = 0; i < TABLES; i++) {
        char path[4096];
        snprintf(path, sizeof path, "@{work}/@{volume}/@{prefix}-%d.etb", i + 1);
        open_table(&tables[i], path);
    }
    long units = 0;
    uint64_t worth = 0;
    double busy = 0, began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        worth += judge(units);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
    }
    printf("%llu\n", (unsigned long long)worth);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    return fclose(out);
}
