/* Makes calls of all classes, with arguments that have something to print. Every run makes the same. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
	struct stat st;
	struct statx stx;
	struct statfs fs;
	char buffer[256];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 6 };
	int fd = open("like_strace.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	int other;

	fchmod(fd, 0600);
	ftruncate(fd, 4096);
	lseek(fd, -10, SEEK_END);
	fcntl(fd, F_GETFL);
	fcntl(fd, F_GETFD);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_RDWR | O_APPEND);
	fcntl(fd, F_SETLK, &lock);
	fcntl(fd, F_GETLK, &lock);
	other = fcntl(fd, F_DUPFD_CLOEXEC, 20);
	flock(fd, LOCK_EX | LOCK_NB);
	syscall(SYS_dup2, other, 30);
	dup3(other, 31, O_CLOEXEC);
	close(30);
	close(31);
	close(other);
	fsync(fd);
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8192);
	close(fd);
	close(fd);
	stat("like_strace.tmp", &st);
	stat("/dev/null", &st);
	lstat("/nonexistent/\"quoted\"\n\001\0012", &st);
	syscall(SYS_statx, AT_FDCWD, "/", AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &stx);
	access("like_strace.tmp", R_OK | W_OK);
	access("like_strace.none", F_OK);
	faccessat(AT_FDCWD, "like_strace.none", X_OK, AT_EACCESS);
	chmod("like_strace.tmp", 04755);
	chown("like_strace.tmp", -1, 0);
	link("like_strace.tmp", "like_strace.link");
	symlink("like_strace.tmp", "like_strace.soft");
	syscall(SYS_readlink, "like_strace.soft", buffer, sizeof(buffer));
	rename("like_strace.link", "like_strace.link2");
	renameat2(AT_FDCWD, "like_strace.link2", AT_FDCWD, "like_strace.link", RENAME_NOREPLACE);
	unlink("like_strace.link");
	unlinkat(AT_FDCWD, "like_strace.soft", 0);
	mkdir("like_strace.dir", 0750);
	unlinkat(AT_FDCWD, "like_strace.dir", AT_REMOVEDIR);
	mknod("like_strace.fifo", S_IFIFO | 0600, 0);
	unlink("like_strace.fifo");
	truncate("like_strace.tmp", 10);
	statfs("/proc", &fs);
	getcwd(buffer, sizeof(buffer));
	chdir(".");
	umask(022);
	fd = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(fd, ".", IN_CREATE | IN_DELETE);
	close(fd);
	fd = open("/proc/self/fdinfo", O_RDONLY | O_DIRECTORY);
	syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
	close(fd);
	fd = memfd_create("a name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fcntl(fd, F_ADD_SEALS, F_SEAL_GROW);
	close(fd);
	unlink("like_strace.tmp");
	ioctl(99, FIONREAD, buffer);
	ioctl(0, TCGETS, buffer);
}

static void memory(void)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	mprotect(p, 4096, PROT_NONE);
	madvise(p + 8192, 4096, MADV_DONTNEED);
	msync(p, 4096, MS_SYNC);
	p = mremap(p, 1 << 20, 1 << 21, MREMAP_MAYMOVE);
	munmap(p, 1 << 21);
	munmap((void *)1, 1);
	mlock(p, 0);
}

static void descriptors(void)
{
	int pair[2], quiet[2], fd, number = 1;
	struct pollfd polled[3];
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = 0x123456789abcULL }, found[4];
	struct iovec vector[3] = { { "abc", 3 }, { "", 0 }, { "defgh", 5 } };
	struct itimerspec spec = { .it_value = { 0, 1000000 } };
	fd_set set;
	struct timeval limit = { 0, 1000 };
	sigset_t mask;
	char buffer[64];

	pipe2(pair, O_CLOEXEC | O_NONBLOCK);
	read(pair[0], buffer, sizeof(buffer));
	write(pair[1], "hello\n\\\"\t\0011\200", 12);
	ioctl(pair[0], FIONREAD, &number);
	ioctl(pair[0], FIONBIO, &number);
	polled[0] = (struct pollfd){ pair[0], POLLIN | POLLPRI, 0 };
	polled[1] = (struct pollfd){ pair[1], POLLOUT, 0 };
	polled[2] = (struct pollfd){ -1, POLLIN, 0 };
	poll(polled, 3, 1000);
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	syscall(SYS_select, pair[0] + 1, &set, NULL, NULL, NULL);
	select(pair[0] + 1, &set, NULL, NULL, &limit);
	writev(pair[1], vector, 3);
	readv(pair[0], vector + 1, 1);
	/* Nothing comes, and the kernel empties the set. */
	pipe2(quiet, O_CLOEXEC);
	FD_ZERO(&set);
	FD_SET(quiet[0], &set);
	limit = (struct timeval){ 0, 1000 };
	select(quiet[0] + 1, &set, NULL, NULL, &limit);
	close(quiet[0]);
	close(quiet[1]);
	fd = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(fd, EPOLL_CTL_ADD, pair[0], &event);
	epoll_wait(fd, found, 4, 100);
	epoll_wait(fd, found, 4, 0);
	epoll_ctl(fd, EPOLL_CTL_DEL, pair[0], NULL);
	epoll_ctl(fd, EPOLL_CTL_DEL, pair[0], &event);
	close(fd);
	read(pair[0], buffer, sizeof(buffer));
	poll(polled, 1, 0);
	poll(NULL, 0, 1);
	close(pair[0]);
	close(pair[1]);
	fd = eventfd(3, EFD_NONBLOCK | EFD_SEMAPHORE);
	close(fd);
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(fd, 0, &spec, NULL);
	close(fd);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGCHLD);
	fd = signalfd(-1, &mask, SFD_CLOEXEC);
	close(fd);
	pipe(pair);
	close(pair[0]);
	close(pair[1]);
	syscall(SYS_close_range, 100, 200, 0);
	fd = open("/etc/passwd", O_RDONLY);
	sendfile(99, fd, NULL, 100);
	close(fd);
}

