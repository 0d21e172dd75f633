// Loops whose one operation is known, to measure what a tracer adds to it.
//   loops WORKLOAD SECONDS [CPU]     prints "ready"; runs when a byte comes on standard input; prints "OPS NS CALLS"
// OPS operations took NS (CLOCK_MONOTONIC) and made CALLS system calls; the clock itself is read without one (vDSO).
// With a CPU all threads stay on it. Attaching is not measured: it is over before the byte is sent.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "loops: %s: %s\n", what, strerror(errno));
    exit(1);
}

// One batch of operations; returns how many system calls it made. Small enough for a tracer that takes 0.1 ms a call.
static uint64_t getppids(int operations) {
    for (int i = 0; i < operations; i++) syscall(SYS_getppid);
    return (uint64_t)operations;
}

static int zero, null, ends[2];

static uint64_t read_write(int operations) {
    char byte;
    for (int i = 0; i < operations; i++)
        if (syscall(SYS_read, zero, &byte, 1) != 1 || syscall(SYS_write, null, &byte, 1) != 1) fail("read or write");
    return 2 * (uint64_t)operations;
}

static uint64_t pipe_1_byte(int operations) {
    char byte = 'x';
    for (int i = 0; i < operations; i++)
        if (syscall(SYS_write, ends[1], &byte, 1) != 1 || syscall(SYS_read, ends[0], &byte, 1) != 1) fail("pipe");
    return 2 * (uint64_t)operations;
}

static uint64_t open_stat_close(int operations) {
    struct stat status;
    for (int i = 0; i < operations; i++) {
        long fd = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);
        if (fd < 0) fail("/etc/passwd");
        syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &status, 0);
        syscall(SYS_close, fd);
    }
    return 3 * (uint64_t)operations;
}

// Two threads, each waiting for its word to be set by the other: one operation is there and back.
static atomic_int words[2];
static atomic_bool over;
static atomic_ulong partner_calls;

static uint64_t take(atomic_int *word) {
    uint64_t calls = 0;
    int set = 1;
    while (!atomic_compare_exchange_strong(word, &set, 0)) {
        set = 1;
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL);
        calls++;
    }
    return calls;
}

static void give(atomic_int *word) {
    atomic_store(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1);
}

static void *partner(void *unused) {
    (void)unused;
    for (;;) {
        uint64_t calls = take(&words[0]);
        if (over) return NULL;
        give(&words[1]);
        atomic_fetch_add(&partner_calls, calls + 1);
    }
}

static uint64_t futex_ping_pong(int operations) {
    uint64_t calls = atomic_exchange(&partner_calls, 0);
    for (int i = 0; i < operations; i++) {
        give(&words[0]);
        calls += 1 + take(&words[1]);
    }
    return calls;
}

static volatile uint64_t result;

// One operation is a thousand steps of arithmetic.
static uint64_t cpu(int operations) {
    uint64_t x = result;
    for (int i = 0; i < operations * 1000; i++) x = x * 6364136223846793005u + 1442695040888963407u;
    result = x;
    return 0;
}

static const struct {
    const char *name;
    uint64_t (*batch)(int);
    int operations;
} workloads[] = {
    {"getppid", getppids, 64},           {"read+write", read_write, 32}, {"pipe", pipe_1_byte, 32},
    {"open+stat+close", open_stat_close, 16}, {"futex", futex_ping_pong, 8},  {"cpu", cpu, 64},
};

int main(int argc, char **argv) {
    const size_t count = sizeof workloads / sizeof *workloads;
    size_t chosen = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: loops WORKLOAD SECONDS [CPU]\n");
        return 2;
    }
    while (chosen < count && strcmp(workloads[chosen].name, argv[1])) chosen++;
    if (chosen == count) {
        fprintf(stderr, "loops: no workload %s\n", argv[1]);
        return 2;
    }
    if (argc > 3) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[3]), &set);
        if (sched_setaffinity(0, sizeof set, &set)) fail("sched_setaffinity");
    }
    zero = open("/dev/zero", O_RDONLY);
    null = open("/dev/null", O_WRONLY);
    if (zero < 0 || null < 0 || pipe(ends)) fail("open");
    pthread_t thread;
    if (workloads[chosen].batch == futex_ping_pong && pthread_create(&thread, NULL, partner, NULL)) fail("thread");
    workloads[chosen].batch(workloads[chosen].operations);
    partner_calls = 0;
    char byte;
    if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1) return 1;

    uint64_t operations = 0, calls = 0, start = now_ns(), end = start + (uint64_t)(atof(argv[2]) * 1e9), now;
    do {
        calls += workloads[chosen].batch(workloads[chosen].operations);
        operations += (uint64_t)workloads[chosen].operations;
        now = now_ns();
    } while (now < end);
    printf("%lu %lu %lu\n", operations, now - start, calls + partner_calls);
    fflush(stdout);
    if (workloads[chosen].batch == futex_ping_pong) {
        over = true;
        give(&words[0]);
        pthread_join(thread, NULL);
    }
    // The tool is stopped before the program ends: waits to be told.
    return read(0, &byte, 1) < 0;
}
