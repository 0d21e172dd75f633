/* Two threads of one process that ask each other by HTTP over a socket: four calls a request. asks CALLS_PER_SECOND */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static const char asked[] = "GET /cart/7 HTTP/1.1\r\nHost: shop\r\n\r\n";
static const char answered[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

static void *serve(void *unused)
{
	char buffer[4096];

	while (read(ends[1], buffer, sizeof(buffer)) > 0)
		if (write(ends[1], answered, sizeof(answered) - 1) < 0)
			break;
	return unused;
}

int main(int count, char **words)
{
	double rate = count > 1 ? atof(words[1]) : 20000;
	/* As many as come due in a millisecond, then a sleep. */
	long each = rate / 4 / 1000 + 0.5;
	struct timespec turn;
	pthread_t server;
	char buffer[4096];

	if (each < 1)
		each = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || pthread_create(&server, NULL, serve, NULL))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &turn);
	for (;;) {
		for (long number = 0; number < each; number++)
			if (write(ends[0], asked, sizeof(asked) - 1) < 0 || read(ends[0], buffer, sizeof(buffer)) <= 0)
				return 1;
		turn.tv_nsec += 1e9 * 4 * each / rate;
		while (turn.tv_nsec >= 1000000000) {
			turn.tv_nsec -= 1000000000;
			turn.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &turn, NULL);
	}
}
