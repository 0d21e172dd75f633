/* Frames of languages that lie in memory of the runtime's own, as a list: copied by the thread itself as its wait ends, since
 * the list is another one as soon as it goes on. Where a thread's list is, the recorder finds out and tells. */
#ifndef WHYSLOW_FRAME_LIST_H
#define WHYSLOW_FRAME_LIST_H
#include "stack_copy.bpf.h"

#define LISTED_FRAMES 32
#define LISTED_BYTES 120

struct frame_list {
	u64 head; /* where the pointer to the innermost frame is, or one to what has that */
	u32 through; /* 1: it is one to what has that pointer, `at` bytes behind its beginning */
	u32 at;
	u32 next; /* of a frame: where the pointer to its caller's is */
	u32 bytes; /* of a frame, LISTED_BYTES at most */
};
TELL_TYPE(struct frame_list, frame_list);

/* By thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct frame_list);
} frame_lists SEC(".maps");

struct frames_copy {
	struct record head; /* flags: COPY_WHOLE */
	u64 list; /* frame_list.head */
	u32 pid;
	u32 count;
	char frames[LISTED_FRAMES][LISTED_BYTES]; /* innermost first */
};
TELL_TYPE(struct frames_copy, frames_copy);
#define FRAMES_FIXED (sizeof(struct frames_copy) - LISTED_FRAMES * LISTED_BYTES)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct frames_copy);
} frames_room SEC(".maps");

/* A number of what the innermost frame of a thread's list holds: in which function, at which instruction. */
static __always_inline u64 innermost_frame(struct task_struct *task)
{
	u32 tid = task->pid, zero = 0, bytes;
	struct frame_list *list = bpf_map_lookup_elem(&frame_lists, &tid);
	struct frames_copy *room = bpf_map_lookup_elem(&frames_room, &zero);
	u64 at = 0, hash = 0;

	if (!list || !room)
		return 0;
	bytes = list->bytes;
	if (bytes > LISTED_BYTES || bpf_probe_read_user(&at, sizeof(at), (void *)list->head))
		return 0;
	if (list->through && (!at || bpf_probe_read_user(&at, sizeof(at), (void *)(at + list->at))))
		return 0;
	/* Older kernels (6.1) forget the bounds of what was on the stack meanwhile. */
	asm volatile("" : "+r"(bytes));
	if (bytes > LISTED_BYTES || !at || at & 7 || bpf_probe_read_user(room->frames[0], bytes, (void *)at))
		return 0;
	for (u32 nth = 0; nth < LISTED_BYTES / sizeof(u64); nth++)
		if ((nth + 1) * sizeof(u64) <= bytes)
			hash = (hash ^ ((u64 *)room->frames[0])[nth]) * 0x100000001b3ull;
	return hash;
}

static __always_inline void copy_frames(struct task_struct *task, u64 now)
{
	u32 tid = task->pid, zero = 0, count = 0, bytes, length, flags = 0;
	struct frame_list *list = bpf_map_lookup_elem(&frame_lists, &tid);
	struct frames_copy *room = bpf_map_lookup_elem(&frames_room, &zero);
	u64 at = 0;

	if (!list || !room)
		return;
	bytes = list->bytes;
	if (bytes > LISTED_BYTES || bpf_probe_read_user(&at, sizeof(at), (void *)list->head))
		return;
	if (list->through && (!at || bpf_probe_read_user(&at, sizeof(at), (void *)(at + list->at))))
		return;
	for (u32 nth = 0; nth < LISTED_FRAMES; nth++) {
		if (!at || at & 7 || bpf_probe_read_user(room->frames[nth], bytes, (void *)at))
			break;
		count = nth + 1;
		if (bpf_probe_read_user(&at, sizeof(at), (void *)(at + list->next)))
			break;
		if (!at)
			flags = COPY_WHOLE;
	}
	if (!count)
		return;
	length = FRAMES_FIXED + count * LISTED_BYTES;
	begin_record(&room->head, length, RECORD_FRAMES_COPY, flags, tid, now);
	room->list = list->head;
	room->pid = task->tgid;
	room->count = count;
	if (length > sizeof(*room))
		return;
	rare_count(RECORD_FRAMES_COPY, bpf_ringbuf_output(&rare_ring, room, length, BPF_RB_NO_WAKEUP) != 0, now);
}
#endif
