/* Loans: a connection's thread asks the desk, the desk asks a child process, and that asks the scoring service. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct request {
    char text[128];
    int done;
    struct request *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static struct sockaddr_in local(int port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* The child: a line in, a line out. */
static void score(int in, int out)
{
    int service = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(@{service});
    char text[128];
    ssize_t n;
    if (connect(service, (struct sockaddr *)&address, sizeof address))
        exit(1);
    while ((n = read(in, text, sizeof text)) > 0)
        if (send(service, text, n, MSG_NOSIGNAL) < 0 || (n = recv(service, text, sizeof text, 0)) <= 0 || write(out, text, n) < 0)
            break;
    exit(0);
}

static void *desk(void *argument)
{
    int *pipes = argument;
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (!first)
            pthread_cond_wait(&arrived, &mutex);
        struct request *request = first;
        if (!(first = request->next))
            last = &first;
        pthread_mutex_unlock(&mutex);
        if (write(pipes[0], request->text, strlen(request->text)) < 0)
            exit(1);
        ssize_t n = read(pipes[1], request->text, sizeof request->text - 1);
        if (n <= 0)
            exit(1);
        request->text[n] = 0;
        pthread_mutex_lock(&mutex);
        request->done = 1;
        pthread_cond_broadcast(&answered);
        pthread_mutex_unlock(&mutex);
    }
}

static void __attribute__((noinline)) @{fn}(struct request *request)
{
    pthread_mutex_lock(&mutex);
    *last = request;
    last = &request->next;
    pthread_cond_signal(&arrived);
    while (!request->done)
        pthread_cond_wait(&answered, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void *serve(void *argument)
{
    int fd = (int)(long)argument;
    for (;;) {
        struct request request = { .next = NULL };
        ssize_t n = read(fd, request.text, sizeof request.text - 1);
        if (n <= 0)
            break;
        @{fn}(&request);
        volatile double rate = 0;
        for (double start = now(); now() - start < @{effort} / 1000.0;)
            rate += atof(request.text + 6);
        if (write(fd, request.text, strlen(request.text)) < 0)
            break;
    }
    close(fd);
    return NULL;
}

int main(void)
{
    int to[2], from[2], on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = local(@{port});
    pthread_t thread;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (pipe(to) || pipe(from) || bind(listener, (struct sockaddr *)&address, sizeof address))
        return perror("start"), 1;
    if (!fork())
        score(to[0], from[1]);
    static int pipes[2];
    pipes[0] = to[1];
    pipes[1] = from[0];
    pthread_create(&thread, NULL, desk, pipes);
    listen(listener, 64);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_create(&thread, NULL, serve, (void *)(long)fd);
        pthread_detach(thread);
    }
}
