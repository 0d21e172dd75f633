// Five threads, each of which does one thing over and over: site PORT FOLDER. A line marked SITE is where the time of that kind
// must be told to go, with the function it is in. Each thread says its kind and its number in the system.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static char block[1 << 22];
static int port, file;
static volatile unsigned sink;

static void rest_ms(long ms) {
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, 0); // SITE rest rest_ms
    sink++;
}

static unsigned heron_tally(unsigned seed) {
    unsigned sum = seed;
    for (unsigned at = 0; at < 40000000; at++) // SITE compute heron_tally
        sum = sum * 31 + (sum >> 7) + at; // SITE compute heron_tally
    return sum;
}

static unsigned otter_latch(unsigned taken) {
    if (pthread_mutex_lock(&latch)) // SITE lock otter_latch
        abort();
    taken++;
    pthread_mutex_unlock(&latch);
    return taken;
}

static unsigned finch_flush(unsigned round) {
    block[round % sizeof block]++;
    if (pwrite(file, block, sizeof block, 0) < 0) // SITE file finch_flush
        abort();
    if (fdatasync(file)) // SITE file finch_flush
        abort();
    return round + 1;
}

static unsigned badger_ask(int peer) {
    char answer[16];
    if (send(peer, "?", 1, 0) != 1)
        abort();
    if (recv(peer, answer, sizeof answer, 0) <= 0) // SITE peer badger_ask
        exit(0);
    return answer[0];
}

static unsigned newt_doze(unsigned ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, 0); // SITE timer newt_doze
    return ms ^ sink;
}

static unsigned near_caller(int kind, unsigned value) {
    switch (kind) {
    case 0: return heron_tally(value) + 1;
    case 1: return otter_latch(value) + 1;
    case 2: return finch_flush(value) + 1;
    case 3: return badger_ask((int)value) + 1;
    default: return newt_doze(50) + 1;
    }
}

__attribute__((noinline)) static void far_caller(int kind, unsigned value) {
    sink += near_caller(kind, value);
    if (kind == 1)
        rest_ms(5);
}

static int connected(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(peer, (struct sockaddr *)&to, sizeof to))
        abort();
    return peer;
}

static void *work(void *of) {
    static const char *const kinds[] = {"compute", "lock", "file", "peer", "timer"};
    int kind = (int)(long)of;
    unsigned value = kind == 3 ? (unsigned)connected() : 1;
    pthread_setname_np(pthread_self(), kinds[kind]);
    printf("%s %ld\n", kinds[kind], syscall(SYS_gettid));
    fflush(stdout);
    for (;;)
        far_caller(kind, value);
}

int main(int argc, char **argv) {
    char path[4096];
    if (argc < 3)
        return 2;
    port = atoi(argv[1]);
    snprintf(path, sizeof path, "%s/file", argv[2]);
    file = open(path, O_CREAT | O_RDWR, 0600);
    for (long kind = 0; kind < 5; kind++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, (void *)kind);
    }
    for (;;) {
        pthread_mutex_lock(&latch);
        rest_ms(50);
        pthread_mutex_unlock(&latch);
        rest_ms(2);
    }
}
