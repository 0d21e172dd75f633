/* A file as the kernel knows it, and the one behind a descriptor. */
#ifndef WHYSLOW_INODE_H
#define WHYSLOW_INODE_H
#include "common.bpf.h"

/* include/uapi/linux/stat.h */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000

/* Lets a pointer be followed as it is, which costs a fraction of a helper's call; since Linux 6.2. */
extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym __weak;

/* The number of a file that is gone is given to another one, with another generation. */
struct inode_id {
	u64 inode;
	u32 device; /* of its file system: major << 20 | minor (include/linux/kdev_t.h) */
	u32 generation;
};

static __always_inline void identify(struct inode_id *id, struct inode *inode)
{
	id->inode = BPF_CORE_READ(inode, i_ino);
	id->device = BPF_CORE_READ(inode, i_sb, s_dev);
	id->generation = BPF_CORE_READ(inode, i_generation);
}

/* The open file behind a descriptor of the running thread, as a number to read from; NULL where there is none. */
static __always_inline struct file *file_of(u32 fd)
{
	struct fdtable *table = bpf_get_current_task_btf()->files->fdt;
	struct file *file = NULL;

	if (fd < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file;
}
#endif
