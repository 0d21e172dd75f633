/* Copies of what unwinds a stack: registers, the top of the stack, and the frames that a runtime keeps in memory of its own. Many
 * programs keep no frame pointers, and languages have stacks of their own. */
#ifndef WHYSLOW_STACK_COPY_H
#define WHYSLOW_STACK_COPY_H
#include "stack.bpf.h"

/* Bytes of a stack that are copied: frames of a hundred functions, as a rule. */
#define COPY_BYTES 16384
#define COPY_PAGE 4096

enum {
	COPY_OF_WAIT = 1, /* of a wait that is over; else of a sample */
	COPY_WHOLE = 2, /* of frames: as far as the list goes */
};

struct stack_copy {
	struct record head;
	u32 pid;
	u32 bytes; /* of the stack, from its top */
	u64 ip;
	u64 sp;
	u64 bp;
	u64 leaf[4]; /* r9, r12, r13, r14: where interpreters are */
	char stack[COPY_BYTES];
};
TELL_TYPE(struct stack_copy, stack_copy);
#define COPY_FIXED (sizeof(struct stack_copy) - COPY_BYTES)

/* How much of the stack there is: near the end of a thread's less than a copy has room for, which is read by pages. */
static __always_inline u32 copy_top(char *to, u64 sp)
{
	u32 bytes = -(u32)sp & (COPY_PAGE - 1);

	if (!bpf_probe_read_user(to, COPY_BYTES, (void *)sp))
		return COPY_BYTES;
	if (bpf_probe_read_user(to, bytes, (void *)sp))
		return 0;
	for (u32 page = 0; page < COPY_BYTES / COPY_PAGE - 1; page++) {
		if (bpf_probe_read_user(to + bytes, COPY_PAGE, (void *)(sp + bytes)))
			break;
		bytes += COPY_PAGE;
	}
	return bytes;
}

/* Writes what is made in `room`, where nobody else is on this CPU. */
static __always_inline void copy_stack(struct stack_copy *room, struct task_struct *task, u32 flags, u64 now)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	u32 bytes, length;

	if (!room || !task->mm)
		return;
	room->ip = BPF_CORE_READ(regs, ip);
	room->sp = BPF_CORE_READ(regs, sp);
	room->bp = BPF_CORE_READ(regs, bp);
	room->leaf[0] = BPF_CORE_READ(regs, r9);
	room->leaf[1] = BPF_CORE_READ(regs, r12);
	room->leaf[2] = BPF_CORE_READ(regs, r13);
	room->leaf[3] = BPF_CORE_READ(regs, r14);
	bytes = copy_top(room->stack, room->sp);
	length = COPY_FIXED + bytes;
	begin_record(&room->head, length, RECORD_STACK_COPY, flags, task->pid, now);
	room->pid = task->tgid;
	room->bytes = bytes;
	if (length > sizeof(*room))
		return;
	rare_count(RECORD_STACK_COPY, bpf_ringbuf_output(&rare_ring, room, length, BPF_RB_NO_WAKEUP) != 0, now);
}
#endif
