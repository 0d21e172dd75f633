/* Sells tickets: the price of a journey is in a table in memory, and the ticket is printed by a program of the maker of the printer. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct price {
    uint32_t from, to, cents, sold;
};

struct order {
    uint32_t from, to, travellers, cents;
};

static struct price *table;
static size_t rows;
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void pause_until(double due)
{
    double rest = due - now();
    if (rest > 0) {
        struct timespec t = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&t, NULL);
    }
}

static void load(size_t bytes)
{
    rows = bytes / sizeof *table;
    table = malloc(rows * sizeof *table);
    if (!table)
        exit(1);
    for (size_t i = 0; i < rows; i++)
        table[i] = (struct price){ i % 4096, i / 4096, 190 + i * 7 % 9000, 0 };
}

/* The cheapest way: directly, or with a change somewhere. */
static uint32_t cheapest(const struct order *order)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t over = 0; over < @{looks} * 20u; over++) {
        struct price *one = &table[(order->from * 4096ul + over * 131u) % rows];
        struct price *two = &table[(order->to * 4096ul + over * 17u) % rows];
        if (one->cents + two->cents < best)
            best = one->cents + two->cents;
    }
    struct price *direct = &table[(order->from + order->to * 4096ul) % rows];
    direct->sold += order->travellers;
    return direct->cents < best ? direct->cents : best;
}

static int __attribute__((noinline)) @{fn}(const struct order *order)
{
    char text[64];
    snprintf(text, sizeof text, "%u-%u-%u", order->from, order->to, order->cents);
    double asked = now();
    pid_t pid = fork();
    if (pid == 0) {
        execl("@{work}/bin/@{tool}", "@{tool}", text, (char *)NULL);
        _exit(127);
    }
    spent += now() - asked;
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* The printer's own process: an order in, how it went out. */
static int printer(void)
{
    int line[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line))
        exit(1);
    if (fork() == 0) {
        struct order order;
        close(line[1]);
        while (read(line[0], &order, sizeof order) == sizeof order) {
            int status = @{fn}(&order);
            if (write(line[0], &status, sizeof status) < 0)
                break;
        }
        _exit(0);
    }
    close(line[0]);
    return line[1];
}

static int sell(int line, struct order *order)
{
    int status;
    order->cents = cheapest(order) * order->travellers;
    if (line < 0)
        return @{fn}(order);
    if (write(line, order, sizeof *order) < 0 || read(line, &status, sizeof status) != sizeof status)
        return -1;
    return status;
}

int main(void)
{
    int line = strcmp("@{how}", "spawn") == 0 ? printer() : -1;
    load(@{held_mb} * 1048576ul);
    long units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due += 1.0 / @{rate};
        if (due < now())
            due = now();
        pause_until(due);
        double start = now();
        struct order order = { units * 37 % 4096, units * 101 % 4096, 1 + units % 4, 0 };
        if (sell(line, &order)) {
            fprintf(stderr, "no ticket from %u to %u\n", order.from, order.to);
            return 1;
        }
        busy += now() - start;
        units++;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(out);
    return 0;
}
