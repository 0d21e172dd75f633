/* Four workers on one CPU: each computes for some milliseconds and sleeps for one, again and again, as a server's workers do,
 * for at most a minute.
 * Built with -DFIXED there is one worker, which does the same. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#ifdef FIXED
#define WORKERS 1
#else
#define WORKERS 4
#endif

static struct timespec end;

static int over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec);
}

static void *work(void *number)
{
	static volatile unsigned long sums[4];
	struct timespec pause = { 0, 1000000 };
	long me = (long)number;
	char name[16];

	snprintf(name, sizeof(name), "order-worker-%ld", me);
	pthread_setname_np(pthread_self(), name);
	while (!over()) {
		for (int i = 0; i < 6000000; i++)
			sums[me] += i;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 60;
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
