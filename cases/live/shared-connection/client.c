// Asks for prices with four threads: client PORT. All share one connection behind a lock; with -DFIXED each has its own.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADS 4
#define QUESTIONS 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static unsigned short port;

static int connected(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
		perror("connect");
		exit(1);
	}
	return fd;
}

static void price_of(int fd, int item)
{
	char text[32];

	if (send(fd, text, snprintf(text, sizeof text, "PRICE %04d\n", item), 0) < 0 || recv(fd, text, sizeof text, 0) <= 0) {
		perror("price");
		exit(1);
	}
}

static void *ask(void *number)
{
#ifdef FIXED
	int fd = connected();
#endif
	for (int i = 0; i < QUESTIONS; i++) {
#ifdef FIXED
		price_of(fd, (int)(long)number * QUESTIONS + i);
#else
		pthread_mutex_lock(&lock);
		price_of(shared, (int)(long)number * QUESTIONS + i);
		pthread_mutex_unlock(&lock);
#endif
		// What a thread does with a price.
		usleep(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	port = (unsigned short)atoi(argv[argc - 1]);
#ifndef FIXED
	shared = connected();
#endif
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
