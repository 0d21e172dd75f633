// Reads 10 messages, one each 50 ms. FIXED lets poll wait for them.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FIXED
#define TIMEOUT_MS -1
#else
#define TIMEOUT_MS 0
#endif

int main(void) {
    int ends[2];
    char message[8];
    if (pipe(ends)) return 1;
    if (fork() == 0) {
        for (int i = 0; i < 10; i++) {
            usleep(50 * 1000);
            if (write(ends[1], "message", 7) < 0) _exit(1);
        }
        _exit(0);
    }
    for (int got = 0; got < 10;) {
        struct pollfd wait = {.fd = ends[0], .events = POLLIN};
        if (poll(&wait, 1, TIMEOUT_MS) > 0 && read(ends[0], message, 7) > 0) got++;
    }
    wait(NULL);
}
