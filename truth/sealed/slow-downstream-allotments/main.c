/* The pump house of an allotment society. A tap asks how long it may run; that goes by crop, size, weather, and the ground. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct plot {
    int number, area, cell;
    char crop[12];
};

struct ground {
    double moisture, evaporation;
};

static const struct { const char *crop; double thirst; } needs[] = {
    { "beans", 1.1 }, { "leeks", 0.9 }, { "kale", 0.8 }, { "roses", 0.7 }, { "berries", 1.2 }, { "marrow", 1.5 },
};

static struct plot plots[1000];
static int count;
static struct ground cells[@{cells}];
static int is_kept[@{cells}];
static pthread_mutex_t board = PTHREAD_MUTEX_INITIALIZER;
static char news[80] = "no news";

static FILE *as_file(int fd)
{
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fdopen(fd, "r");
}

static FILE *dial(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
        perror("weather office");
        exit(1);
    }
    return as_file(fd);
}

static int say(FILE *line, const char *text)
{
    return send(fileno(line), text, strlen(text), MSG_NOSIGNAL) > 0;
}

static int __attribute__((noinline)) @{fn}(FILE *service, int cell, struct ground *ground)
{
    char text[80];
    if (is_kept[cell]) {
        *ground = cells[cell];
        return 1;
    }
    snprintf(text, sizeof text, "cell %d\n", cell);
    return say(service, text) && fgets(text, sizeof text, service) && sscanf(text, "%lf %lf", &ground->moisture, &ground->evaporation) == 2;
}

static void keep_cells(void)
{
    FILE *service = dial(@{soil});
    for (int cell = 0; cell < @{cells}; cell++)
        is_kept[cell] = @{fn}(service, cell, &cells[cell]);
    fclose(service);
}

static long run_time(const struct plot *plot, const struct ground *ground)
{
    double wet = ground->moisture * 100, thirst = 1;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!strcmp(needs[i].crop, plot->crop))
            thirst = needs[i].thirst;
    for (int step = 0; step < 24 * @{detail} * 60; step++) {
        wet -= ground->evaporation * thirst * fmax(0, sin(step % 1440 * M_PI / 1440)) / (@{detail} * 60 * 4);
        wet = fmax(wet, 5);
    }
    return lround(plot->area * fmax(0, 62 - wet) / 18);
}

static void *watch_frost(void *unused)
{
    char text[80];
    FILE *line = dial(@{frost});
    while (say(line, "watch\n") && fgets(text, sizeof text, line)) {
        text[strcspn(text, "\n")] = 0;
        pthread_mutex_lock(&board);
        strcpy(news, text);
        pthread_mutex_unlock(&board);
    }
    fclose(line);
    return unused;
}

static void *serve(void *argument)
{
    FILE *tap = argument, *service = dial(@{soil});
    char text[160], weather[80];
    int number;
    while (fgets(text, sizeof text, tap) && sscanf(text, "water %d", &number) == 1) {
        const struct plot *plot = &plots[number % count];
        struct ground ground;
        if (!@{fn}(service, plot->cell, &ground))
            break;
        pthread_mutex_lock(&board);
        strcpy(weather, news);
        pthread_mutex_unlock(&board);
        snprintf(text, sizeof text, "plot %d: %ld s, %s\n", plot->number, run_time(plot, &ground), weather);
        if (!say(tap, text))
            break;
    }
    fclose(service);
    fclose(tap);
    return NULL;
}

static void start(void *(*what)(void *), void *with)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, what, with))
        pthread_detach(thread);
}

int main(void)
{
    FILE *list = fopen("@{work}/@{plots}", "r");
    struct plot *plot = plots;
    while (list && count < 1000 && fscanf(list, "%d;%11[^;];%d;%d", &plot->number, plot->crop, &plot->area, &plot->cell) == 4)
        plot = &plots[++count];
    if (!count)
        return 1;
    fclose(list);
    signal(SIGPIPE, SIG_IGN);
    if (!strcmp("@{moisture}", "kept"))
        keep_cells();
    start(watch_frost, NULL);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 64)) {
        perror("door");
        return 1;
    }
    for (;;) {
        int fd = accept(door, NULL, NULL);
        if (fd >= 0)
            start(serve, as_file(fd));
    }
}
