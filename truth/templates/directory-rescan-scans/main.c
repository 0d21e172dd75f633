// Intake of a law firm: takes each new scan into the register, with the client's number and a print of its pages.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static const char *const folder = "@{work}/@{folder}";

struct intake {
    long newest;
    int units;
    double busy, listing;
    FILE *book;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static long number_of(const char *name) {
    const char *dash = strrchr(name, '-');
    return dash && strstr(dash, ".tif") ? atol(dash + 1) : -1;
}

// A print that is the same for the same pages, whichever scanner they come from.
static uint64_t print_of(const unsigned char *bytes, size_t length) {
    uint64_t print = 14695981039346656037ull;
    for (int pass = 0; pass < 24; pass++)
        for (size_t i = 0; i < length; i++)
            print = (print ^ bytes[i]) * 1099511628211ull + (print >> 47);
    return print;
}

static void take_in(struct intake *in, long number) {
    char path[4096], head[64] = "";
    static unsigned char pages[1 << 17];
    snprintf(path, sizeof path, "%s/@{stem}-%06ld.tif", folder, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t length = read(fd, pages, sizeof pages);
    close(fd);
    if (length <= 0)
        return;
    sscanf((char *)pages, "%63[^\n]", head);
    fprintf(in->book, "%ld;%s;%016llx\n", number, head, (unsigned long long)print_of(pages, length));
    in->units++;
}

// Finds the scans that are newer than the newest known, and takes them in; how many there were.
__attribute__((noinline)) static int @{fn}(struct intake *in, int all) {
    long fresh[256];
    int count = 0;
    double start = now();
    DIR *listed = opendir(folder);
    if (!listed)
        return 0;
    long newest = in->newest;
    for (struct dirent *entry; (entry = readdir(listed));) {
        long number = number_of(entry->d_name);
        if (number <= in->newest)
            continue;
        newest = number > newest ? number : newest;
        if (!all && count < 256)
            fresh[count++] = number;
    }
    closedir(listed);
    in->newest = newest;
    in->listing += now() - start;
    for (int i = 0; i < count; i++)
        take_in(in, fresh[i]);
    in->busy += now() - start;
    return count;
}

static void told(struct intake *in, int watch) {
    char events[8192] __attribute__((aligned(8)));
    double start = now();
    ssize_t got = read(watch, events, sizeof events);
    for (char *at = events; at < events + got;) {
        struct inotify_event *event = (struct inotify_event *)at;
        long number = event->len ? number_of(event->name) : -1;
        if (number > in->newest) {
            in->newest = number;
            take_in(in, number);
        }
        at += sizeof *event + event->len;
    }
    in->busy += now() - start;
}

int main(void) {
    struct intake in = {.book = fopen("register.csv", "a")};
    int watch = -1, is_told = !strcmp("@{look}", "told");
    if (!in.book)
        return 1;
    if (is_told && ((watch = inotify_init1(IN_CLOEXEC)) < 0 || inotify_add_watch(watch, folder, IN_MOVED_TO) < 0)) {
        perror(folder);
        return 1;
    }
    @{fn}(&in, 1);
    in.busy = in.listing = 0;
    double began = now(), listed = began;
    while (now() - began < @{seconds}) {
        if (is_told) {
            struct pollfd ready = {.fd = watch, .events = POLLIN};
            if (poll(&ready, 1, 200) > 0)
                told(&in, watch);
            if (now() - listed < @{every})
                continue;
        } else {
            struct timespec rest = {0, @{every} * 1e9};
            nanosleep(&rest, NULL);
        }
        @{fn}(&in, 0);
        listed = now();
    }
    fclose(in.book);
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", in.units, in.busy, in.listing);
    return fclose(out);
}
