/* A log agent that looks for rotated files: agent DIRECTORY [calm]. One thread asks the state of every link in the
 * directory over and over; with `calm` it looks once a second, as the directory changes no faster. Another one sleeps. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory;
static int calm;

static void *watch(void *unused)
{
    char path[4096];
    for (;;) {
        struct stat state;
        for (int link = 0; link < 26; link++) {
            snprintf(path, sizeof path, "%s/service-%d.log", directory, link);
            lstat(path, &state);
        }
        if (calm)
            sleep(1);
    }
    return unused;
}

int main(int count, char **words)
{
    pthread_t watcher;
    if (count < 2)
        return 2;
    directory = words[1];
    calm = count > 2 && !strcmp(words[2], "calm");
    prctl(PR_SET_NAME, "logagent");
    if (pthread_create(&watcher, NULL, watch, NULL))
        return 1;
    for (;;)
        pause();
}
