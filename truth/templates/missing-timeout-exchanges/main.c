/* Changes money for travellers: each desk, a process, asks the exchanges for their rates, and takes the best. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DESKS = @{desks}, EXCHANGES = 3 };

/* What a desk has done; shared with the one who counts. */
struct book {
    volatile long units;
    volatile double busy, asking, start, asked;
};

struct exchange {
    int port, line;
};

static const char *const currencies[] = {"dollar", "franc", "krone", "zloty", "lira", "forint"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void rest_until(double due)
{
    double rest = due - now();
    struct timespec t = {(time_t)rest, (long)((rest - (time_t)rest) * 1e9)};
    if (rest > 0)
        nanosleep(&t, NULL);
}

static struct sockaddr_in place(int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return here;
}

static int opened(int port)
{
    int line = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in there = place(port);
    double limit = @{limit};
    struct timeval patience = {(time_t)limit, (suseconds_t)((limit - (time_t)limit) * 1e6)};
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(line, (struct sockaddr *)&there, sizeof there) != 0) {
        close(line);
        return -1;
    }
    return line;
}

/* The rate, or 0 where there is none. */
static double __attribute__((noinline)) @{fn}(struct exchange *exchange, const char *currency, long number)
{
    char text[64];
    size_t got = 0;
    double rate = 0;
    if (exchange->line < 0 && (exchange->line = opened(exchange->port)) < 0)
        return 0;
    int length = snprintf(text, sizeof text, "RATE %s %ld\n", currency, number);
    if (send(exchange->line, text, length, MSG_NOSIGNAL) == length) {
        while (got < sizeof text - 1) {
            ssize_t n = recv(exchange->line, text + got, sizeof text - 1 - got, 0);
            if (n <= 0)
                break;
            got += n;
            text[got] = 0;
            if (text[got - 1] == '\n' && sscanf(text, "RATE %lf", &rate) == 1)
                return rate;
        }
    }
    close(exchange->line);
    exchange->line = -1;
    return 0;
}

/* In how many ways a sum can be paid out. */
static unsigned notes(unsigned sum)
{
    static unsigned ways[60000];
    static const unsigned worth[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
    memset(ways, 0, sizeof ways);
    ways[0] = 1;
    for (unsigned i = 0; i < sizeof worth / sizeof *worth; i++)
        for (unsigned s = worth[i]; s <= sum && s < 60000; s++)
            ways[s] = (ways[s] + ways[s - worth[i]]) % 1000000007;
    return ways[sum % 60000];
}

static void desk(int number, struct book *book, double began)
{
    struct exchange exchanges[EXCHANGES] = {{@{first}, -1}, {@{second}, -1}, {@{third}, -1}};
    char name[64];
    snprintf(name, sizeof name, "desk-%d.log", number);
    FILE *journal = fopen(name, "w");
    if (!journal)
        exit(1);
    rest_until(began + number * 0.007);
    for (;;) {
        long traveller = book->units * 31 + number;
        const char *currency = currencies[traveller % 6];
        double best = 0;
        book->start = now();
        for (int i = 0; i < EXCHANGES; i++) {
            book->asked = now();
            double rate = @{fn}(&exchanges[i], currency, traveller);
            if (i == EXCHANGES - 1)
                book->asking += now() - book->asked;
            best = rate > best ? rate : best;
        }
        book->asked = 0;
        fprintf(journal, "%ld %s %.4f %u\n", traveller, currency, best, notes((unsigned)(best * 40000)));
        book->busy += now() - book->start;
        book->start = 0;
        book->units++;
        rest_until(began + book->units / (double)@{rate});
    }
}

/* A board at the wall may ask what was changed. */
static void board(struct book *books)
{
    int door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = place(0);
    if (bind(door, (struct sockaddr *)&here, sizeof here) != 0 || listen(door, 5) != 0)
        exit(1);
    for (;;) {
        int wall = accept(door, NULL, NULL);
        for (int i = 0; i < DESKS; i++)
            dprintf(wall, "%d %ld\n", i, books[i].units);
        close(wall);
    }
}

int main(void)
{
    struct book *books = mmap(NULL, DESKS * sizeof *books, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[DESKS + 1] = {0};
    double began = now();
    if (books == MAP_FAILED || chdir("@{work}") != 0)
        return 1;
    for (int i = 0; i < DESKS + @{board}; i++) {
        if ((children[i] = fork()) == 0) {
            if (i < DESKS)
                desk(i, &books[i], began);
            else
                board(books);
        }
    }
    rest_until(began + @{seconds});
    long units = 0;
    double busy = 0, asking = 0, end = now();
    for (int i = 0; i < DESKS; i++) {
        /* What it waits for at this moment counts as well. */
        double start = books[i].start, asked = books[i].asked;
        units += books[i].units;
        busy += books[i].busy + (start > 0 ? end - start : 0);
        asking += books[i].asking + (asked > 0 ? end - asked : 0);
    }
    for (int i = 0; i < DESKS + @{board}; i++) {
        kill(children[i], SIGTERM);
        waitpid(children[i], NULL, 0);
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, asking);
    return fclose(out) != 0;
}
