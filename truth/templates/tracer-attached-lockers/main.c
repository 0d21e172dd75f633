/* Finds a locker for each parcel: which are free is in an index file that several programs share. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096 };

struct index {
    int fd;
    size_t blocks;
    unsigned char block[BLOCK];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int begin(struct index *index)
{
    struct stat st;
    index->fd = open("@{work}/@{index}", O_RDWR | O_CLOEXEC);
    if (index->fd < 0 || fstat(index->fd, &st))
        return -1;
    index->blocks = st.st_size / BLOCK;
    return 0;
}

/* The free place in a block that fits best. */
static int fit(const unsigned char *block, unsigned size)
{
    int best = -1, least = 256;
    for (int turn = 0; turn < @{effort}; turn++)
        for (int i = 0; i < BLOCK; i++) {
            int over = block[i] - (int)((size + turn) & 0xff);
            if (over >= 0 && over < least) {
                least = over;
                best = i;
            }
        }
    return best;
}

static long __attribute__((noinline)) @{fn}(struct index *index, unsigned long parcel)
{
    unsigned size = 40 + parcel * 13 % 150;
    unsigned long at = parcel * 2654435761ul;
    long found = 0;
    for (int i = 0; i < @{reads}; i++) {
        at = at * 6364136223846793005ul + 1442695040888963407ul;
        off_t place = (off_t)((at >> 24) % index->blocks) * BLOCK;
        if (pread(index->fd, index->block, BLOCK, place) != BLOCK)
            return -1;
        found += fit(index->block, size);
    }
    return found;
}

static void note(int journal, unsigned long parcel, long locker)
{
    char line[400];
    int length = snprintf(line, sizeof line, "parcel %lu to locker %ld: %300s\n", parcel, locker, "the code was sent to the receiver");
    if (write(journal, line, length) < 0)
        perror("journal");
}

int main(void)
{
    struct index index;
    int journal = open("@{work}/@{journal}", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (begin(&index) || journal < 0) {
        perror("@{index}");
        return 1;
    }
    FILE *pid = fopen("@{work}/lockers.tmp", "w");
    fprintf(pid, "%d\n", getpid());
    fclose(pid);
    rename("@{work}/lockers.tmp", "@{work}/lockers.pid");

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
        long locker = @{fn}(&index, units);
        if (locker < 0)
            return 1;
        note(journal, units, locker);
        busy += now() - start;
        units++;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
    return 0;
}
