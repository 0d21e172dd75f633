/* A gateway for meters: handlers note readings in a table, and a sender hands what is new to the head office and awaits its receipt. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct handler {
    pthread_t thread;
    int number;
    long units;
    double busy, waited;
};

static pthread_mutex_t @{lock} = PTHREAD_MUTEX_INITIALIZER;
static unsigned readings[256];
static int office;
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
}

static void hand_over(unsigned sum)
{
    char text[64];
    int length = snprintf(text, sizeof text, "sum %u\n", sum);
    if (send(office, text, length, MSG_NOSIGNAL) < 0 || recv(office, text, sizeof text, 0) <= 0)
        perror("office");
}

static void __attribute__((noinline)) @{fn}(void)
{
    unsigned sum = 0;
    pthread_mutex_lock(&@{lock});
    for (int i = 0; i < 256; i++)
        sum += readings[i];
    if (@{inside})
        hand_over(sum);
    pthread_mutex_unlock(&@{lock});
    if (!@{inside})
        hand_over(sum);
}

static void *sender(void *unused)
{
    for (;;) {
        @{fn}();
        nap(@{every} / 1000.0);
    }
    return unused;
}

static void *handle(void *argument)
{
    struct handler *handler = argument;
    nap(handler->number * 0.01);
    while (now() - began < @{seconds}) {
        double start = now();
        pthread_mutex_lock(&@{lock});
        handler->waited += now() - start;
        readings[(handler->number + handler->units) % 256]++;
        pthread_mutex_unlock(&@{lock});
        volatile unsigned check = 0;
        for (double at = now(); now() - at < @{effort} / 1000.0;)
            check = check * 31 + 7;
        handler->units++;
        handler->busy += now() - start;
        nap(1.0 / @{rate});
    }
    return NULL;
}

int main(void)
{
    static struct handler handlers[@{threads}], all;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    pthread_t thread;
    office = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(office, (struct sockaddr *)&address, sizeof address))
        return perror("connect"), 1;
    began = now();
    pthread_create(&thread, NULL, sender, NULL);
    for (int i = 0; i < @{threads}; i++) {
        handlers[i].number = i;
        pthread_create(&handlers[i].thread, NULL, handle, &handlers[i]);
    }
    for (int i = 0; i < @{threads}; i++) {
        pthread_join(handlers[i].thread, NULL);
        all.units += handlers[i].units;
        all.busy += handlers[i].busy;
        all.waited += handlers[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    fclose(out);
    _exit(0);
}
