/* The gate of a fair: a badge for each visitor. The renderer is a process of its own; both share a table of badges. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PLACES 16
#define SIDE @{sides}
#define IS_TOLD (!strcmp("@{wait}", "told"))

enum state { EMPTY, ORDERED, RENDERED };

struct badge {
    _Atomic int state;
    long visitor;
    unsigned checksum;
    sem_t done;
};

static struct table {
    sem_t orders;
    struct badge badges[PLACES];
    _Atomic long rendered;
} *table;

static void pause_ms(double ms)
{
    struct timespec t = { (time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L };
    nanosleep(&t, NULL);
}

/* A pattern that the gates' cameras read: cells that follow from their neighbours. */
static unsigned drawn(long visitor)
{
    static unsigned char rows[2][SIDE];
    unsigned sum = visitor;
    for (int i = 0; i < SIDE; i++)
        rows[0][i] = (visitor >> i % 24) & 1;
    for (int y = 1; y < SIDE * 30; y++) {
        unsigned char *above = rows[(y - 1) & 1], *row = rows[y & 1];
        for (int x = 0; x < SIDE; x++) {
            row[x] = above[(x + SIDE - 1) % SIDE] ^ (above[x] | above[(x + 1) % SIDE]);
            sum = sum * 31 + row[x];
        }
    }
    return sum;
}

static void render(void)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (;;) {
        sem_wait(&table->orders);
        for (int i = 0; i < PLACES; i++) {
            struct badge *badge = &table->badges[i];
            if (atomic_load(&badge->state) != ORDERED)
                continue;
            badge->checksum = drawn(badge->visitor);
            atomic_store(&badge->state, RENDERED);
            if (IS_TOLD)
                sem_post(&badge->done);
            atomic_fetch_add(&table->rendered, 1);
        }
    }
}

static unsigned __attribute__((noinline)) @{fn}(struct badge *badge)
{
    if (IS_TOLD)
        sem_wait(&badge->done);
    else
        while (atomic_load(&badge->state) != RENDERED)
            pause_ms(@{pause});
    return badge->checksum;
}

struct visit {
    int client, place;
};

static void *serve(void *given)
{
    struct visit visit = *(struct visit *)given;
    struct badge *badge = &table->badges[visit.place];
    char text[128];
    ssize_t n;
    free(given);
    while ((n = read(visit.client, text, sizeof text - 1)) > 0) {
        text[n] = 0;
        badge->visitor = atol(strchr(text, ' ') ? strchr(text, ' ') : "0");
        atomic_store(&badge->state, ORDERED);
        sem_post(&table->orders);
        n = snprintf(text, sizeof text, "badge %ld %08x\n", badge->visitor, @{fn}(badge));
        atomic_store(&badge->state, EMPTY);
        if (write(visit.client, text, n) < 0)
            break;
    }
    close(visit.client);
    return NULL;
}

static void *count(void *unused)
{
    for (long last = 0;;) {
        pause_ms(@{tick});
        long now = atomic_load(&table->rendered);
        if (now - last > 100000)
            fprintf(stderr, "%ld badges\n", now - last);
        last = now;
    }
    return unused;
}

int main(void)
{
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(&table->orders, 1, 0);
    for (int i = 0; i < PLACES; i++)
        sem_init(&table->badges[i].done, 1, 0);
    if (!fork())
        render();
    pthread_create(&thread, NULL, count, NULL);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 64)) {
        perror("door");
        return 1;
    }
    for (int place = 0;; place = (place + 1) % PLACES) {
        struct visit *visit = malloc(sizeof *visit);
        visit->client = accept(door, NULL, NULL);
        visit->place = place;
        setsockopt(visit->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_create(&thread, NULL, serve, visit);
    }
}
