/* Records the cameras along the track, each into its part of a film that is written over when it is full. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PICTURE (96 << 10)

static void camera(int film, off_t from, off_t length, int number)
{
    unsigned char *picture;
    if (posix_memalign((void **)&picture, 4096, PICTURE))
        exit(1);
    memset(picture, 'a' + number, PICTURE);
    for (off_t at = 0;; at = at + 2 * PICTURE > length ? 0 : at + PICTURE) {
        picture[at / PICTURE % PICTURE]++;
        if (pwrite(film, picture, PICTURE, from + at) < 0)
            exit(1);
        if (@{pause_ms} > 0)
            usleep(@{pause_ms} * 1000);
    }
}

int main(void)
{
    struct stat about;
    int film = open("@{work}/@{volume}/@{film}", O_WRONLY | O_DIRECT);
    if (film < 0 || fstat(film, &about)) {
        perror("film");
        return 1;
    }
    off_t part = about.st_size / @{writers} / 4096 * 4096;
    for (int i = 0; i < @{writers} - 1; i++)
        if (fork() == 0)
            camera(film, i * part, part, i);
    fclose(fopen("@{work}/recorder.ready", "w"));
    camera(film, (@{writers} - 1) * part, part, @{writers} - 1);
}
