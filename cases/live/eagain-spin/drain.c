// Reads 10 messages, one each 50 ms, from a non-blocking socket. FIXED waits in poll.
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int ends[2];
    char message[32];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends)) return 1;
    if (fork() == 0) {
        for (int i = 0; i < 10; i++) {
            usleep(50 * 1000);
            if (write(ends[1], "message", 7) < 0) _exit(1);
        }
        _exit(0);
    }
    for (int got = 0; got < 10;) {
#ifdef FIXED
        struct pollfd wait = {.fd = ends[0], .events = POLLIN};
        poll(&wait, 1, -1);
#endif
        if (read(ends[0], message, sizeof message) > 0) got++;
        else if (errno != EAGAIN) return 1;
    }
    wait(NULL);
}
