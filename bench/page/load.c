// Makes what a page is measured with: THREADS threads that together make RATE small calls a second for SECONDS: reads, stats, writes,
// short sleeps, on files of a temporary folder, and now and then an error and a sync.
//
// load FOLDER SECONDS RATE THREADS
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static double seconds, rate;
static int threads;

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void *work(void *place) {
    int number = (int)(long)place;
    char name[16], path[256], missing[256], byte[64] = "x";
    struct stat about;
    snprintf(name, sizeof name, "worker-%d", number);
    prctl(PR_SET_NAME, name);
    snprintf(path, sizeof path, "%s/data-%d", folder, number);
    snprintf(missing, sizeof missing, "%s/missing", folder);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0)
        return NULL;
    double begun = now();
    long made = 0;
    while (now() - begun < seconds) {
        for (int i = 0; i < 25; i++, made += 4) {
            if (pread(file, byte, sizeof byte, 0) < 0 || pwrite(file, byte, sizeof byte, 0) < 0 || stat(path, &about) < 0)
                return NULL;
            lseek(file, i, SEEK_SET);
        }
        if (made % 10000 == 0)
            (void)!stat(missing, &about);
        if (made % 100000 == 0)
            fdatasync(file);
        // As fast as asked, and no faster.
        double ahead = made / (rate / threads) - (now() - begun);
        if (ahead > 0.001) {
            struct timespec pause = {(time_t)ahead, (long)((ahead - (time_t)ahead) * 1e9)};
            nanosleep(&pause, NULL);
        }
    }
    close(file);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 5)
        return fprintf(stderr, "usage: load FOLDER SECONDS RATE THREADS\n"), 2;
    folder = argv[1], seconds = atof(argv[2]), rate = atof(argv[3]), threads = atoi(argv[4]);
    if (threads < 1 || threads > 256 || rate <= 0)
        return fprintf(stderr, "load: 1 to 256 threads, a rate above 0\n"), 2;
    pthread_t all[256];
    for (long i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, work, (void *)i))
            return perror("load"), 1;
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    return 0;
}
