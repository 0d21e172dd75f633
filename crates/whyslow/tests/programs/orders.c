/* A server that looks so many times for a file a request (the first argument), makes one record durable, and ends after 50 requests, which a
 * process of its own asks. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUESTS = 50 };

static const char question[] = "GET /orders/17 HTTP/1.1\r\nHost: shop\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

static void take(int fd, size_t length) {
    char buffer[256];
    for (size_t had = 0; had < length;) {
        ssize_t got = recv(fd, buffer, sizeof buffer, 0);
        if (got <= 0)
            _exit(3);
        had += got;
    }
}

int main(int count, char **arguments) {
    if (count != 2)
        return 4;
    int stats = atoi(arguments[1]);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    if (bind(listener, (struct sockaddr *)&place, size) || listen(listener, 8)
        || getsockname(listener, (struct sockaddr *)&place, &size))
        return 5;
    if (fork() == 0) {
        int asking = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(asking, (struct sockaddr *)&place, size))
            _exit(6);
        for (int i = 0; i < REQUESTS; i++) {
            send(asking, question, strlen(question), 0);
            take(asking, strlen(answer));
        }
        _exit(0);
    }
    int asked = accept(listener, NULL, NULL);
    int records = open("records", O_CREAT | O_WRONLY | O_APPEND, 0600);
    for (int i = 0; i < REQUESTS; i++) {
        take(asked, strlen(question));
        for (int s = 0; s < stats; s++) {
            struct stat found;
            stat("records", &found);
        }
        if (write(records, "an order\n", 9) != 9 || fsync(records))
            return 7;
        send(asked, answer, strlen(answer), 0);
    }
    wait(NULL);
    return 0;
}
