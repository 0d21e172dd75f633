/* The Wi-Fi portal of a hotel: "GET /login/N" lets guest N in, if the head office's RADIUS server knows the room. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

struct contract {
    uint32_t seconds, kilobits;
};

struct line {
    int socket;
    uint8_t number;
};

static struct sockaddr_in here(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static int request(uint8_t *packet, uint8_t number, int room)
{
    int name = sprintf((char *)packet + 22, "room-%d", room), length = 22 + name;
    packet[0] = 1;
    packet[1] = number;
    getrandom(packet + 4, 16, 0);
    packet[20] = 1;
    packet[21] = 2 + name;
    memcpy(packet + length, (uint8_t[]){4, 6, 127, 0, 0, 1}, 6);
    length += 6;
    packet[2] = length >> 8;
    packet[3] = length;
    return length;
}

static int understand(const uint8_t *packet, int length, struct contract *contract)
{
    for (int at = 20; at + 6 <= length && packet[at + 1] >= 2; at += packet[at + 1]) {
        uint32_t value;
        memcpy(&value, packet + at + 2, 4);
        if (packet[at] == 27)
            contract->seconds = ntohl(value);
        if (packet[at] == 85)
            contract->kilobits = ntohl(value);
    }
    return packet[0] == 2;
}

static __attribute__((noinline)) int @{fn}(struct line *radius, int room, struct contract *contract)
{
    uint8_t packet[512], answer[4096];
    for (int attempt = 0; attempt < 3; attempt++) {
        struct pollfd ready = {.fd = radius->socket, .events = POLLIN};
        radius->number++;
        send(radius->socket, packet, request(packet, radius->number, room), 0);
        while (poll(&ready, 1, 3000) == 1) {
            int length = recv(radius->socket, answer, sizeof answer, 0);
            if (length >= 20 && answer[1] == radius->number)
                return understand(answer, length, contract);
        }
    }
    return 0;
}

static uint64_t voucher(long guest)
{
    uint64_t seal = 0x9e3779b97f4a7c15u + (uint64_t)guest;
    for (long i = 0; i < @{rounds} * 400L; i++) {
        seal = (seal ^ (seal >> 30)) * 0xbf58476d1ce4e5b9u;
        seal ^= seal >> 27;
    }
    return seal;
}

static int answer(struct line *radius, const char *ask, char *out, size_t room_for)
{
    char text[256];
    long guest = 0;
    struct contract contract = {0};
    sscanf(ask, "GET /login/%ld", &guest);
    int open = @{fn}(radius, 100 + guest % @{rooms}, &contract);
    int length = snprintf(text, sizeof text, "{\"guest\": %ld, \"voucher\": \"%016llx\", \"seconds\": %u, \"kilobits\": %u, \"open\": %s}", guest,
                          (unsigned long long)voucher(guest), contract.seconds, contract.kilobits, open ? "true" : "false");
    return snprintf(out, room_for, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                    open ? "200 OK" : "504 Gateway Timeout", length, text);
}

static void *serve(void *argument)
{
    int guest = (int)(intptr_t)argument, have = 0, got;
    char ask[8192], out[1024], *end;
    struct sockaddr_in office = here(@{radius});
    struct line radius = {socket(AF_INET, SOCK_DGRAM, 0), 0};
    connect(radius.socket, (struct sockaddr *)&office, sizeof office);
    while ((got = read(guest, ask + have, sizeof ask - 1 - have)) > 0) {
        have += got;
        ask[have] = '\0';
        if (!(end = strstr(ask, "\r\n\r\n")))
            continue;
        int length = answer(&radius, ask, out, sizeof out);
        have -= end + 4 - ask;
        memmove(ask, end + 4, have);
        if (write(guest, out, length) != length)
            break;
    }
    close(radius.socket);
    close(guest);
    return NULL;
}

static void *hear(void *argument)
{
    struct sockaddr_in office = here(@{notices});
    int desk = socket(AF_INET, SOCK_STREAM, 0);
    char text[128];
    (void)argument;
    if (connect(desk, (struct sockaddr *)&office, sizeof office))
        return NULL;
    FILE *lines = fdopen(desk, "r"), *list = fopen("@{work}/housekeeping.txt", "a");
    while (list && fgets(text, sizeof text, lines)) {
        fputs(text, list);
        fflush(list);
    }
    fclose(lines);
    return NULL;
}

int main(void)
{
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = here(@{port});
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 64)) {
        perror("portal");
        return 1;
    }
    if (@{desk} && !pthread_create(&thread, NULL, hear, NULL))
        pthread_detach(thread);
    for (;;) {
        int guest = accept(door, NULL, NULL);
        if (guest < 0)
            continue;
        setsockopt(guest, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)guest))
            close(guest);
        else
            pthread_detach(thread);
    }
}