static void sockets(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(1), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "like_strace.socket" };
	struct sockaddr_storage any;
	socklen_t length = sizeof(any);
	struct linger linger = { 1, 5 };
	struct iovec vector = { "ping", 4 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	char buffer[64], control[64];
	int pair[2], one = 1, s, t;

	s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(s, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(s, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	connect(s, (struct sockaddr *)&address, sizeof(address));
	length = sizeof(one);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &one, &length);
	close(s);
	s = socket(AF_INET6, SOCK_DGRAM, 0);
	connect(s, (struct sockaddr *)&v6, sizeof(v6));
	sendto(s, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	close(s);
	unlink("like_strace.socket");
	s = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(s, (struct sockaddr *)&local, sizeof(local));
	listen(s, 16);
	t = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(t, (struct sockaddr *)&local, offsetof(struct sockaddr_un, sun_path) + strlen(local.sun_path) + 1);
	length = sizeof(any);
	getsockname(s, (struct sockaddr *)&any, &length);
	length = sizeof(any);
	close(accept4(s, (struct sockaddr *)&any, &length, SOCK_CLOEXEC));
	recv(t, buffer, sizeof(buffer), 0);
	send(t, "late", 4, MSG_NOSIGNAL);
	shutdown(t, SHUT_RDWR);
	close(t);
	close(s);
	unlink("like_strace.socket");
	local.sun_path[0] = 0;
	s = socket(AF_UNIX, SOCK_DGRAM, 0);
	bind(s, (struct sockaddr *)&local, sizeof(sa_family_t) + 8);
	close(s);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	sendmsg(pair[0], &message, MSG_NOSIGNAL);
	vector = (struct iovec){ buffer, sizeof(buffer) };
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	recvmsg(pair[1], &message, 0);
	recvmsg(pair[1], &message, MSG_DONTWAIT);
	write(pair[0], "datagram", 8);
	recvfrom(pair[1], buffer, 3, MSG_PEEK, NULL, NULL);
	close(pair[0]);
	close(pair[1]);
	s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	close(s);
	close(socket(99, SOCK_STREAM, 0));
}

static void *worker(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void processes(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	struct sigaction action = { .sa_handler = SIG_IGN, .sa_flags = SA_RESTART };
	struct rlimit limit;
	struct rusage usage;
	struct sysinfo info;
	struct utsname name;
	struct timespec nap = { 0, 1000000 };
	struct sembuf operation = { 0, 1, 0 };
	cpu_set_t cpus;
	sigset_t mask;
	char buffer[32];
	int status, id;
	pid_t child;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR1, NULL, &action);
	sigfillset(&mask);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigemptyset(&mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	kill(getpid(), SIGUSR1);
	kill(getpid(), 0);
	getrlimit(RLIMIT_NOFILE, &limit);
	setrlimit(RLIMIT_CORE, &limit);
	getrusage(RUSAGE_SELF, &usage);
	sysinfo(&info);
	uname(&name);
	nanosleep(&nap, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, &nap);
	sched_yield();
	sched_getaffinity(0, sizeof(cpus), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	getpriority(PRIO_PROCESS, 0);
	prctl(PR_SET_NAME, "like_strace");
	prctl(PR_GET_NAME, buffer);
	prctl(PR_SET_DUMPABLE, 1);
	getuid();
	getresuid((uid_t *)buffer, (uid_t *)buffer + 1, (uid_t *)buffer + 2);
	setreuid(-1, -1);
	getgroups(0, NULL);
	getppid();
	syscall(SYS_gettid);
	syscall(SYS_time, NULL);
	syscall(SYS_gettimeofday, NULL, NULL);
	syscall(600, 1, 2, 3, 4, 5, 6);
	id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	shmdt(shmat(id, NULL, 0));
	shmctl(id, IPC_RMID, NULL);
	id = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	semop(id, &operation, 1);
	semctl(id, 0, IPC_RMID);
	syscall(SYS_futex, &status, 129, 1);
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, worker, &mutex);
	usleep(20000);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	waitpid(-1, &status, WNOHANG);
	child = fork();
	if (child == 0) {
		char *arguments[] = { "sh", "-c", "exit 3", NULL };
		char *environment[] = { "A=1", "B=2", NULL };
		execve("/nonexistent/sh", arguments, environment);
		execve("/bin/sh", arguments, environment);
		_exit(1);
	}
	waitpid(child, &status, 0);
	child = fork();
	if (child == 0) {
		raise(SIGKILL);
	}
	wait4(child, &status, 0, NULL);
}

int main(void)
{
	files();
	memory();
	descriptors();
	sockets();
	processes();
	return 7;
}
