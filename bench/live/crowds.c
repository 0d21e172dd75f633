/* Targets whose recording costs little a call and much a wait: crowds herd THREADS PORT | crowds sleepers THREADS | crowds files SECONDS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int listener;

/* Each has an epoll of its own; one connection wakes all. */
static void *serve(void *unused)
{
	int queue = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
	char room[4096];

	epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int client;

		epoll_wait(queue, &event, 1, -1);
		client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
		if (client < 0)
			continue;
		for (int turn = 0; turn < 50 && read(client, room, sizeof room) < 0; turn++)
			usleep(100);
		if (write(client, "ok\n", 3) < 0)
			perror("write");
		close(client);
	}
	return unused;
}

/* Half a millisecond of work at most a second each, in naps of a tenth of a second. */
static void *nap(void *unused)
{
	for (;;)
		usleep(100000);
	return unused;
}

static void many(int threads, void *(*body)(void *))
{
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &small, body, NULL)) {
			perror("pthread_create");
			exit(1);
		}
	}
	puts("ready");
	fflush(stdout);
	pause();
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "herd")) {
		struct sockaddr_in at = {
			.sin_family = AF_INET, .sin_port = htons(atoi(argv[3])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
		};
		int one = 1;

		listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		if (bind(listener, (void *)&at, sizeof at) || listen(listener, 512)) {
			perror("listen");
			return 1;
		}
		many(atoi(argv[2]), serve);
	} else if (argc == 3 && !strcmp(argv[1], "sleepers")) {
		many(atoi(argv[2]), nap);
	} else if (argc == 3 && !strcmp(argv[1], "files")) {
		double end = now() + atof(argv[2]);
		long loops = 0;
		char room[512];

		for (; now() < end; loops++) {
			int file = open("/etc/passwd", O_RDONLY);

			if (read(file, room, sizeof room) < 0)
				perror("read");
			close(file);
		}
		printf("%ld\n", loops);
	} else {
		fprintf(stderr, "crowds herd THREADS PORT | crowds sleepers THREADS | crowds files SECONDS\n");
		return 2;
	}
}
