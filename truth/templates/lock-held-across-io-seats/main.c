/* A box office: gives each guest a seat that is left. A standby in another house knows the same a little later. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROWS @{rows}
#define SEATS @{seats}
#define BLOCKS @{blocks}

struct sale {
    uint32_t seat, guest;
};

static pthread_mutex_t @{lock} = PTHREAD_MUTEX_INITIALIZER;
static uint32_t guests[ROWS * SEATS];
static struct sale changed[ROWS * SEATS];
static int changes, left = ROWS * SEATS;

static uint32_t reserve(uint32_t guest)
{
    pthread_mutex_lock(&@{lock});
    if (left < 10) {
        memset(guests, 0, sizeof guests);
        left = ROWS * SEATS;
    }
    uint32_t seat = guest * 7919u % (ROWS * SEATS);
    while (guests[seat])
        seat = (seat + 1) % (ROWS * SEATS);
    guests[seat] = guest + 1;
    left--;
    if (changes < ROWS * SEATS)
        changed[changes++] = (struct sale){ htonl(seat), htonl(guest) };
    pthread_mutex_unlock(&@{lock});
    return seat;
}

static double quality(int row, int seat, int round)
{
    double x = seat - SEATS / 2.0, y = row + 3;
    return exp(-(y - 11) * (y - 11) / 200) * cos(fabs(atan2(x, y)) + round * 1e-6);
}

/* What a seat costs, by how well one sees and hears there and in all of the hall. */
static double price(uint32_t seat)
{
    double best = 0, sum = 0;
    for (int round = 0; round < @{rounds}; round++)
        for (int other = 0; other < ROWS * SEATS; other++) {
            double here = quality(other / SEATS, other % SEATS, round);
            best = here > best ? here : best;
            sum += here;
        }
    return 15 + 80 * quality(seat / SEATS, seat % SEATS, 0) / best + fmod(sum, 1);
}

static void tell(int standby, const struct sale *sales, int count)
{
    for (int block = 0; block < BLOCKS; block++) {
        int first = count * block / BLOCKS, last = count * (block + 1) / BLOCKS;
        uint32_t head = htonl(last - first), receipt;
        char frame[sizeof head + sizeof changed];
        size_t size = sizeof head + (last - first) * sizeof *sales;
        memcpy(frame, &head, sizeof head);
        memcpy(frame + sizeof head, sales + first, size - sizeof head);
        if (send(standby, frame, size, 0) < 0 || recv(standby, &receipt, sizeof receipt, MSG_WAITALL) != sizeof receipt) {
            perror("standby");
            exit(1);
        }
    }
}

static void __attribute__((noinline)) @{fn}(int standby)
{
    static struct sale sales[ROWS * SEATS];
    pthread_mutex_lock(&@{lock});
    if (@{inside}) {
        tell(standby, changed, changes);
        changes = 0;
        pthread_mutex_unlock(&@{lock});
        return;
    }
    int count = changes;
    memcpy(sales, changed, count * sizeof *sales);
    changes = 0;
    pthread_mutex_unlock(&@{lock});
    tell(standby, sales, count);
}

static void *mirror(void *given)
{
    int standby = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "@{work}/@{sock}" };
    double every = @{every} / 1000.0;
    struct timespec pause = { (time_t)every, (long)((every - (time_t)every) * 1e9) };
    if (connect(standby, (struct sockaddr *)&address, sizeof address)) {
        perror("standby");
        exit(1);
    }
    for (;;) {
        @{fn}(standby);
        nanosleep(&pause, NULL);
    }
    return given;
}

static void *serve(void *given)
{
    int guest = (int)(intptr_t)given;
    char text[128];
    ssize_t n;
    while ((n = read(guest, text, sizeof text - 1)) > 0) {
        text[n] = 0;
        uint32_t seat = reserve(strchr(text, ' ') ? strtoul(strchr(text, ' '), NULL, 10) : 0);
        n = snprintf(text, sizeof text, "row %u seat %u for %.2f\n", seat / SEATS + 1, seat % SEATS + 1, price(seat));
        if (write(guest, text, n) < 0)
            break;
    }
    close(guest);
    return NULL;
}

int main(void)
{
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 64)) {
        perror("door");
        return 1;
    }
    pthread_create(&thread, NULL, mirror, NULL);
    for (;;) {
        int guest = accept(door, NULL, NULL);
        if (guest < 0)
            continue;
        setsockopt(guest, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        pthread_create(&thread, NULL, serve, (void *)(intptr_t)guest);
        pthread_detach(thread);
    }
}
