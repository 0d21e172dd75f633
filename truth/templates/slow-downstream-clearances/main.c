// The counter of a freight station: "clear N" is answered by whether consignment N may leave, and what it costs.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct consignment {
    long number, value;
    unsigned chapter, grams;
    char consignor[16];
};

static int dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 8};
    int yes = 1, line = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(line, (struct sockaddr *)&address, sizeof address)) {
        close(line);
        return -1;
    }
    return line;
}

// The papers of a consignment: its value and weight are those of its items.
static struct consignment papers(long number)
{
    struct consignment one = {.number = number, .chapter = number * 31 % 97 + 1};
    for (int item = 0; item < @{items}; item++) {
        uint32_t draw = number * 2654435761u + item * 40503u;
        one.value += 200 + draw % 90000;
        one.grams += 10 + draw / 7 % 4000;
    }
    snprintf(one.consignor, sizeof one.consignor, "P%07ld", number * 41 % 2000000);
    return one;
}

// What the embargo desk says of it; 0 where it hung up.
static int @{fn2}(int desk, const struct consignment *one, char *verdict, long *duty)
{
    char text[600];
    int length = snprintf(text, sizeof text, "consignor: %s\ngoods: %u\nvalue: %ld\n\n", one->consignor, one->chapter, one->value);
    if (send(desk, text, length, MSG_NOSIGNAL) != length)
        return 0;
    size_t have = 0;
    while (have < 2 || memcmp(text + have - 2, "\n\n", 2)) {
        ssize_t got = recv(desk, text + have, sizeof text - 1 - have, 0);
        if (got <= 0)
            return 0;
        have += got;
    }
    text[have] = 0;
    char *at = strstr(text, "duty: ");
    *duty = at ? atol(at + 6) : 0;
    return sscanf(text, "verdict: %15s", verdict) == 1;
}

static void *serve(void *argument)
{
    int shipper = (int)(intptr_t)argument, desk = dial(@{desk}), yes = 1;
    setsockopt(shipper, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    FILE *questions = fdopen(shipper, "r");
    char line[200], verdict[16], answer[200];
    while (desk >= 0 && fgets(line, sizeof line, questions)) {
        struct consignment one = papers(atol(line + 6));
        long duty;
        if (!@{fn2}(desk, &one, verdict, &duty))
            break;
        int length = snprintf(answer, sizeof answer, "%ld %s %u g, value %ld, duty %ld\n", one.number, verdict, one.grams, one.value, duty);
        if (send(shipper, answer, length, MSG_NOSIGNAL) != length)
            break;
    }
    fclose(questions);
    if (desk >= 0)
        close(desk);
    return NULL;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 64)) {
        perror("door");
        return 1;
    }
    for (;;) {
        int shipper = accept(door, NULL, NULL);
        pthread_t thread;
        if (shipper >= 0 && !pthread_create(&thread, NULL, serve, (void *)(intptr_t)shipper))
            pthread_detach(thread);
    }
}
