// Computes for a second of wall time under a timer. FIXED makes it tick ten times a second.
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#ifdef FIXED
#define TICK_US 100000
#else
#define TICK_US 100
#endif

static volatile sig_atomic_t ticks;

static void tick(int unused) {
    (void)unused;
    ticks++;
}

int main(void) {
    struct itimerval timer = {{0, TICK_US}, {0, TICK_US}};
    struct timespec start, now;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &timer, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < 1000000000L);
    return ticks == 0;
}
