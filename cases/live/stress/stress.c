// Programs that are hard on a recorder; each knows what must come out of it, and its exit status says whether it did.
//   stress forks N | threads N | reuse N | execs N | strings N | busy SECONDS | calls N
// Waits for a byte on standard input (but in the links of an exec chain), so that the recorder is there first. Prints
// "done CALLS", where CALLS are the getppid calls made.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long calls_made;

static void fail(const char *what) {
    fprintf(stderr, "stress: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int finish(void) {
    printf("done %ld\n", calls_made);
    return 0;
}

// Each child makes three calls and says its number; sixteen are alive at once.
static int forks(int count) {
    long right = 0, alive = 0;
    int status;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            for (int j = 0; j < 3; j++) syscall(SYS_getppid);
            _exit(i % 7 == 0 ? 3 : 0);
        }
        if (++alive == 16 && wait(&status) > 0) alive--, right += WIFEXITED(status) && WEXITSTATUS(status) == 3;
    }
    while (wait(&status) > 0) right += WIFEXITED(status) && WEXITSTATUS(status) == 3;
    calls_made = 3L * count;
    if (right != (count + 6) / 7) fail("children ended otherwise than they did by themselves");
    return finish();
}

static pthread_barrier_t all_there;
static atomic_long thread_calls;

static void *one_thread(void *number) {
    char name[16];
    snprintf(name, sizeof name, "storm-%ld", (long)(intptr_t)number);
    prctl(PR_SET_NAME, name);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < 50; i++) {
        syscall(SYS_getppid);
        atomic_fetch_add(&thread_calls, 1);
    }
    return NULL;
}

// All are alive at once.
static int threads(int count) {
    pthread_t *all = calloc((size_t)count, sizeof *all);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&all_there, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if ((errno = pthread_create(&all[i], &small, one_thread, (void *)(intptr_t)i))) fail("thread");
    for (int i = 0; i < count; i++) pthread_join(all[i], NULL);
    calls_made = thread_calls;
    return calls_made == 50L * count ? finish() : 1;
}

// The same process number again and again, where this user may set it; each child has a name of its own.
static int reuse(int count) {
    int wanted = 0, again = 0;
    for (int i = 0; i < count; i++) {
        if (wanted) {
            int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
            char text[16];
            int length = snprintf(text, sizeof text, "%d", wanted - 1);
            if (last < 0 || write(last, text, (size_t)length) != length) fail("ns_last_pid");
            close(last);
        }
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            char name[24];
            snprintf(name, sizeof name, "reuse-%d", i);
            prctl(PR_SET_NAME, name);
            for (int j = 0; j < 5; j++) syscall(SYS_getppid);
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status) fail("child");
        if (!wanted) wanted = child;
        else again += child == wanted;
    }
    calls_made = 5L * count;
    fprintf(stderr, "the same number %d times\n", again);
    return again ? finish() : 1;
}

// A process that becomes another program (itself) count times; a thread does it where the number is odd.
static char **chain_argv;

static void *next_link(void *unused) {
    execv("/proc/self/exe", chain_argv);
    fail("exec");
    return unused;
}

static int execs(int left, long made) {
    char rest[16], calls[24], *argv[] = {"stress", "link", rest, calls, NULL};
    syscall(SYS_getppid);
    made++;
    if (left == 0) {
        calls_made = made;
        return finish();
    }
    snprintf(rest, sizeof rest, "%d", left - 1);
    snprintf(calls, sizeof calls, "%ld", made);
    chain_argv = argv;
    pthread_t thread;
    if (left % 2) next_link(NULL);
    if (pthread_create(&thread, NULL, next_link, NULL)) fail("thread");
    for (;;) pause();
}

// Paths of 4,095 bytes, strings that end at the end of mapped memory or do not end, bad pointers, huge arguments.
static int strings(int count) {
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, (size_t)(3 * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + 2 * page, (size_t)page, PROT_NONE)) fail("memory");
    memset(memory, 'x', (size_t)(2 * page));
    for (long i = 0; i < 2 * page; i += 100) memory[i] = '/';
    // Linux takes at most 32 pages in one argument.
    size_t most = 31 * 4096;
    char *large = malloc(most + 1);
    memset(large, 'a', most);
    large[most] = 0;
    char *argv[] = {"true", large, large, large, large, NULL};
    for (int i = 0; i < count; i++) {
        syscall(SYS_getppid);
        if (syscall(SYS_openat, AT_FDCWD, memory, O_RDONLY) >= 0) fail("a path that does not end was opened");
        memory[2 * page - 1] = 0;
        if (syscall(SYS_openat, AT_FDCWD, memory + page + 1, O_RDONLY) >= 0) fail("a long path was opened");
        memory[2 * page - 1] = 'x';
        if (syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY) != -1 || errno != EFAULT) fail("a bad pointer");
        if (syscall(SYS_openat, AT_FDCWD, memory + 2 * page - 3, O_RDONLY) != -1 || errno != EFAULT) fail("no end");
        if (syscall(SYS_write, 99, memory, (size_t)-1) != -1) fail("write");
        if (syscall(SYS_connect, 0, memory, 1 << 20) != -1) fail("connect");
        if (syscall(SYS_writev, 1, memory, 1 << 20) != -1) fail("writev");
        pid_t child = i % 10 ? 0 : fork();
        if (i % 10 == 0 && child == 0) {
            execv("/bin/true", argv);
            _exit(1);
        }
        int status = 0;
        if (i % 10 == 0 && (waitpid(child, &status, 0) != child || status)) fail("exec with large arguments");
    }
    calls_made = count;
    return finish();
}

static int calls(long count) {
    for (long i = 0; i < count; i++) syscall(SYS_getppid);
    calls_made = count;
    return finish();
}

// As fast as it can, on two threads.
static atomic_bool over;

static void *busy_thread(void *unused) {
    long made = 0;
    while (!over) {
        for (int i = 0; i < 100; i++) syscall(SYS_getppid);
        made += 100;
    }
    atomic_fetch_add(&thread_calls, made);
    return unused;
}

static int busy(double seconds) {
    pthread_t both[2];
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    for (int i = 0; i < 2; i++) pthread_create(&both[i], NULL, busy_thread, NULL);
    while (nanosleep(&time, &time)) {}
    over = true;
    for (int i = 0; i < 2; i++) pthread_join(both[i], NULL);
    calls_made = thread_calls;
    return finish();
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "link")) return execs(atoi(argv[2]), atol(argv[3]));
    if (argc != 3) return 2;
    char byte;
    if (read(0, &byte, 1) != 1) return 2;
    if (!strcmp(argv[1], "forks")) return forks(atoi(argv[2]));
    if (!strcmp(argv[1], "threads")) return threads(atoi(argv[2]));
    if (!strcmp(argv[1], "reuse")) return reuse(atoi(argv[2]));
    if (!strcmp(argv[1], "execs")) return execs(atoi(argv[2]), 0);
    if (!strcmp(argv[1], "strings")) return strings(atoi(argv[2]));
    if (!strcmp(argv[1], "calls")) return calls(atol(argv[2]));
    if (!strcmp(argv[1], "busy")) return busy(atof(argv[2]));
    return 2;
}
