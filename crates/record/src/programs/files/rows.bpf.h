/* The rows of what threads do with files: a table a CPU, without locks. A row that has to make place for another is written
 * into the ring; where that is full it stays, and the call that found no place is counted as lost. */
#ifndef WHYSLOW_FILES_ROWS_H
#define WHYSLOW_FILES_ROWS_H
#include "service.bpf.h"

#define FILE_ROWS_LOG 12
#define FILE_ROWS (1 << FILE_ROWS_LOG)

enum { FILE_READ = 0, FILE_WRITE = 1, FILE_SYNC = 2, FILE_OPEN = 3 };

struct file_row {
	struct file_name file; /* zeros, but for its kind, of pipes and of sockets without a service: these are added up */
	u32 tid;
	u32 operation;
	u32 pid;
	u32 untimed; /* of these calls, those whose entry was not seen */
	u64 calls; /* 0 where the row is free */
	u64 errors;
	u64 bytes;
	u64 total; /* ns */
	u64 longest;
	u64 first; /* when the first and the last returned */
	u64 last;
	u64 size; /* of the file, as its row began; 0 where it has none */
	u64 in_order; /* calls that began where the one before ended */
	u64 next; /* where the last one ended */
};

struct file_rows {
	struct file_row row[FILE_ROWS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_rows);
} file_rows SEC(".maps");

struct file_record {
	struct record head;
	struct file_row row;
};
TELL_TYPE(struct file_record, file_record);

/* A call on its way to a row. */
struct file_call {
	s64 ret;
	u64 entered; /* 0 where not seen */
	u64 now;
	s64 at; /* in the file; AT_DESCRIPTOR where the descriptor stands */
};
#define AT_DESCRIPTOR (-1)

static __always_inline bool is_kept(u32 mode)
{
	return mode == S_IFREG || mode == S_IFBLK || mode == S_IFCHR || mode == S_IFDIR;
}

/* Which file that is, or which service; pipes and what has no kind are none. */
static __always_inline void name_file(struct file_name *name, struct file *file)
{
	u32 mode;

	if (bpf_ksym_exists(bpf_rdonly_cast)) {
		struct file *typed = bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file));
		struct inode *inode = typed->f_inode;

		mode = inode->i_mode & S_IFMT;
		if (is_kept(mode)) {
			name->id.inode = inode->i_ino;
			name->id.device = inode->i_sb->s_dev;
			name->id.generation = inode->i_generation;
			name->hash = typed->f_path.dentry->d_name.hash;
		} else if (mode == S_IFSOCK) {
			name_service(name, typed);
		}
	} else {
		struct inode *inode = BPF_CORE_READ(file, f_inode);

		mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
		if (is_kept(mode)) {
			identify(&name->id, inode);
			name->hash = BPF_CORE_READ(file, f_path.dentry, d_name.hash);
		}
	}
	name->kind = mode >> 12;
}

static __always_inline u32 place_of(struct file_name *name, u32 tid, u32 operation)
{
	/* Odd numbers without a pattern: that of Knuth's multiplicative hash, and primes of xxHash. */
	u64 hash = name->id.inode * 0x9e3779b97f4a7c15ull;

	hash ^= ((u64)name->id.generation << 32 | name->hash) * 0xc2b2ae3d27d4eb4full;
	hash ^= ((u64)tid << 8 | name->side << 6 | operation << 4 | name->kind) * 0x165667b19e3779f9ull;
	hash *= 0x9e3779b97f4a7c15ull;
	return hash >> (64 - FILE_ROWS_LOG);
}

static __always_inline bool is_row_of(struct file_row *row, struct file_name *name, u32 tid, u32 operation)
{
	return row->calls && row->tid == tid && row->operation == operation && row->file.id.inode == name->id.inode &&
	       row->file.id.device == name->id.device && row->file.id.generation == name->id.generation &&
	       row->file.hash == name->hash && row->file.kind == name->kind && row->file.side == name->side;
}

/* Writes a row out that makes place for another; false where there is no room. */
static __always_inline bool evict_row(struct file_row *row, u64 now)
{
	struct file_record *record = bpf_ringbuf_reserve(&rare_ring, sizeof(*record), 0);

	if (!record)
		return false;
	begin_record(&record->head, sizeof(*record), RECORD_FILE, 0, row->tid, now);
	__builtin_memcpy(&record->row, row, sizeof(*row));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return true;
}

/* Whether a call went on where the one before ended. */
static __always_inline void in_order(struct file_row *row, struct file_call *call, struct file *file)
{
	u64 from = call->at;

	if (call->at == AT_DESCRIPTOR)
		from = BPF_CORE_READ(file, f_pos) - call->ret;
	if (from == row->next)
		row->in_order++;
	row->next = from + call->ret;
}

/* Adds a call on a descriptor of the running thread to its row. Returns 0, so that the programs may end with it. */
static __noinline int add_call(struct file_call *call, u32 fd, u32 operation)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file = file_of(fd);
	struct file_name name = {};
	u32 cpu = bpf_get_smp_processor_id(), tid = task->pid;
	struct file_rows *rows = bpf_map_lookup_elem(&file_rows, &cpu);
	struct file_row *row;

	if (!rows)
		return 0;
	/* Closed by another thread meanwhile, or never there: a file of no kind. */
	if (file)
		name_file(&name, file);
	row = &rows->row[place_of(&name, tid, operation) & (FILE_ROWS - 1)];
	if (!is_row_of(row, &name, tid, operation)) {
		if (row->calls && !evict_row(row, call->now)) {
			rare_count(RECORD_FILE, true, call->now);
			return 0;
		}
		__builtin_memset(row, 0, sizeof(*row));
		if (name.side)
			tell_socket_path(&name, (u64)file, call->now);
		else if (name.id.inode)
			tell_path(&name, (u64)file, call->now);
		row->file = name;
		row->tid = tid;
		row->operation = operation;
		row->pid = task->tgid;
		row->first = call->now;
		row->next = ~0ull;
		if (name.kind == S_IFREG >> 12)
			row->size = BPF_CORE_READ(file, f_inode, i_size);
	}
	rare_count(RECORD_FILE, false, call->now);
	row->calls++;
	row->last = call->now;
	if (call->ret < 0) {
		row->errors++;
	} else if (operation <= FILE_WRITE) {
		row->bytes += call->ret;
		if (name.kind == S_IFREG >> 12)
			in_order(row, call, file);
	}
	if (call->entered) {
		u64 took = elapsed(call->entered, call->now);

		row->total += took;
		if (took > row->longest)
			row->longest = took;
	} else {
		row->untimed++;
	}
	return 0;
}
#endif
