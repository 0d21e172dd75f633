/* A program with a known number of calls, for the tests of the ptrace recorder: tracee [below] WHAT [NUMBER]. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long number = 1;
static volatile sig_atomic_t caught, ended;
static char **own_args;

static void probe(void) { syscall(SYS_getppid); }

static void *probes(void *unused)
{
	for (long i = 0; i < number; i++)
		probe();
	return unused;
}

static void *opens_and_exits(void *leader)
{
	pthread_join(*(pthread_t *)leader, NULL);
	open("/nonexistent/after-the-first-thread", O_RDONLY);
	exit(3);
}

static void *executes(void *unused)
{
	char path[64], call[16] = "", expected[16];

	/* The first thread is to be in its call by then. */
	snprintf(path, sizeof(path), "/proc/%d/syscall", getpid());
	snprintf(expected, sizeof(expected), "%d ", SYS_pause);
	while (strncmp(call, expected, strlen(expected))) {
		int fd = open(path, O_RDONLY);

		if (fd >= 0)
			read(fd, call, sizeof(call) - 1), close(fd);
		usleep(1000);
	}
	execl(own_args[0], own_args[0], "probes", "5", NULL);
	return unused;
}

static void count(int unused) { caught++; }
static void end(int unused) { ended = 1; }

static void memory(void)
{
	int ends[2];
	char into[64];
	struct sockaddr_un address = { AF_UNIX, "/nonexistent/socket" };
	struct iovec parts[2] = { { "first ", 6 }, { "second", 6 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	open("/nonexistent/file", O_RDONLY);
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address));
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	write(ends[0], "question", 8);
	read(ends[1], into, sizeof(into));
	writev(ends[0], parts, 2);
	sendmsg(ends[0], &message, 0);
	read(open("/dev/zero", O_RDONLY), into, 4);
	open((char *)0x5000, O_RDONLY);
	open((char *)1, O_RDONLY);
}

static int family(int use_vfork)
{
	for (long i = 0; i < number; i++) {
		int status;
		pid_t child = use_vfork ? vfork() : fork();

		if (child == 0) {
			probe();
			_exit(i & 63);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != (i & 63))
			return 1;
	}
	return 0;
}

static int crowd(void)
{
	pthread_t threads[256];

	for (int i = 0; i < 256; i++)
		if (pthread_create(&threads[i], NULL, probes, NULL))
			return 1;
	for (int i = 0; i < 256; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int signals(void)
{
	signal(SIGUSR1, count);
	for (long i = 0; i < number; i++)
		kill(getpid(), SIGUSR1);
	return caught == number ? 0 : 1;
}

/* Says who it is on standard output. */
static void ready(void)
{
	dprintf(1, "ready %d\n", getpid());
}

/* Runs the rest in a child that dies with this process, and takes over its status (128 and the signal's number). */
static void below(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return;
	}
	waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Works until SIGTERM; status 42. */
static int works(int threads)
{
	pthread_t thread;
	struct timespec pause = { 0, 1000000 };

	signal(SIGTERM, end);
	number = 1L << 40;
	while (threads-- > 0)
		pthread_create(&thread, NULL, probes, NULL);
	ready();
	while (!ended) {
		probe();
		nanosleep(&pause, NULL);
	}
	return 42;
}

/* Makes threads and processes, one after the other, until SIGTERM; status 42, or 1 where one of them failed. */
static void *churns(void *unused)
{
	while (!ended) {
		pthread_t thread;
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(5);
		if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
			_exit(1);
		if (pthread_create(&thread, NULL, probes, NULL) || pthread_join(thread, NULL))
			_exit(1);
	}
	return unused;
}

static int churn(void)
{
	pthread_t other;

	number = 3;
	signal(SIGTERM, end);
	ready();
	pthread_create(&other, NULL, churns, NULL);
	churns(NULL);
	pthread_join(other, NULL);
	return 42;
}

int main(int count_of_args, char **args)
{
	pthread_t thread, self = pthread_self();
	const char *what = args[1];

	own_args = args;
	if (!strcmp(what, "below")) {
		below();
		what = (++args)[1];
		count_of_args--;
	}
	if (count_of_args > 2)
		number = atol(args[2]);
	if (!strcmp(what, "probes"))
		return probes(NULL), 7;
	if (!strcmp(what, "memory"))
		return memory(), 0;
	if (!strcmp(what, "forks"))
		return family(0);
	if (!strcmp(what, "vforks"))
		return family(1);
	if (!strcmp(what, "crowd"))
		return crowd();
	if (!strcmp(what, "signals"))
		return signals();
	if (!strcmp(what, "works"))
		return works(number);
	if (!strcmp(what, "churn"))
		return churn();
	if (!strcmp(what, "waits")) {
		char byte;

		ready();
		return read(0, &byte, 1) == 1 ? 0 : 1;
	}
	if (!strcmp(what, "aborts"))
		raise(SIGKILL);
	if (!strcmp(what, "thread-exec")) {
		pthread_create(&thread, NULL, executes, NULL);
		pause();
	}
	if (!strcmp(what, "first-thread-ends")) {
		pthread_create(&thread, NULL, opens_and_exits, &self);
		pthread_exit(NULL);
	}
#ifdef __x86_64__
	if (!strcmp(what, "compat")) {
		for (long i = 0; i < number; i++) {
			long result;

			/* 64 is getppid in the table of 32-bit programs. */
			__asm__ volatile("int $0x80" : "=a"(result) : "0"(64L) : "memory");
			if (result <= 0)
				return 1;
		}
		return 0;
	}
#endif
	return 99;
}
