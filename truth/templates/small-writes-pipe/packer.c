#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    // Open for writing too: it waits for nobody, and goes on after one who wrote has left.
    int fd = open("@{work}/@{pipe}", O_RDWR);
    char *buffer = malloc(1 << 20);
    if (fd < 0)
        return 1;
    fcntl(fd, F_SETPIPE_SZ, 1 << 20);
    close(open("@{work}/packer.ready", O_CREAT | O_WRONLY, 0644));
    unsigned long sum = 0;
    for (ssize_t n; (n = read(fd, buffer, 1 << 20)) > 0; usleep(700))
        for (ssize_t i = 0; i < n; i += 64)
            sum = sum * 31 + buffer[i];
    return sum == 1;
}
