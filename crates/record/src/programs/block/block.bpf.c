/* Requests to block devices, from the driver's getting them to their completion. Of everybody: one's neighbours keep the
 * disk busy too, and what the kernel writes back for a program is issued by a thread of the kernel. */
#include "../../bpf/budget.bpf.h"
#include "../../bpf/inode.bpf.h"

/* Requests of others a second and CPU; of the watched threads all are kept. */
#define OTHERS_LIMIT 20000
#define OP_MASK 0xff /* REQ_OP_MASK (include/linux/blk_types.h) */

enum { BLOCK_WATCHED = 1, BLOCK_UNFINISHED = 2, BLOCK_SYNC = 4, BLOCK_FUA = 8, BLOCK_META = 16, BLOCK_AHEAD = 32 };

struct block_record {
	struct record head; /* ts: when it was completed, or the end of the recording; tid: whose request */
	u64 queued; /* 0: not seen */
	u64 issued;
	u64 sector;
	u32 bytes;
	u32 major;
	u32 minor;
	u32 op;
	u32 pid;
	u32 pad;
	struct inode_id file; /* whose pages it carries; zeros where that is no file's */
};
TELL_TYPE(struct block_record, block_record);

struct pending {
	u64 queued; /* 0: issued at once, or before we looked */
	u64 issued; /* 0: queued so far */
	u64 sector;
	u32 bytes;
	u32 done; /* bytes completed, where it is completed in parts */
	u32 major;
	u32 minor;
	u32 op;
	u32 flags;
	u32 pid;
	u32 tid;
	struct inode_id file;
};

/* By the request's address: as many as the devices have room for. An address is used again only after completion. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct pending);
} pending_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct budget);
} others_budget SEC(".maps");

static __always_inline bool too_many_others(u64 now)
{
	u32 zero = 0;
	struct budget *budget = bpf_map_lookup_elem(&others_budget, &zero);

	return !budget || !within_budget(budget, OTHERS_LIMIT, now);
}

static __always_inline void tell(struct pending *request, u32 flags, u64 now)
{
	struct block_record *record;

	flags |= request->flags;
	if (!(flags & BLOCK_WATCHED) && too_many_others(now)) {
		rare_refused(RECORD_BLOCK);
		return;
	}
	record = rare_reserve(sizeof(*record), RECORD_BLOCK, now);
	if (!record)
		return;
	begin_record(&record->head, sizeof(*record), RECORD_BLOCK, flags, request->tid, now);
	record->queued = request->queued;
	record->issued = request->issued;
	record->sector = request->sector;
	record->bytes = request->bytes;
	record->major = request->major;
	record->minor = request->minor;
	record->op = request->op;
	record->pid = request->pid;
	record->pad = 0;
	record->file = request->file;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void from_here(struct pending *request)
{
	struct task_struct *task = bpf_get_current_task_btf();

	request->pid = task->tgid;
	request->tid = task->pid;
	if (state_of(task))
		request->flags = BLOCK_WATCHED;
}

/* Here the thread that wants it still runs; who issues it may be another one, for many. */
static __always_inline int on_queued(u64 key)
{
	u64 now = bpf_ktime_get_ns();
	struct pending request = { .queued = now };

	if (!is_on(PART_BLOCK))
		return 0;
	from_here(&request);
	/* Where there is no room, it is counted as lost when it is issued, if then there is none either. */
	bpf_map_update_elem(&pending_requests, &key, &request, BPF_ANY);
	rare_spent(RECORD_BLOCK, now, 1);
	return 0;
}

SEC("tp_btf/block_io_start")
int block_queued(u64 *ctx)
{
	return on_queued(ctx[0]);
}

/* Before Linux 6.5; not called for what is handed to the device at once, but that is issued by who wants it. */
SEC("tp_btf/block_rq_insert")
int block_inserted(u64 *ctx)
{
	return on_queued(ctx[0]);
}

static __always_inline struct gendisk *disk_of(struct request *rq)
{
	if (bpf_core_field_exists(rq->q->disk))
		return rq->q->disk;
	return BPF_CORE_READ((struct request___before_5_17 *)rq, rq_disk);
}

