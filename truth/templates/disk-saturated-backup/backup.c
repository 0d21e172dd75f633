// Reads all that there is to be saved, some streams at once, and leaves the cache to others.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (128 << 10)

static int file;
static off_t size;

static void *stream(void *number)
{
    void *block;
    if (posix_memalign(&block, 4096, BLOCK))
        return NULL;
    off_t part = size / @{readers} / BLOCK * BLOCK, first = (long)number * part;
    for (off_t at = 0;; at = (at + BLOCK) % part) {
        if (pread(file, block, BLOCK, first + at) < 0)
            return NULL;
        if (@{pause_ms} > 0)
            usleep(@{pause_ms} * 1000);
    }
}

int main(void)
{
    struct stat state;
    file = open("@{work}/@{volume}/@{archive}", O_RDONLY | O_DIRECT);
    if (file < 0 || fstat(file, &state))
        return 1;
    size = state.st_size;
    pthread_t threads[@{readers}];
    for (long i = 0; i < @{readers}; i++)
        pthread_create(&threads[i], NULL, stream, (void *)i);
    for (;;)
        pause();
}
