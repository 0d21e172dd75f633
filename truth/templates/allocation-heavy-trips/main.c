// Finds who could take over a duty: chains of swaps between drivers. One process, one loop: `trip 17` in, a line out.
#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES 64
#define DEEPEST 9

struct driver {
    char name[48];
    float hours, skill;
    int mates[@{degree}];
};

struct step {
    char *what;
    struct step *before;
};

struct chain {
    float cost;
    int driver, depth;
    struct step *steps;
};

static struct driver *drivers;

static void read_drivers(void)
{
    drivers = calloc(@{stops}, sizeof *drivers);
    for (int i = 0; i < @{stops}; i++) {
        snprintf(drivers[i].name, sizeof drivers[i].name, "driver of depot %d, number %d", i % 9, i);
        drivers[i].hours = 20 + i * 7 % 23;
        drivers[i].skill = i * 11 % 17;
        for (int k = 0; k < @{degree}; k++)
            drivers[i].mates[k] = (i * 5 + k * 61 + 1) % @{stops};
    }
}

static float cost_of(int from, int to)
{
    float hours = drivers[from].hours - drivers[to].hours, skill = drivers[from].skill - drivers[to].skill;
    return sqrtf(hours * hours + skill * skill) + 1;
}

static struct step *add(struct step *before, const char *what)
{
    struct step *step = malloc(sizeof *step);
    step->what = strdup(what);
    step->before = before;
    return step;
}

static struct step *copy(const struct step *of)
{
    return of ? add(copy(of->before), of->what) : NULL;
}

static void drop(struct chain *chain)
{
    for (struct step *step = chain->steps, *before; step; step = before) {
        before = step->before;
        free(step->what);
        free(step);
    }
    free(chain);
}

static struct chain *__attribute__((noinline)) @{fn}(const struct chain *chain, int to)
{
    struct chain *next = malloc(sizeof *next);
    *next = *chain;
    next->cost += cost_of(chain->driver, to);
    next->driver = to;
    next->depth++;
    next->steps = add(copy(chain->steps), drivers[to].name);
    return next;
}

// The open chains, the cheapest in front; what does not fit is the dearest.
static void put(struct chain **open, int *many, int most, struct chain *chain)
{
    int low = 0, high = *many;
    while (low < high) {
        int middle = (low + high) / 2;
        if (open[middle]->cost > chain->cost)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(open + low + 1, open + low, (*many - low) * sizeof *open);
    open[low] = chain;
    if (++*many > most) {
        if (@{copies})
            drop(open[0]);
        memmove(open, open + 1, --*many * sizeof *open);
    }
}

static int answer(char *text, size_t size, int from, int goal)
{
    enum { MOST = 300 };
    static struct chain *open[MOST + 2], kept[@{limit} * @{degree} + 1];
    int many = 0, used = 1, depth = 0, tries = 0;
    float best = 1e9f;
    struct chain first = { 0, from, 0, NULL };
    kept[0] = first;
    put(open, &many, MOST, @{copies} ? @{fn}(&first, from) : &kept[0]);
    for (; tries < @{limit} && many; tries++) {
        struct chain *chain = open[--many];
        if (chain->driver == goal && chain->cost < best)
            best = chain->cost, depth = chain->depth;
        for (int k = 0; k < @{degree} && chain->depth < DEEPEST; k++) {
            int to = drivers[chain->driver].mates[k];
            struct chain *next = &kept[used];
            if (@{copies}) {
                next = @{fn}(chain, to);
            } else {
                *next = (struct chain){ chain->cost + cost_of(chain->driver, to), to, chain->depth + 1, NULL };
                used++;
            }
            put(open, &many, MOST, next);
        }
        if (@{copies})
            drop(chain);
    }
    while (@{copies} && many)
        drop(open[--many]);
    return snprintf(text, size, "%s: %d swaps, %.1f hours, %d looked at\n", drivers[goal].name, depth, best < 1e9f ? best : 0, tries);
}

int main(void)
{
    struct pollfd fds[LINES] = { { socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0 } };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int count = 1, yes = 1;
    char text[256];
    signal(SIGPIPE, SIG_IGN);
    read_drivers();
    setsockopt(fds[0].fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fds[0].fd, (struct sockaddr *)&address, sizeof address) || listen(fds[0].fd, 64))
        return 1;
    while (poll(fds, count, -1) > 0) {
        for (int i = count - 1; i > 0; i--) {
            if (!fds[i].revents)
                continue;
            ssize_t got = read(fds[i].fd, text, sizeof text - 1);
            if (got <= 0) {
                close(fds[i].fd);
                fds[i] = fds[--count];
                continue;
            }
            text[got] = 0;
            long number = strncmp(text, "trip ", 5) ? 0 : atol(text + 5);
            int length = answer(text, sizeof text, number * 131 % @{stops}, (number * 977 + 41) % @{stops});
            if (write(fds[i].fd, text, length) < 0)
                fds[i].events = 0;
        }
        if (fds[0].revents && count < LINES)
            fds[count++] = (struct pollfd){ accept(fds[0].fd, NULL, NULL), POLLIN, 0 };
    }
    return 1;
}
