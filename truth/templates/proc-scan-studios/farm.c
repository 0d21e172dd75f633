/* The farm: a group of renderers for each studio, and the list of its processes in studios/NUMBER. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t renderer(int studio, char *name, size_t size)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(name, size, "render s%03d", studio);
    prctl(PR_SET_NAME, name);
    for (volatile long i = 0; i < 2000000L + studio * 30000L; i++)
        ;
    for (;;)
        pause();
}

int main(int count, char **words)
{
    (void)count;
    mkdir("@{work}/studios", 0755);
    for (int studio = 1; studio <= @{studios}; studio++) {
        char path[4096];
        snprintf(path, sizeof path, "@{work}/studios/%d", studio);
        FILE *list = fopen(path, "w");
        if (list == NULL)
            return 1;
        for (int i = 0; i < @{renderers}; i++)
            fprintf(list, "%d\n", (int)renderer(studio, words[0], strlen(words[0]) + 1));
        fclose(list);
    }
    FILE *up = fopen("@{work}/farm.up", "w");
    if (up == NULL)
        return 1;
    fclose(up);
    for (;;)
        pause();
}
