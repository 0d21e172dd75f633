// Makes known numbers of 23 system calls, each another prime, in its main thread, a second thread and a forked child.
// The calls stand between two of getpgid(0x7ffffff1) in the main thread. Then prints "count NAME N" for each name, and
// "sleep FROM TO" (ns, CLOCK_MONOTONIC, just before and just after) for each clock_nanosleep of 2 ms.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 23, MARK = 0x7ffffff1 };
static int zero, null, file;
static uint64_t slept[SLEEPS][2];

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// A descriptor is closed by a call that is not among the counted ones.
static void away(long fd) {
    if (fd >= 0) syscall(SYS_close_range, fd, fd, 0);
}

static void do_getppid(int i) { (void)i, syscall(SYS_getppid); }
static void do_getuid(int i) { (void)i, syscall(SYS_getuid); }
static void do_read(int i) { char bytes[64]; syscall(SYS_read, zero, bytes, i % 64); }
// /dev/null takes bytes without reading them, and a recorder that must not fault sees only pages that are there: who writes
// has made the bytes just before.
static void do_write(int i) {
    char bytes[64];
    for (int at = 0; at < 64; at++) bytes[at] = "0123456789abcdef"[at % 16];
    syscall(SYS_write, null, bytes, i % 64);
}
static void do_openat(int i) { away(syscall(SYS_openat, AT_FDCWD, i % 2 ? "/etc/passwd" : "/no/such/file", O_RDONLY | O_CLOEXEC, 0)); }
static void do_stat(int i) { struct stat status; syscall(SYS_newfstatat, AT_FDCWD, i % 2 ? "/" : "/no/such/file", &status, 0); }
static void do_lseek(int i) { syscall(SYS_lseek, file, i, SEEK_SET); }
static void do_dup(int i) { (void)i, away(syscall(SYS_dup, zero)); }
static void do_fcntl(int i) { (void)i, syscall(SYS_fcntl, zero, F_GETFL); }
static void do_getcwd(int i) { char path[4096]; (void)i, syscall(SYS_getcwd, path, sizeof path); }
static void do_access(int i) { syscall(SYS_access, i % 3 ? "/no/such/file" : "/etc/passwd", R_OK); }
static void do_readlink(int i) { char path[64]; syscall(SYS_readlink, i % 2 ? "/proc/self/cwd/../no" : "/etc/passwd", path, sizeof path); }
static void do_uname(int i) { struct utsname name; (void)i, syscall(SYS_uname, &name); }
static void do_yield(int i) { (void)i, syscall(SYS_sched_yield); }
static void do_pread(int i) { char bytes[16]; syscall(SYS_pread64, file, bytes, sizeof bytes, (long)i); }
static void do_pwrite(int i) { char bytes[] = "pwrite"; syscall(SYS_pwrite64, null, bytes, 6, (long)i); }
static void do_poll(int i) { struct pollfd one = {i % 2 ? zero : 999, POLLIN, 0}; syscall(SYS_poll, &one, 1, 0); }
static void do_pipe(int i) { int ends[2]; (void)i; if (!syscall(SYS_pipe2, ends, O_CLOEXEC)) away(ends[0]), away(ends[1]); }
static void do_umask(int i) { (void)i, syscall(SYS_umask, 022); }
static void do_kill(int i) { (void)i, syscall(SYS_kill, getpid(), 0); }
static void do_socket(int i) { away(syscall(SYS_socket, i % 2 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static void do_close(int i) { (void)i, syscall(SYS_close, 999); }
static void do_sleep(int i) {
    struct timespec two_ms = {0, 2000000};
    slept[i][0] = now_ns();
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &two_ms, NULL);
    slept[i][1] = now_ns();
}

static const struct {
    const char *name;
    void (*one)(int);
    int times;
} calls[] = {
    {"getppid", do_getppid, 101}, {"getuid", do_getuid, 103},   {"read", do_read, 107},         {"write", do_write, 109},
    {"openat", do_openat, 113},   {"newfstatat", do_stat, 127}, {"lseek", do_lseek, 131},       {"dup", do_dup, 137},
    {"fcntl", do_fcntl, 139},     {"getcwd", do_getcwd, 149},   {"access", do_access, 151},     {"readlink", do_readlink, 157},
    {"uname", do_uname, 163},     {"sched_yield", do_yield, 167}, {"pread64", do_pread, 173},   {"pwrite64", do_pwrite, 179},
    {"poll", do_poll, 181},       {"pipe2", do_pipe, 191},      {"umask", do_umask, 193},       {"kill", do_kill, 197},
    {"socket", do_socket, 199},   {"close", do_close, 211},     {"clock_nanosleep", do_sleep, SLEEPS},
};
enum { CALLS = sizeof calls / sizeof *calls };

// Each call's times are dealt out to child, thread and main; the sleeps are all the main thread's.
static void part(int from_fifth, int to_fifth) {
    for (int c = 0; c < CALLS; c++) {
        if (calls[c].one == do_sleep) continue;
        for (int i = calls[c].times * from_fifth / 5; i < calls[c].times * to_fifth / 5; i++) calls[c].one(i);
    }
}

static void *second(void *unused) {
    part(1, 3);
    return unused;
}

int main(void) {
    zero = open("/dev/zero", O_RDONLY);
    null = open("/dev/null", O_WRONLY);
    file = open("/etc/passwd", O_RDONLY);
    if (zero < 0 || null < 0 || file < 0) return 1;
    syscall(SYS_getpgid, MARK);
    pid_t child = fork();
    if (child == 0) {
        part(0, 1);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
    pthread_t thread;
    if (pthread_create(&thread, NULL, second, NULL) || pthread_join(thread, NULL)) return 1;
    part(3, 5);
    for (int i = 0; i < SLEEPS; i++) do_sleep(i);
    syscall(SYS_getpgid, MARK);
    for (int c = 0; c < CALLS; c++) printf("count %s %d\n", calls[c].name, calls[c].times);
    for (int i = 0; i < SLEEPS; i++) printf("sleep %lu %lu\n", slept[i][0], slept[i][1]);
    return 0;
}
