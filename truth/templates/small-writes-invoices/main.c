/* Tells the positions of an invoice, priced for the customer, in one line. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSITIONS = @{positions}, CUSTOMERS = @{customers}, ARTICLES = 400 };

struct article { char name[24]; long cents; int tax; };
struct answer { int to; size_t kept; char buffer[@{gather} + 512]; };

static struct article articles[ARTICLES];
static int rebates[CUSTOMERS];

static void read_catalogue(void) {
    unsigned state = 17;
    for (int i = 0; i < ARTICLES; i++) {
        state = state * 1664525u + 1013904223u;
        snprintf(articles[i].name, sizeof articles[i].name, "article-%04u", state % 10000);
        articles[i].cents = 100 + state % 90000;
        articles[i].tax = state % 3 ? 19 : 7;
    }
    for (int i = 0; i < CUSTOMERS; i++) rebates[i] = i * 7 % 15;
}

static void all_of(int to, const char *bytes, size_t count) {
    while (count) {
        ssize_t done = write(to, bytes, count);
        if (done <= 0) return;
        bytes += done;
        count -= done;
    }
}

static void flush(struct answer *answer) {
    all_of(answer->to, answer->buffer, answer->kept);
    answer->kept = 0;
}

static __attribute__((noinline)) void @{fn}(struct answer *answer, const char *format, ...) {
    va_list values;
    va_start(values, format);
    answer->kept += vsnprintf(answer->buffer + answer->kept, 512, format, values);
    va_end(values);
    if (answer->kept >= @{gather}) flush(answer);
}

static void invoice(struct answer *answer, long number) {
    long net = 0, tax = 0;
    int rebate = rebates[number % CUSTOMERS];
    @{fn}(answer, "invoice=%ld customer=%ld", number, number % CUSTOMERS);
    for (int i = 0; i < POSITIONS; i++) {
        const struct article *article = &articles[(number * 31 + i * 17) % ARTICLES];
        int pieces = 1 + (number + i) % 9;
        long price = article->cents * pieces * (100 - rebate) / 100;
        net += price;
        tax += price * article->tax / 100;
        @{fn}(answer, "; %s", article->name);
        @{fn}(answer, " %d x", pieces);
        @{fn}(answer, " %ld.%02ld", price / 100, price % 100);
    }
    @{fn}(answer, "; net=%ld.%02ld tax=%ld.%02ld\n", net / 100, net % 100, tax / 100, tax % 100);
    flush(answer);
}

static void *talk(void *argument) {
    int client = (int)(long)argument;
    FILE *in = fdopen(dup(client), "r");
    struct answer *answer = calloc(1, sizeof *answer);
    char line[200];
    answer->to = client;
    while (fgets(line, sizeof line, in)) {
        long number;
        if (sscanf(line, "invoice %ld", &number) == 1) invoice(answer, number);
        else all_of(client, "error\n", 6);
    }
    free(answer);
    fclose(in);
    close(client);
    return NULL;
}

int main(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    signal(SIGPIPE, SIG_IGN);
    read_catalogue();
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&place, sizeof place) || listen(door, 50)) return perror("listen"), 1;
    for (;;) {
        int client = accept(door, NULL, NULL);
        pthread_t thread;
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (pthread_create(&thread, NULL, talk, (void *)(long)client)) close(client);
        else pthread_detach(thread);
    }
}
