#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static void *take(void *argument)
{
    int fd = (int)(long)argument;
    while (recv(fd, NULL, 8 << 20, MSG_TRUNC) > 0)
        usleep(200);
    close(fd);
    return NULL;
}

int main(void)
{
    int one = 1, size = 8 << 20, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{sink}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 16))
        return 1;
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && pthread_create(&thread, NULL, take, (void *)(long)fd) == 0)
            pthread_detach(thread);
    }
}