#define OP_WRITE 1 /* REQ_OP_WRITE; reads are 0 (include/linux/blk_types.h) */
/* In the pointer to a page's mapping: PAGE_MAPPING_ANON and PAGE_MAPPING_MOVABLE (include/linux/page-flags.h). */
#define NO_FILE 3

/* The file whose pages the request carries, as its first page tells. Pages of a program's own memory (direct I/O) and of
 * the device itself (a file system's own data, its journal) belong to none. */
static __always_inline void find_file(struct inode_id *file, struct request *rq)
{
	struct page *page = BPF_CORE_READ(rq, bio, bi_io_vec, bv_page);
	struct inode *inode;
	u64 head, mapping;

	if (!page)
		return;
	/* Of several pages that are one, the others point to the first. */
	head = BPF_CORE_READ(page, compound_head);
	if (head & 1)
		page = (void *)(head - 1);
	mapping = (u64)BPF_CORE_READ(page, mapping);
	if (!mapping || mapping & NO_FILE)
		return;
	inode = BPF_CORE_READ((struct address_space *)mapping, host);
	if (inode && (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG)
		identify(file, inode);
}

static __always_inline void describe(struct pending *request, struct request *rq, u64 now)
{
	struct gendisk *disk = disk_of(rq);
	u32 bits = rq->cmd_flags;

	request->sector = rq->__sector;
	request->bytes = rq->__data_len;
	request->done = 0;
	request->op = bits & OP_MASK;
	request->flags &= BLOCK_WATCHED;
	if (bits >> bpf_core_enum_value(enum req_flag_bits, __REQ_SYNC) & 1)
		request->flags |= BLOCK_SYNC;
	if (bits >> bpf_core_enum_value(enum req_flag_bits, __REQ_FUA) & 1)
		request->flags |= BLOCK_FUA;
	if (bits >> bpf_core_enum_value(enum req_flag_bits, __REQ_META) & 1)
		request->flags |= BLOCK_META;
	if (bits >> bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD) & 1)
		request->flags |= BLOCK_AHEAD;
	if (disk) {
		request->major = BPF_CORE_READ(disk, major);
		request->minor = BPF_CORE_READ(disk, first_minor);
	}
	if (request->op <= OP_WRITE)
		find_file(&request->file, rq);
	request->issued = now;
}

SEC("tp_btf/block_rq_issue")
int block_issued(u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	u64 key = ctx[0], now = bpf_ktime_get_ns();
	struct pending fresh = {}, *request = bpf_map_lookup_elem(&pending_requests, &key);

	if (request) {
		describe(request, rq, now);
		rare_spent(RECORD_BLOCK, now, 1);
		return 0;
	}
	if (!is_on(PART_BLOCK)) {
		rare_refused(RECORD_BLOCK);
		return 0;
	}
	from_here(&fresh);
	describe(&fresh, rq, now);
	if (bpf_map_update_elem(&pending_requests, &key, &fresh, BPF_ANY))
		rare_count(RECORD_BLOCK, true, now);
	rare_spent(RECORD_BLOCK, now, 1);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int block_completed(u64 *ctx)
{
	u64 key = ctx[0];
	u32 error = ctx[1], bytes = ctx[2];
	struct pending *request = bpf_map_lookup_elem(&pending_requests, &key);
	u64 now;

	if (!request)
		return 0;
	request->done += bytes;
	if (!error && request->done < request->bytes)
		return 0;
	now = bpf_ktime_get_ns();
	if (request->issued)
		tell(request, 0, now);
	bpf_map_delete_elem(&pending_requests, &key);
	rare_spent(RECORD_BLOCK, now, 1);
	return 0;
}

static long left(void *map, u64 *key, struct pending *request, void *context)
{
	if (request->issued)
		tell(request, BLOCK_UNFINISHED, bpf_ktime_get_ns());
	return 0;
}

/* Run at the end: what the devices have not completed. */
SEC("iter/task")
int block_left(struct bpf_iter__task *ctx)
{
	if (ctx->meta->seq_num == 0)
		bpf_for_each_map_elem(&pending_requests, left, NULL, 0);
	return 0;
}
