// Four workers handle 100 records each; handling takes 2 ms. FIXED takes the lock only for the sum.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
#ifdef FIXED
        usleep(2000);
        pthread_mutex_lock(&lock);
#else
        pthread_mutex_lock(&lock);
        usleep(2000);
#endif
        sum += i;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[4];
    for (int i = 0; i < 4; i++) pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(workers[i], NULL);
    printf("%ld\n", sum);
}
