// Waits for eight results of another process, each made in 150 ms. FIXED waits on a pipe in place of looking.
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int ready[2];

static void make_results(void) {
    for (int i = 0; i < 8; i++) {
        usleep(150 * 1000);
        close(open("result.part", O_WRONLY | O_CREAT, 0644));
        rename("result.part", "result");
        if (write(ready[1], "r", 1) < 0) _exit(1);
        while (access("result", F_OK) == 0) usleep(20 * 1000);
    }
    _exit(0);
}

int main(void) {
    unlink("result");
    if (pipe(ready)) return 1;
    pid_t maker = fork();
    if (maker == 0) make_results();
    for (int i = 0; i < 8; i++) {
#ifdef FIXED
        char byte;
        if (read(ready[0], &byte, 1) != 1) return 1;
#else
        while (access("result", F_OK) != 0) usleep(2 * 1000);
#endif
        unlink("result");
    }
    waitpid(maker, NULL, 0);
}
