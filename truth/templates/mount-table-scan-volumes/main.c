/* Keeps the volumes of tenants: a job names some of them, and gets what is free on each. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <time.h>

enum { VOLUMES = @{last} + 1 };

struct volume {
    char path[256];
    int is_there;
    unsigned long handed_out;
};

static struct volume volumes[VOLUMES];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* All volumes come up when the keeper starts; they are this program's, and go with it. */
static void bring_up(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
        perror("mounts of our own");
        exit(1);
    }
    for (int i = 0; i < VOLUMES; i++) {
        snprintf(volumes[i].path, sizeof volumes[i].path, "@{work}/@{volumes}/@{kind}-%d", i);
        if (mount(volumes[i].path, volumes[i].path, NULL, MS_BIND, NULL)) {
            perror(volumes[i].path);
            exit(1);
        }
    }
}

/* Whether a path is where something is mounted. */
static int __attribute__((noinline)) @{fn}(const char *path)
{
    double asked = now();
    int found = 0;
    char line[4096], target[2048];
    FILE *table = fopen("/proc/self/mountinfo", "r");
    while (table && fgets(line, sizeof line, table)) {
        int id, parent;
        if (sscanf(line, "%d %d %*s %*s %2047s", &id, &parent, target) == 3 && strcmp(target, path) == 0)
            found = id;
    }
    if (table)
        fclose(table);
    spent += now() - asked;
    return found;
}

static int is_mounted(struct volume *volume)
{
    if (strcmp("@{table}", "each") == 0)
        return @{fn}(volume->path);
    return volume->is_there;
}

/* How much a tenant may have of what is free, by the rules of the house. */
static unsigned long portion(struct volume *volume, unsigned long job)
{
    struct statvfs fs;
    if (statvfs(volume->path, &fs))
        return 0;
    unsigned long sum = fs.f_bavail ^ job;
    for (int i = 0; i < @{effort} * 100000; i++)
        sum = sum * 6364136223846793005ul + 1442695040888963407ul;
    return sum % (fs.f_bavail + 1);
}

static void serve(unsigned long job)
{
    for (int i = 0; i < @{each}; i++) {
        struct volume *volume = &volumes[(job * 31 + i * 7) % VOLUMES];
        if (is_mounted(volume))
            volume->handed_out += portion(volume, job);
        else
            printf("job %lu: %s is not there\n", job, volume->path);
    }
}

int main(void)
{
    double came = now();
    bring_up();
    /* The table of the start is as good as what was mounted. */
    for (int i = 0; i < VOLUMES; i++)
        volumes[i].is_there = 1;
    printf("%d volumes after %.2f s\n", VOLUMES, now() - came);
    long units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due += 1.0 / @{rate};
        double rest = due - now();
        if (rest > 0) {
            struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
            nanosleep(&pause, NULL);
        } else {
            due = now();
        }
        double start = now();
        serve(units);
        busy += now() - start;
        units++;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(out);
    return 0;
}
