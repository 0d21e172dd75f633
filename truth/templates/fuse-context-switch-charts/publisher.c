/* The publisher's sea chart, as a folder with one file. The cells are unpacked once, at the start. Goes away with SIGTERM. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOT = 1, CHART = 2, LARGEST = 131072 };

static const char *const place = "@{work}/@{mount}", *const name = "@{chart}";
static const uint64_t size = @{mb} * 1000000UL;
static unsigned char *cells;
static int line;

static void leave(int number)
{
    (void)number;
    umount2(place, MNT_DETACH);
    _exit(0);
}

static void answer(uint64_t unique, int error, const void *data, size_t length)
{
    struct fuse_out_header head = { .len = sizeof head + length, .error = error, .unique = unique };
    struct iovec parts[2] = { { &head, sizeof head }, { (void *)data, length } };
    if (writev(line, parts, length ? 2 : 1) < 0 && errno != ENOENT)
        perror("answer");
}

static struct fuse_attr attributes(uint64_t node)
{
    struct fuse_attr a = { .ino = node, .nlink = 1, .blksize = 4096 };
    a.mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0444;
    a.size = node == ROOT ? 0 : size;
    a.blocks = a.size / 512;
    return a;
}

static void look_up(const struct fuse_in_header *in, const char *wanted)
{
    if (in->nodeid != ROOT || strcmp(wanted, name)) {
        answer(in->unique, -ENOENT, NULL, 0);
        return;
    }
    struct fuse_entry_out out = { .nodeid = CHART, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes(CHART) };
    answer(in->unique, 0, &out, sizeof out);
}

static void give(const struct fuse_in_header *in, const struct fuse_read_in *wanted)
{
    uint64_t left = wanted->offset < size ? size - wanted->offset : 0;
    answer(in->unique, 0, cells + wanted->offset, wanted->size < left ? wanted->size : left);
}

/* One question of the system after the other. */
static void __attribute__((noinline)) @{fn2}(void)
{
    static char question[LARGEST + 4096];
    ssize_t got;
    while ((got = read(line, question, sizeof question)) > 0 || errno == EINTR || errno == EAGAIN || errno == ENOENT) {
        if (got <= 0)
            continue;
        const struct fuse_in_header *in = (void *)question;
        const void *body = question + sizeof *in;
        switch (in->opcode) {
        case FUSE_INIT: {
            const struct fuse_init_in *said = body;
            struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = said->max_readahead, .max_write = LARGEST,
                                         .max_background = 12, .congestion_threshold = 9, .time_gran = 1 };
            answer(in->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_LOOKUP:
            look_up(in, body);
            break;
        case FUSE_GETATTR: {
            struct fuse_attr_out out = { .attr_valid = 3600, .attr = attributes(in->nodeid) };
            answer(in->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_OPEN: {
            struct fuse_open_out out = { .open_flags = @{direct} ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE };
            answer(in->unique, 0, &out, sizeof out);
            break;
        }
        case FUSE_READ:
            give(in, body);
            break;
        case FUSE_RELEASE:
        case FUSE_FLUSH:
            answer(in->unique, 0, NULL, 0);
            break;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
            break;
        case FUSE_DESTROY:
            return;
        default:
            answer(in->unique, -ENOSYS, NULL, 0);
        }
    }
}

int main(void)
{
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    cells = malloc(size);
    uint32_t depth = 40;
    for (uint64_t i = 0; cells && i < size; i++) {
        depth = depth * 1103515245 + 12345;
        cells[i] = i % 400 ? depth >> 24 : '\n';
    }
    line = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[100];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", line);
    if (!cells || line < 0 || mount("publisher", place, "fuse.publisher", MS_NOSUID | MS_NODEV | MS_RDONLY, options)) {
        perror(place);
        return 1;
    }
    @{fn2}();
    leave(0);
}
