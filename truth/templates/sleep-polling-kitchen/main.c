// The kitchen's side of a restaurant's orders: which stove does what, and a ticket for each table.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STOVES = @{stoves}, MOST = 64, TICK_MS = @{tick} };

struct stove {
    int number;
    double free_at;
};

struct kitchen {
    struct stove stoves[STOVES];
    double clock;
    int done, bell, printer, rows;
    char held[8192];
    size_t length;
};

static void write_state(const struct kitchen *k) {
    FILE *out = fopen("kitchen.state", "w");
    if (!out)
        return;
    double latest = 0;
    for (int i = 0; i < STOVES; i++)
        latest = k->stoves[i].free_at > latest ? k->stoves[i].free_at : latest;
    fprintf(out, "orders %d\nlatest stove %.0f\n", k->done, latest);
    fclose(out);
}

static int open_kitchen(struct kitchen *k, const char *table) {
    memset(k, 0, sizeof *k);
    for (int i = 0; i < STOVES; i++)
        k->stoves[i].number = i + 1;
    k->bell = open("bell", O_RDWR | O_CLOEXEC);
    k->printer = open("tickets", O_RDWR | O_CLOEXEC);
    k->rows = open(table, O_RDONLY | O_CLOEXEC);
    return k->bell < 0 || k->printer < 0 || k->rows < 0 ? -1 : 0;
}

// Takes what the tills have appended; waits until there is a row.
__attribute__((noinline)) static void @{fn}(struct kitchen *k) {
    for (;;) {
        ssize_t got = read(k->rows, k->held + k->length, sizeof k->held - 1 - k->length);
        if (got > 0) {
            k->length += got;
            k->held[k->length] = 0;
            if (memchr(k->held, '\n', k->length))
                return;
            continue;
        }
        if (@{rings}) {
            struct pollfd ready = {.fd = k->bell, .events = POLLIN};
            char rung[64];
            if (poll(&ready, 1, TICK_MS) == 0)
                write_state(k);
            else if (read(k->bell, rung, sizeof rung) < 0)
                perror("bell");
        } else {
            struct timespec pause = {TICK_MS / 1000, TICK_MS % 1000 * 1000000L};
            nanosleep(&pause, NULL);
        }
    }
}

// The stove that is free first and not too far from the pass.
static struct stove *stove_for(struct kitchen *k, int dish) {
    struct stove *best = k->stoves;
    double cost = 1e18;
    for (int i = 0; i < STOVES; i++) {
        double wait = k->stoves[i].free_at - k->clock, walk = abs(i - dish % STOVES) * 0.4;
        wait = (wait > 0 ? wait : 0) + walk;
        if (wait < cost) {
            best = &k->stoves[i];
            cost = wait;
        }
    }
    return best;
}

static void cook(struct kitchen *k, char *row) {
    char *place = NULL, *number = strtok_r(row, ";", &place), *table = strtok_r(NULL, ";", &place);
    int dishes[MOST], count = 0, length;
    for (char *word; count < MOST && (word = strtok_r(NULL, ",", &place));)
        dishes[count++] = atoi(word);
    if (!number || !table)
        return;
    char ticket[1024];
    length = snprintf(ticket, sizeof ticket, "%s table %s:", number, table);
    for (int round = 0; round < 2000; round++)
        for (int i = 0; i < count; i++) {
            struct stove *stove = stove_for(k, dishes[i] + round);
            double from = stove->free_at > k->clock ? stove->free_at : k->clock;
            stove->free_at = from + 0.02 + dishes[i] % 9 * 0.01;
            if (round == 0)
                length += snprintf(ticket + length, sizeof ticket - length, " %d@%d", dishes[i], stove->number);
        }
    k->clock += 1.5;
    k->done++;
    ticket[length++] = '\n';
    if (write(k->printer, ticket, length) != length)
        perror("tickets");
}

int main(void) {
    static struct kitchen k;
    if (open_kitchen(&k, "@{table}")) {
        perror("open");
        return 1;
    }
    write_state(&k);
    for (;;) {
        @{fn}(&k);
        char *row = k.held, *end;
        while ((end = memchr(row, '\n', k.held + k.length - row))) {
            *end = 0;
            cook(&k, row);
            row = end + 1;
        }
        k.length -= row - k.held;
        memmove(k.held, row, k.length);
    }
}
