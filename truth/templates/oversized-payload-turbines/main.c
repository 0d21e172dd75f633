/* Holds the state of a wind park for its desks. A process of its own serves each desk; all of them see the same turbines. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { TURBINES = @{turbines}, SAMPLES = @{samples}, TABLE = 1, CURVE = 2, AT_ONCE = 64 };

struct question {
    uint16_t what, which;
};

struct row {
    uint16_t number, state;
    uint32_t power;
    uint16_t samples, unused;
};

struct turbine {
    struct row row;
    int16_t curve[SAMPLES];
};

static struct turbine *park;

static int send_parts(int desk, struct iovec *parts, int count)
{
    while (count) {
        ssize_t sent = writev(desk, parts, count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        while (count && (size_t)sent >= parts->iov_len) {
            sent -= parts->iov_len;
            parts++;
            count--;
        }
        if (count) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= sent;
        }
    }
    return 0;
}

static int __attribute__((noinline)) @{fn}(int desk, int first, int many, int curves)
{
    struct iovec parts[AT_ONCE];
    struct row rows[AT_ONCE];
    uint32_t length = many * (sizeof(struct row) + (curves ? sizeof park->curve : 0));
    int count = 0, used = 0;
    parts[count++] = (struct iovec){ &length, sizeof length };
    for (int i = first; i < first + many; i++) {
        rows[used] = park[i].row;
        rows[used].samples = curves ? SAMPLES : 0;
        parts[count++] = (struct iovec){ &rows[used++], sizeof(struct row) };
        if (curves)
            parts[count++] = (struct iovec){ park[i].curve, sizeof park->curve };
        if (count > AT_ONCE - 2 || i + 1 == first + many) {
            if (send_parts(desk, parts, count))
                return -1;
            count = used = 0;
        }
    }
    return 0;
}

static void serve(int desk)
{
    struct question asked;
    while (recv(desk, &asked, sizeof asked, MSG_WAITALL) == sizeof asked) {
        int failed = asked.what == TABLE ? @{fn}(desk, 0, TURBINES, @{curves}) : @{fn}(desk, asked.which % TURBINES, 1, 1);
        if (failed)
            break;
    }
}

static void survey(void)
{
    unsigned noise = 12345;
    size_t size = TURBINES * sizeof *park;
    park = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < TURBINES; i++) {
        park[i].row = (struct row){ .number = i + 1, .state = i % 17 ? 1 : 3, .power = 18000 + i * 131 % 5000 };
        for (int k = 0; k < SAMPLES; k++) {
            noise = noise * 1664525u + 1013904223u;
            park[i].curve[k] = (int16_t)(noise >> 18) - 8192;
        }
    }
}

int main(void)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    survey();
    strncpy(at.sun_path, "@{work}/@{door}", sizeof at.sun_path - 1);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 32)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int desk = accept(door, NULL, NULL);
        if (desk < 0)
            continue;
        if (fork() == 0) {
            close(door);
            serve(desk);
            _exit(0);
        }
        close(desk);
    }
}
