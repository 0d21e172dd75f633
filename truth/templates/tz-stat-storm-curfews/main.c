/* The door of a youth club: when has a member to be at home, over the coming nights? */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { NIGHTS = @{nights}, DAY = 86400 };

/* The end of each night's stay; days behind the end of a month are of the next one. */
static void __attribute__((noinline)) @{fn}(time_t *ends, int first, int hour, int minute)
{
    for (int night = 0; night < NIGHTS; night++) {
        if (night % @{stride}) {
            ends[night] = ends[night - 1] + DAY;
            continue;
        }
        struct tm end = { .tm_year = 126, .tm_mday = first + night, .tm_hour = hour, .tm_min = minute, .tm_isdst = -1 };
        ends[night] = mktime(&end);
    }
}

/* A check of the calendar, which is printed on the member's card. */
static unsigned check(const time_t *ends)
{
    unsigned sum = 1;
    for (int night = 0; night < NIGHTS; night++)
        for (int bit = 0; bit < 32; bit += 8)
            sum = sum * 31 + (ends[night] >> bit & 255);
    return sum;
}

static void *serve(void *door)
{
    FILE *lines = fdopen((int)(long)door, "r");
    char line[100];
    static _Thread_local time_t ends[NIGHTS];

    while (fgets(line, sizeof line, lines)) {
        unsigned member = 0;
        if (sscanf(line, "member %u", &member) != 1)
            break;
        @{fn}(ends, 1 + member % 28, 18 + (12 + member % 6) / 4, member % 4 * 15);
        int length = snprintf(line, sizeof line, "%u %ld %ld %08x\n", member, (long)ends[0], (long)ends[NIGHTS - 1], check(ends));
        if (write(fileno(lines), line, length) != length)
            break;
    }
    fclose(lines);
    return NULL;
}

int main(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int house = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    if (strlen("@{zone}"))
        setenv("TZ", "@{zone}", 1);
    setsockopt(house, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(house, (struct sockaddr *)&at, sizeof at) || listen(house, 64)) {
        perror("door");
        return 1;
    }
    for (;;) {
        int door = accept(house, NULL, NULL);
        pthread_t thread;
        if (door < 0)
            continue;
        setsockopt(door, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (!pthread_create(&thread, NULL, serve, (void *)(long)door))
            pthread_detach(thread);
    }
}
