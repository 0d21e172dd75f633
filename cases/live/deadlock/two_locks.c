/* Two threads move money between two accounts, each locks the one it takes from first. FIXED: in one order. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t account[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both_have_one;

static void *transfer(void *argument)
{
	long from = (long)argument, to = 1 - from;
#ifdef FIXED
	long first = 0, second = 1;
#else
	long first = from, second = to;
#endif
	pthread_mutex_lock(&account[first]);
#ifndef FIXED
	/* So that it comes to the deadlock each time. */
	pthread_barrier_wait(&both_have_one);
#endif
	usleep(1000);
	pthread_mutex_lock(&account[second]);
	printf("from %ld to %ld\n", from, to);
	pthread_mutex_unlock(&account[second]);
	pthread_mutex_unlock(&account[first]);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&both_have_one, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, transfer, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
