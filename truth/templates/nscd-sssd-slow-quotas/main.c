/* Reports what space the tenants of a file server use, folder by folder: files are counted for their owners, by name. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OWNERS = 512 };

struct owner {
    uid_t uid;
    char name[64];
    long files, bytes;
};

static struct owner owners[OWNERS];
static double spent;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* The users are those of the file server, not of this host: its name service is reached at its own /run. */
static void enter(const char *run)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount(run, "/run", NULL, MS_BIND, NULL)) {
        perror(run);
        exit(1);
    }
}

static void @{fn}(struct owner *owner, uid_t uid)
{
    double start = now();
    struct passwd *user = getpwuid(uid);
    if (user)
        snprintf(owner->name, sizeof owner->name, "%s", user->pw_name);
    else
        snprintf(owner->name, sizeof owner->name, "#%u", uid);
    spent += now() - start;
}

static struct owner *owner_of(uid_t uid)
{
    struct owner *owner = &owners[uid % OWNERS];
    if (owner->uid != uid || !@{known} || !owner->name[0]) {
        owner->uid = uid;
        @{fn}(owner, uid);
    }
    return owner;
}

/* Two files of one content count once: a sum of what is in them tells. */
static uint64_t sum_of(const char *path, long size)
{
    char text[4096];
    uint64_t sum = size;
    FILE *file = fopen(path, "r");
    if (!file)
        return sum;
    size_t got = fread(text, 1, sizeof text, file);
    fclose(file);
    for (int pass = 0; pass < @{effort}; pass++)
        for (size_t i = 0; i < got; i++)
            sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
    return sum;
}

static int report_folder(const char *folder, FILE *out)
{
    static uint64_t seen[1024];
    DIR *dir = opendir(folder);
    int files = 0, twice = 0;
    if (!dir)
        return -1;
    memset(seen, 0, sizeof seen);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        struct stat status;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &status))
            continue;
        struct owner *owner = owner_of(status.st_uid);
        uint64_t sum = sum_of(path, status.st_size);
        twice += seen[sum % 1024] == sum;
        seen[sum % 1024] = sum;
        owner->files++;
        owner->bytes += status.st_size;
        fprintf(out, "%-24s %8ld %s\n", owner->name, (long)status.st_size, entry->d_name);
        files++;
    }
    closedir(dir);
    fprintf(out, "%d files, %d of them twice\n", files, twice);
    fflush(out);
    return files;
}

static void make_folder(const char *folder)
{
    mkdir(folder, 0755);
    for (int i = 0; i < @{files}; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/plan-%d.txt", folder, i);
        FILE *file = fopen(path, "w");
        for (int line = 0; line < 90; line++)
            fprintf(file, "%d: room %d, %d chairs\n", line, i * 7 + line, line * i % 30);
        fclose(file);
        if (chown(path, @{first} + i % @{users}, 100))
            perror(path);
    }
}

int main(void)
{
    FILE *out = fopen("@{work}/usage.txt", "w");
    make_folder("@{work}/@{folder}");
    enter("@{work}/run");
    int units = 0;
    double busy = 0, began = now(), due = began;
    while (now() - began < @{seconds}) {
        due = due + 1.0 / @{rate} > now() ? due + 1.0 / @{rate} : now();
        if (due > now())
            usleep((due - now()) * 1e6);
        double start = now();
        if (report_folder("@{work}/@{folder}", out) != @{files}) {
            fprintf(stderr, "folder: %s\n", strerror(errno));
            return 1;
        }
        busy += now() - start;
        units++;
    }
    FILE *report = fopen("@{report}", "w");
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent);
    fclose(report);
    return 0;
}
