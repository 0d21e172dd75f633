// Makes what the sampler is measured with: sleeping threads and connected loopback sockets, until its standard input ends.
// load THREADS CONNECTIONS: threads are spread over processes of 100; each connection is two sockets.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { PER_PROCESS = 100, SOCKETS_PER_PROCESS = 9000, MOST_PROCESSES = 64 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *sleeps(void *unused) {
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static void threads(int count) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32 << 10);
    for (int i = 1; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleeps, NULL))
            fail("pthread_create");
    }
}

// Connections of this process to itself; one listening port for each 25,000, so that local ports do not run out.
static void sockets(int count) {
    int listener = -1, made = 0;
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    for (; made < count; made++) {
        if (made % 25000 == 0) {
            memset(&at, 0, sizeof at);
            at.sin_family = AF_INET;
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 128))
                fail("listen");
            getsockname(listener, (struct sockaddr *)&at, &length);
        }
        int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client < 0 || connect(client, (struct sockaddr *)&at, sizeof at))
            fail("connect");
        if (accept(listener, NULL, NULL) < 0)
            fail("accept");
    }
}

int main(int argc, char **argv) {
    int all_threads = argc > 1 ? atoi(argv[1]) : 2000, connections = argc > 2 ? atoi(argv[2]) : 25000;
    if (all_threads < 0 || all_threads > 6000 || connections < 0 || connections > 60000)
        return fprintf(stderr, "load: at most 6000 threads and 60000 connections\n"), 2;
    pid_t children[MOST_PROCESSES + 64];
    int made = 0, ready[2];
    if (pipe(ready))
        fail("pipe");
    int per = SOCKETS_PER_PROCESS / 2 - 10;
    while (all_threads > 0 || connections > 0) {
        int of_threads = all_threads < PER_PROCESS ? all_threads : PER_PROCESS;
        int of_connections = connections < per ? connections : per;
        all_threads -= of_threads;
        connections -= of_connections;
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0) {
            // Not one is left behind, however we end.
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            struct rlimit most = {SOCKETS_PER_PROCESS + 100, SOCKETS_PER_PROCESS + 100};
            setrlimit(RLIMIT_NOFILE, &most);
            sockets(of_connections);
            threads(of_threads);
            if (write(ready[1], "x", 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
        children[made++] = child;
        if (made >= MOST_PROCESSES)
            break;
    }
    char byte;
    for (int i = 0; i < made; i++)
        if (read(ready[0], &byte, 1) != 1)
            fail("a child");
    printf("ready: %d processes\n", made);
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {
    }
    for (int i = 0; i < made; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return 0;
}
