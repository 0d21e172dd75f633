/* Frames of languages that lie in memory of the runtime's own, as a list or an array: copied by the thread itself as its wait ends, or as it
 * is sampled, since they are others as soon as it goes on. Where a thread's frames are, the recorder finds out and tells. */
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
	int step; /* of frames in an array: bytes from one to its caller's, which is found so; else 0 */
	u32 index; /* with `through`: where the index of the innermost frame is, and the pointer is to the array; else 0 */
	int beside; /* bytes from `head` to a word that is copied as well; 0: none */
	u32 words; /* of a frame: a bit for each word that tells its function and instruction */
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
	u64 holder; /* what has the pointer to the innermost frame; 0 without `through` */
	u64 first; /* where the innermost frame is */
	u64 beside; /* the word there */
	u32 pid;
	u32 count;
	char frames[LISTED_FRAMES][LISTED_BYTES]; /* innermost first */
};
TELL_TYPE(struct frames_copy, frames_copy);
#define FRAMES_FIXED (sizeof(struct frames_copy) - LISTED_FRAMES * LISTED_BYTES)

/* Maps of one name are shared, and a sample may interrupt who uses the calls' room. */
#ifndef FRAMES_ROOM
#define FRAMES_ROOM frames_room
#endif
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct frames_copy);
} FRAMES_ROOM SEC(".maps");

/* Frames that tell a site: the innermost one may be of a function of the runtime's own. */
#define TELLING_FRAMES 2

/* Where the innermost frame is, what has the pointer to it, and how many frames there are at least; 0 where that cannot be read. */
static __always_inline u64 innermost_frame(struct frame_list *list, u64 *holder, u32 *most)
{
	u64 at = 0;
	int last = 0;

	*holder = 0;
	*most = ~0u;
	if (bpf_probe_read_user(&at, sizeof(at), (void *)list->head))
		return 0;
	if (!list->through)
		return at;
	*holder = at;
	if (!at || bpf_probe_read_user(&at, sizeof(at), (void *)(*holder + list->at)))
		return 0;
	if (list->index) {
		if (bpf_probe_read_user(&last, sizeof(last), (void *)(*holder + list->index)))
			return 0;
		*most = last < 0 ? 0 : last + 1;
		at -= (long)last * list->step;
	}
	return at;
}

static __always_inline u64 word_beside(struct frame_list *list)
{
	u64 word = 0;

	if (list->beside)
		bpf_probe_read_user(&word, sizeof(word), (void *)(list->head + (long)list->beside));
	return word;
}

/* Where the caller's frame of one is; 0 where there is none. */
static __always_inline u64 caller_frame(struct frame_list *list, u64 at)
{
	if (list->step)
		return at + (long)list->step;
	if (bpf_probe_read_user(&at, sizeof(at), (void *)(at + list->next)))
		return 0;
	return at;
}

/* A number of what the innermost frames of the thread hold: in which functions, at which instructions. Global, for the verifier to look at
 * it once; and without a branch for each word, of which it would follow both. */
__noinline u64 listed_site(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tid = task->pid, zero = 0, bytes, most, words;
	struct frame_list *list = bpf_map_lookup_elem(&frame_lists, &tid);
	struct frames_copy *room = bpf_map_lookup_elem(&FRAMES_ROOM, &zero);
	u64 at, holder, hash;

	if (!list || !room)
		return 0;
	at = innermost_frame(list, &holder, &most);
	hash = word_beside(list);
	words = list->words;
	for (u32 frame = 0; frame < TELLING_FRAMES; frame++) {
		bytes = list->bytes;
		/* Older kernels (6.1) forget the bounds of what was on the stack meanwhile. */
		asm volatile("" : "+r"(bytes));
		if (frame >= most || bytes > LISTED_BYTES || !at || at & 7 || bpf_probe_read_user(room->frames[0], bytes, (void *)at))
			break;
		/* Unrolled it would take more of the stack than Linux 6.1 has left for three calls. */
#pragma clang loop unroll(disable)
		for (u32 nth = 0; nth < LISTED_BYTES / sizeof(u64); nth++)
			hash = (hash ^ (((u64 *)room->frames[0])[nth] & -(u64)(words >> nth & 1))) * 0x100000001b3ull;
		at = caller_frame(list, at);
	}
	return hash;
}

/* Copies the frames of the thread. */
__noinline int copy_frames(u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tid = task->pid, zero = 0, count = 0, bytes, length, most, flags = 0;
	struct frame_list *list = bpf_map_lookup_elem(&frame_lists, &tid);
	struct frames_copy *room = bpf_map_lookup_elem(&FRAMES_ROOM, &zero);
	u64 at, holder;

	if (!list || !room)
		return 0;
	bytes = list->bytes;
	if (bytes > LISTED_BYTES)
		return 0;
	at = innermost_frame(list, &holder, &most);
	room->holder = holder;
	room->first = at;
	room->beside = word_beside(list);
	if (most <= LISTED_FRAMES)
		flags = COPY_WHOLE;
	for (u32 nth = 0; nth < LISTED_FRAMES; nth++) {
		if (nth >= most)
			break;
		if (!at || at & 7 || bpf_probe_read_user(room->frames[nth], bytes, (void *)at)) {
			flags = 0;
			break;
		}
		count = nth + 1;
		at = caller_frame(list, at);
		if (!at) {
			flags = COPY_WHOLE;
			break;
		}
	}
	if (!count && !room->beside)
		return 0;
	length = FRAMES_FIXED + count * LISTED_BYTES;
	begin_record(&room->head, length, RECORD_FRAMES_COPY, flags, tid, now);
	room->list = list->head;
	room->pid = task->tgid;
	room->count = count;
	if (length > sizeof(*room))
		return 0;
	rare_count(RECORD_FRAMES_COPY, bpf_ringbuf_output(&rare_ring, room, length, BPF_RB_NO_WAKEUP) != 0, now);
	return 0;
}
#endif
