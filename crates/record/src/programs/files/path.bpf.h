/* The path of an open file as its process sees it: name by name from the file up to the root of the process. */
#ifndef WHYSLOW_FILES_PATH_H
#define WHYSLOW_FILES_PATH_H
#include "../../bpf/inode.bpf.h"

#define PATH_BYTES 1024 /* kept of a path, and one name more */
#define NAME_BYTES 256 /* NAME_MAX (include/uapi/linux/limits.h) and a NUL */
#define PATH_STEPS 64 /* names and mounts */
#define PATHS_KNOWN 16384

enum { PATH_CUT = 1, PATH_ROOTLESS = 2, PATH_SOCKET = 4 };

/* A file under one of its names, as processes with one root see it; or a service, by the address that it is reached at. */
struct file_name {
	union {
		struct inode_id id;
		u8 address[16];
	};
	union {
		u32 hash; /* of its last name: links are told apart, and files of one number where there are no generations */
		struct {
			u16 port;
			u16 family; /* 0 of a socket without a service */
		};
	};
	u32 kind; /* the type in its mode, shifted to the right */
	u32 root; /* of a socket: its protocol */
	u32 side; /* SIDE_CLIENT and SIDE_SERVER; 0 of all else */
};

struct path_record {
	struct record head;
	struct file_name file;
	char text[PATH_BYTES + NAME_BYTES + 8]; /* the last name first, a NUL behind each; filled up with NULs */
};
TELL_TYPE(struct path_record, path_record);

/* Paths that were told. One that had to make place is told again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PATHS_KNOWN);
	__type(key, struct file_name);
	__type(value, u32);
} paths_told SEC(".maps");

struct path_room {
	u32 length;
	struct path_record record;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct path_room);
} path_room SEC(".maps");

/* As d_path() (fs/d_path.c), into the room; returns the flags. The kernel's addresses are numbers here: all is read by
 * copying. */
static __always_inline u32 walk(struct path_room *room, struct dentry *dentry, struct vfsmount *mnt,
				struct dentry *root, struct vfsmount *root_mnt)
{
	for (u32 step = 0; step < PATH_STEPS; step++) {
		struct dentry *up;
		u32 length;
		long got;

		if (dentry == root && mnt == root_mnt)
			return 0;
		if (dentry == BPF_CORE_READ(mnt, mnt_root)) {
			u64 inside = bpf_core_field_offset(struct mount, mnt);
			struct mount *mount = (void *)mnt - inside, *parent = BPF_CORE_READ(mount, mnt_parent);

			if (parent == mount)
				return 0;
			dentry = BPF_CORE_READ(mount, mnt_mountpoint);
			mnt = (void *)parent + inside;
			continue;
		}
		up = BPF_CORE_READ(dentry, d_parent);
		/* Taken from memory, so that the verifier need not follow each step's. */
		length = *(volatile u32 *)&room->length;
		if (length >= PATH_BYTES)
			return PATH_CUT;
		got = bpf_probe_read_kernel_str(room->record.text + length, NAME_BYTES,
						BPF_CORE_READ(dentry, d_name.name));
		if (got < 2)
			return PATH_CUT;
		*(volatile u32 *)&room->length = length + got;
		/* What never had a directory: memory files, event descriptors. */
		if (up == dentry)
			return PATH_ROOTLESS;
		dentry = up;
	}
	return PATH_CUT;
}

/* Tells the path of an open file, by its address, once for each root. Global, so that the verifier looks at it once. */
__noinline int tell_path(struct file_name *name, u64 address, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file = (void *)address;
	struct dentry *root = BPF_CORE_READ(task, fs, root.dentry);
	struct vfsmount *root_mnt = BPF_CORE_READ(task, fs, root.mnt);
	struct path_room *room;
	/* A copy: until Linux 6.2 the verifier takes no key of a map from memory that another function gave. */
	struct file_name told;
	u32 zero = 0, length, flags;

	if (!name)
		return 0;
	name->root = ((u64)root * 31 + (u64)root_mnt) * 0x9e3779b97f4a7c15ull >> 32;
	told = *name;
	if (bpf_map_lookup_elem(&paths_told, &told))
		return 0;
	room = bpf_map_lookup_elem(&path_room, &zero);
	if (!room)
		return 0;
	room->length = 0;
	flags = walk(room, BPF_CORE_READ(file, f_path.dentry), BPF_CORE_READ(file, f_path.mnt), root, root_mnt);
	length = room->length;
	if (length >= PATH_BYTES + NAME_BYTES)
		return 0;
	__builtin_memset(room->record.text + length, 0, 8);
	length = (length + sizeof(struct path_record) - sizeof(room->record.text) + 7) & ~7u;
	begin_record(&room->record.head, length, RECORD_PATH, flags, task->pid, now);
	room->record.file = told;
	if (bpf_ringbuf_output(&rare_ring, &room->record, length, BPF_RB_NO_WAKEUP)) {
		rare_count(RECORD_PATH, true, now);
		return 0;
	}
	rare_count(RECORD_PATH, false, now);
	bpf_map_update_elem(&paths_told, &told, &zero, BPF_ANY);
	return 0;
}
#endif
