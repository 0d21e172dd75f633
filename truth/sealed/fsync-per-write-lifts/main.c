/* The control room of a company that looks after lifts: a thread keeps the book of each building. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BUILDINGS = @{buildings}, WAITING = 8 };

struct book {
    FILE *file;
    pthread_t keeper;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *waiting[WAITING], *part;
    int first, count, is_over;
    long events, units;
    double busy, safe, kept;
};

static struct book books[BUILDINGS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void keep_safe(struct book *book)
{
    double start = now();
    fflush(book->file);
    fsync(fileno(book->file));
    book->kept = now();
    book->safe += book->kept - start;
}

static __attribute__((noinline)) void @{fn}(struct book *book, const char *event)
{
    uint32_t mark = 5381;
    for (const char *c = event; *c; c++)
        mark = mark * 33 + (unsigned char)*c;
    fprintf(book->file, "%08ld %08x %s\n", ++book->events, mark, event);
    if (!strcmp("@{safe}", "event"))
        keep_safe(book);
}

static void burst(struct book *book, char *text)
{
    double start = now();
    for (char *event; (event = strsep(&text, "\n"));)
        if (*event)
            @{fn}(book, event);
    if (!strcmp("@{safe}", "burst") || (!strcmp("@{safe}", "clock") && now() - book->kept > @{period}))
        keep_safe(book);
    book->units++;
    book->busy += now() - start;
}

static void *keep(void *given)
{
    struct book *book = given;
    for (;;) {
        pthread_mutex_lock(&book->lock);
        while (!book->count && !book->is_over)
            pthread_cond_wait(&book->changed, &book->lock);
        char *text = book->count ? book->waiting[book->first] : NULL;
        if (text) {
            book->first = (book->first + 1) % WAITING;
            book->count--;
            pthread_cond_broadcast(&book->changed);
        }
        pthread_mutex_unlock(&book->lock);
        if (!text)
            return NULL;
        burst(book, text);
        free(text);
    }
}

static void put(struct book *book, char *text)
{
    pthread_mutex_lock(&book->lock);
    while (book->count == WAITING)
        pthread_cond_wait(&book->changed, &book->lock);
    book->waiting[(book->first + book->count++) % WAITING] = text;
    pthread_cond_broadcast(&book->changed);
    pthread_mutex_unlock(&book->lock);
}

int main(void)
{
    static char packet[65537];
    struct sockaddr_un here = { .sun_family = AF_UNIX, .sun_path = "@{work}/room.sock" };
    struct timeval patience = { 5, 0 };
    for (int i = 0; i < BUILDINGS; i++) {
        char path[4096];
        snprintf(path, sizeof path, "@{work}/@{books}/building-%d@{book}", i);
        books[i].file = fopen(path, "a");
        books[i].kept = now();
        pthread_mutex_init(&books[i].lock, NULL);
        pthread_cond_init(&books[i].changed, NULL);
        pthread_create(&books[i].keeper, NULL, keep, &books[i]);
    }
    int room = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (bind(room, (struct sockaddr *)&here, sizeof here)) {
        perror(here.sun_path);
        return 1;
    }
    setsockopt(room, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    double began = now();
    ssize_t n;
    while (now() - began < @{seconds} && (n = recv(room, packet, sizeof packet - 1, 0)) > 0) {
        packet[n] = 0;
        int building, at = 0;
        char mark;
        if (sscanf(packet, "%d %c%n", &building, &mark, &at) < 2)
            continue;
        struct book *book = &books[building % BUILDINGS];
        size_t had = book->part ? strlen(book->part) : 0;
        book->part = realloc(book->part, had + n + 1);
        strcpy(book->part + had, packet + at + 1);
        if (mark == '=') {
            put(book, book->part);
            book->part = NULL;
        }
    }
    long units = 0;
    double busy = 0, safe = 0;
    for (int i = 0; i < BUILDINGS; i++) {
        pthread_mutex_lock(&books[i].lock);
        books[i].is_over = 1;
        pthread_cond_broadcast(&books[i].changed);
        pthread_mutex_unlock(&books[i].lock);
        pthread_join(books[i].keeper, NULL);
        units += books[i].units;
        busy += books[i].busy;
        safe += books[i].safe;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, safe);
    fclose(out);
    return 0;
}
