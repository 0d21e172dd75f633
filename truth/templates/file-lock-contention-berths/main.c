/* The office of a marina: "moor N" enters a boat into the register of berths. A process for each gate, and one that keeps the books. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD = 64 };

struct berth {
    long number;
    long boats;
    long dues;
    char pier[40];
};

static int register_file;

static void hold(int file, short type, off_t from, off_t length)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = length};
    if (fcntl(file, F_SETLKW, &lock) < 0) {
        perror("register");
        exit(1);
    }
}

static void load(long number, struct berth *berth)
{
    char line[RECORD + 1] = "";
    pread(register_file, line, RECORD, number * RECORD);
    line[RECORD - 1] = '\0';
    sscanf(line, "%ld;%ld;%ld;%35[^\n]", &berth->number, &berth->boats, &berth->dues, berth->pier);
}

static void store(const struct berth *berth)
{
    char line[RECORD + 8];
    snprintf(line, sizeof line, "%05ld;%010ld;%010ld;%-35s\n", berth->number, berth->boats, berth->dues, berth->pier);
    pwrite(register_file, line, RECORD, berth->number * RECORD);
}

static __attribute__((noinline)) long @{fn}(long number)
{
    struct berth berth;
    hold(register_file, F_WRLCK, number * RECORD, RECORD);
    load(number, &berth);
    berth.boats++;
    store(&berth);
    hold(register_file, F_UNLCK, number * RECORD, RECORD);
    return berth.boats;
}

/* Dues follow the tides: high water of the month, hour by hour. */
static __attribute__((noinline)) long dues_of(const struct berth *berth)
{
    uint32_t tide = 2166136261u + (uint32_t)berth->number;
    for (long hour = 0; hour < @{us} * 12L; hour++)
        for (size_t i = 0; i < 48; i++)
            tide = (tide ^ (uint32_t)(hour + berth->boats) ^ (uint32_t)i) * 16777619u;
    return berth->boats * 1200 % 1000000 + tide % 4000;
}

static __attribute__((noinline)) void @{fn2}(void)
{
    int whole = !strcmp("@{lock}", "register");
    if (whole)
        hold(register_file, F_WRLCK, 0, 0);
    for (long number = 0; number < @{berths}; number++) {
        struct berth berth;
        if (!whole)
            hold(register_file, F_WRLCK, number * RECORD, RECORD);
        load(number, &berth);
        berth.dues = dues_of(&berth);
        store(&berth);
        if (!whole)
            hold(register_file, F_UNLCK, number * RECORD, RECORD);
    }
    if (whole)
        hold(register_file, F_UNLCK, 0, 0);
}

static void keep_books(void)
{
    int turn = open("@{work}/office.turn", O_RDWR);
    hold(turn, F_WRLCK, 0, 0);
    for (;;) {
        usleep(@{every} * 1000);
        @{fn2}();
    }
}

static void serve(int gate)
{
    FILE *in = fdopen(gate, "r");
    char line[128], answer[128];
    long boat;
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "moor %ld", &boat) != 1)
            continue;
        long number = boat * 31 % @{berths};
        int length = snprintf(answer, sizeof answer, "boat %ld berth %ld, the %ldth\n", boat, number, @{fn}(number));
        if (write(gate, answer, length) != length)
            break;
    }
}

static pid_t child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    return pid;
}

int main(void)
{
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    signal(SIGCHLD, SIG_IGN);
    register_file = open("@{work}/@{register}", O_RDWR);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (register_file < 0 || bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 64)) {
        perror("office");
        return 1;
    }
    for (int keeper = 0; keeper <= @{standby}; keeper++)
        if (child() == 0) {
            close(door);
            keep_books();
        }
    for (;;) {
        int gate = accept(door, NULL, NULL);
        if (gate < 0)
            continue;
        setsockopt(gate, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (child() == 0) {
            close(door);
            serve(gate);
            _exit(0);
        }
        close(gate);
    }
}
