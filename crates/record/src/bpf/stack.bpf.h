/* Stacks as records: the addresses themselves, so that none is lost to a full or colliding table of stacks. */
#ifndef WHYSLOW_STACK_H
#define WHYSLOW_STACK_H
#include "common.bpf.h"

/* PERF_MAX_STACK_DEPTH (include/uapi/linux/perf_event.h): the kernel walks no further */
#define STACK_BYTES (127 * 8)
enum {
	STACK_USER_CUT = 1,
	STACK_KERNEL_CUT = 2,
	STACK_UNFINISHED = 4, /* a wait that lasts still */
	STACK_BEFORE = 8, /* the user part of a wait was told as it began; else it comes when the call returns */
};

struct stack_record {
	struct record head;
	u32 pid;
	u16 kernel_bytes; /* of addresses, innermost first */
	u16 user_bytes; /* behind them */
	u64 weight; /* ns that it stands for; of the user part of a wait its site */
	u64 frames[256];
};
#define STACK_FIXED (sizeof(struct stack_record) - 256 * sizeof(u64))

/* Adds up to two parts; a part that cannot be read is none. */
static __always_inline u32 stack_part(long bytes)
{
	return bytes < 0 ? 0 : bytes & 1023;
}

/* Writes what is in `room`, made on a CPU where nobody else uses it. */
static __always_inline void write_stack(struct stack_record *room, u32 kind, u32 flags, struct task_struct *task,
					u64 weight, u32 kernel, u32 user, u64 now)
{
	u32 length = STACK_FIXED + kernel + user;

	if (kernel == STACK_BYTES)
		flags |= STACK_KERNEL_CUT;
	if (user == STACK_BYTES)
		flags |= STACK_USER_CUT;
	begin_record(&room->head, length, kind, flags, task->pid, now);
	room->pid = task->tgid;
	room->kernel_bytes = kernel;
	room->user_bytes = user;
	room->weight = weight;
	if (length > sizeof(*room))
		return;
	rare_count(kind, bpf_ringbuf_output(&rare_ring, room, length, BPF_RB_NO_WAKEUP) != 0, now);
}
#endif
