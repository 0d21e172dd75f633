/* The part of vmlinux.h about files and block requests. */
#ifndef WHYSLOW_VMLINUX_FILES_H
#define WHYSLOW_VMLINUX_FILES_H

struct super_block {
	dev_t s_dev;
};

struct inode {
	umode_t i_mode;
	struct super_block *i_sb;
	long unsigned int i_ino;
	u32 i_generation;
	long long int i_size;
};

struct qstr {
	u32 hash;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

/* fs/mount.h */
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct fs_struct {
	struct path root;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
	long long int f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* include/linux/blk_types.h */
enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_RAHEAD = 19,
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct address_space {
	struct inode *host;
};

struct page {
	struct address_space *mapping;
	long unsigned int compound_head;
};

struct bio_vec {
	struct page *bv_page;
};

struct bio {
	struct bio_vec *bi_io_vec;
};

struct request {
	struct request_queue *q;
	struct bio *bio;
	unsigned int cmd_flags;
	unsigned int __data_len;
	sector_t __sector;
};

/* Before Linux 5.17 (f3fa33acca9f) the disk stood in the request. */
struct request___before_5_17 {
	struct gendisk *rq_disk;
};

#endif
