// An event loop over a pipe whose writer has left. FIXED closes the pipe when it hangs up.
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

int main(void) {
    int ends[2], loop = epoll_create1(0);
    char line[128];
    if (pipe(ends)) return 1;
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = ends[0]}, got;
    epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &wanted);
    close(ends[1]);
    for (;;) {
        if (epoll_wait(loop, &got, 1, -1) < 1) continue;
        if (got.events & EPOLLIN && read(got.data.fd, line, sizeof line) > 0) puts("a line");
#ifdef FIXED
        if (got.events & EPOLLHUP) close(got.data.fd);
#endif
    }
}
