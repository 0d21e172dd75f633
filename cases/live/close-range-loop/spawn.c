// Starts `true` twice, nothing inherited. FIXED closes all descriptors by one call.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int main(void) {
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
#ifdef FIXED
            syscall(SYS_close_range, 3u, ~0u, 0);
#else
            const long limit = sysconf(_SC_OPEN_MAX);
            for (long fd = 3; fd < limit; fd++) close(fd);
#endif
            execlp("true", "true", (char *)0);
            _exit(127);
        }
        wait(NULL);
    }
}
