/* The museum's vault: the sides of its records, digitized, as files of one folder. SIGTERM closes it. */
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

#define SIZE (@{kb} * 1024UL)
#define SHIFT 7777UL
#define MOST @{most}

static const char *const mount_point = "@{work}/@{mount}";
static unsigned char *sound;
static int device;

static void leave(int number)
{
    (void)number;
    umount2(mount_point, MNT_DETACH);
    _exit(0);
}

static void reply(const struct fuse_in_header *to, int error, const void *body, size_t length)
{
    struct fuse_out_header head = { sizeof head + length, error, to->unique };
    struct iovec all[] = { { &head, sizeof head }, { (void *)body, length } };
    if (writev(device, all, length ? 2 : 1) < 0 && errno != ENOENT)
        perror("reply");
}

/* Inode 1 is the folder; a side is 2 and its number. */
static struct fuse_attr describe(uint64_t inode)
{
    struct fuse_attr about = { .ino = inode, .nlink = 1, .blksize = 4096, .mode = S_IFDIR | 0755 };
    if (inode > 1) {
        about.mode = S_IFREG | 0444;
        about.size = SIZE;
        about.blocks = SIZE / 512;
    }
    return about;
}

static void find(const struct fuse_in_header *in, const char *name)
{
    int number;
    if (in->nodeid != 1 || sscanf(name, "@{side}-%d.pcm", &number) != 1 || number < 0 || number >= @{sides}) {
        reply(in, -ENOENT, NULL, 0);
        return;
    }
    struct fuse_entry_out entry = { .nodeid = 2 + number, .entry_valid = 900, .attr_valid = 900, .attr = describe(2 + number) };
    reply(in, 0, &entry, sizeof entry);
}

static void __attribute__((noinline)) @{fn2}(const struct fuse_in_header *in, const struct fuse_read_in *part)
{
    uint64_t left = part->offset < SIZE ? SIZE - part->offset : 0;
    reply(in, 0, sound + (in->nodeid - 2) * SHIFT + part->offset, part->size < left ? part->size : left);
}

static void greet(const struct fuse_in_header *in, const struct fuse_init_in *kernel)
{
    struct fuse_init_out mine = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = kernel->max_readahead, .flags = FUSE_MAX_PAGES,
                                  .max_write = 65536, .max_background = 16, .congestion_threshold = 12, .time_gran = 1, .max_pages = 256 };
    reply(in, 0, &mine, sizeof mine);
}

static void serve(void)
{
    static char question[1 << 18];
    struct fuse_in_header *in = (void *)question;
    void *body = question + sizeof *in;
    for (;;) {
        ssize_t got = read(device, question, sizeof question);
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
            continue;
        if (got <= 0)
            return;
        if (in->opcode == FUSE_READ)
            @{fn2}(in, body);
        else if (in->opcode == FUSE_LOOKUP)
            find(in, body);
        else if (in->opcode == FUSE_INIT)
            greet(in, body);
        else if (in->opcode == FUSE_GETATTR) {
            struct fuse_attr_out out = { .attr_valid = 900, .attr = describe(in->nodeid) };
            reply(in, 0, &out, sizeof out);
        } else if (in->opcode == FUSE_OPEN) {
            struct fuse_open_out out = { .open_flags = @{kept} ? FOPEN_KEEP_CACHE : FOPEN_DIRECT_IO };
            reply(in, 0, &out, sizeof out);
        } else if (in->opcode == FUSE_RELEASE || in->opcode == FUSE_FLUSH)
            reply(in, 0, NULL, 0);
        else if (in->opcode == FUSE_DESTROY)
            return;
        else if (in->opcode != FUSE_FORGET && in->opcode != FUSE_BATCH_FORGET && in->opcode != FUSE_INTERRUPT)
            reply(in, -ENOSYS, NULL, 0);
    }
}

int main(void)
{
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    size_t all = SIZE + @{sides} * SHIFT;
    if (!(sound = malloc(all)))
        return 1;
    uint32_t wave = 99;
    for (size_t i = 0; i < all; i++)
        sound[i] = 128 + (int)(i % 200) / 4 - 25 + (int)((wave = wave * 1664525 + 1013904223) >> 28);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char how[160];
    snprintf(how, sizeof how, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,max_read=%d", device, MOST);
    if (device < 0 || mount("vault", mount_point, "fuse.vault", MS_RDONLY | MS_NOSUID | MS_NODEV, how)) {
        perror(mount_point);
        return 1;
    }
    serve();
    leave(0);
}
