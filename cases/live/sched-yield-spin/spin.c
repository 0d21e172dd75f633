// Waits for a worker that takes 0.8 s. FIXED sleeps until it is done.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done;

static void *work(void *unused) {
    usleep(800 * 1000);
    atomic_store(&done, 1);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
#ifndef FIXED
    while (!atomic_load(&done)) sched_yield();
#endif
    pthread_join(worker, NULL);
}
