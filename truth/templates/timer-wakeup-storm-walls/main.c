/* Plays a programme on a video wall: each picture goes out in packets, evenly over its time, so that the controllers' small buffers take them. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS = @{packets}, BYTES = @{bytes}, SLOT_NS = @{slot_us} * 1000 };

struct packet {
    uint32_t picture, place;
    uint8_t cells[BYTES];
};

struct player {
    int wall;
    uint8_t picture[PACKETS][BYTES];
    double spent;
    long sent, lost;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int open_wall(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int wall = socket(AF_INET, SOCK_DGRAM, 0);
    if (wall < 0 || connect(wall, (struct sockaddr *)&to, sizeof to)) {
        perror("wall");
        exit(1);
    }
    return wall;
}

/* The next picture: rings that wander, with the wall's own curve of brightness. */
static void draw(struct player *player, int number)
{
    for (int pass = 0; pass < @{effort}; pass++)
        for (int place = 0; place < PACKETS; place++)
            for (int at = 0; at < BYTES; at++) {
                unsigned ring = (place - number) * (place - number) + at * at / 64 + pass;
                unsigned light = (player->picture[place][at] + ring * 3) & 255;
                player->picture[place][at] = light * light / 255;
            }
}

/* Waits for the packet's time. */
static void @{fn}(struct player *player, struct timespec *slot, int slots)
{
    double start = now();
    slot->tv_nsec += (long)SLOT_NS * slots;
    while (slot->tv_nsec >= 1000000000) {
        slot->tv_nsec -= 1000000000;
        slot->tv_sec++;
    }
    struct timespec current;
    clock_gettime(CLOCK_MONOTONIC, &current);
    long rest = (slot->tv_sec - current.tv_sec) * 1000000000L + slot->tv_nsec - current.tv_nsec;
    struct timespec pause = {0, rest > 1000 ? rest : 1000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, slot);
    player->spent += now() - start;
}

static void send_picture(struct player *player, int number)
{
    struct timespec slot;
    struct packet packet = {.picture = number};
    /* What did not change is on the wall already. */
    int count = number % @{part} == 0 ? PACKETS : PACKETS / 20;
    clock_gettime(CLOCK_MONOTONIC, &slot);
    for (int place = 0; place < count; place++) {
        packet.place = place;
        memcpy(packet.cells, player->picture[place], BYTES);
        if (send(player->wall, &packet, sizeof packet, 0) < 0)
            player->lost++;
        else
            player->sent++;
        if ((place + 1) % @{burst} == 0)
            @{fn}(player, &slot, @{burst});
    }
}

int main(void)
{
    static struct player player;
    FILE *log = fopen("@{work}/wall.log", "w");
    player.wall = open_wall(@{wall});
    int units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due = due + 1.0 / @{rate} > now() ? due + 1.0 / @{rate} : now();
        if (due > now())
            usleep((due - now()) * 1e6);
        double start = now();
        draw(&player, units);
        send_picture(&player, units);
        busy += now() - start;
        units++;
        if (units % 10 == 0)
            fprintf(log, "picture %d: %ld packets, %ld lost\n", units, player.sent, player.lost);
    }
    fclose(log);
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, player.spent);
    fclose(report);
    return 0;
}
