/* Stacks of long waits. Most waits are short, and at its beginning none is known to be long; so the kernel's part is taken
 * from outside when the thread comes back, and the user's part, which cannot change meanwhile, when the call that waited
 * returns (calls.bpf.c). Only who waits outside a call (a page fault) has its user part taken at once. */
#ifndef WHYSLOW_WAITS_H
#define WHYSLOW_WAITS_H
#include "../../bpf/budget.bpf.h"
#include "../../bpf/stack.bpf.h"

/* How many are taken a second is a matter of the budget (struct control). The rest is counted as refused; a stretch tells
 * the length of such a wait all the same. */

#define USER_FRAMES 64

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} wait_room SEC(".maps");

struct wait_budgets {
	struct budget waits;
	struct budget users;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_budgets);
} wait_budgets SEC(".maps");

static __always_inline bool is_wait(u32 left_as)
{
	return left_as == LEFT_SLEEPING || left_as == LEFT_UNINTERRUPTIBLE;
}

/* How long a wait was: the power of two of its milliseconds. */
static __always_inline u32 magnitude_of(u64 waited)
{
	u32 magnitude = 0;

	for (u32 power = 1; power < 24; power++)
		if (waited >> (20 + power))
			magnitude = power;
	return magnitude;
}

/* A thread comes back from a wait. */
static __always_inline void wait_over(struct task_struct *task, struct task_state *state, u64 now)
{
	u32 zero = 0, flags = state->wait_stack == WAIT_STACK_TOLD ? STACK_BEFORE : 0;
	struct wait_budgets *budgets = bpf_map_lookup_elem(&wait_budgets, &zero);
	struct stack_record *room = bpf_map_lookup_elem(&wait_room, &zero);
	struct control *limits = control_now();
	u64 waited = elapsed(state->off_since, now);
	long bytes;

	if (!budgets || !room || !limits)
		return;
	if ((limits->wait_every > 1 && bpf_get_prandom_u32() % limits->wait_every) ||
	    !within_budget(&budgets->waits, limits->wait_stacks, now)) {
		rare_refused(RECORD_OFFCPU);
		return;
	}
	bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, 0);
	write_stack(room, RECORD_OFFCPU, flags, task, waited, stack_part(bytes), 0, now);
	state->wait_stack = flags ? WAIT_STACK_NONE : WAIT_STACK_WANTED | magnitude_of(waited) << WAIT_MAGNITUDE;
	rare_spent(RECORD_OFFCPU, now, 1);
}

/* A thread begins to wait outside a call that we saw it enter: it is the current one. */
static __always_inline void tell_user_stack(struct task_struct *task, struct task_state *state, u64 now)
{
	u32 zero = 0;
	struct wait_budgets *budgets = bpf_map_lookup_elem(&wait_budgets, &zero);
	struct stack_record *room = bpf_map_lookup_elem(&wait_room, &zero);
	struct control *limits = control_now();
	long bytes;

	/* Whether this will be a long wait is not known yet: half as many, so that long ones have their part. */
	if (!budgets || !room || !limits || !within_budget(&budgets->users, limits->wait_stacks / 2, now))
		return;
	bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, BPF_F_USER_STACK);
	write_stack(room, RECORD_WAIT_STACK, STACK_BEFORE, task, 0, 0, stack_part(bytes), now);
	state->wait_stack = WAIT_STACK_TOLD;
	rare_spent(RECORD_WAIT_STACK, now, 1);
}

/* Whose wait is over only after the recording; used by one walk over the threads, at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} left_room SEC(".maps");

/* Up the frame pointers of another thread, as the kernel does it for the current one. */
static __always_inline u32 user_stack_of(struct task_struct *task, u64 *frames)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct { u64 next, from; } frame = { .next = regs->bp };
	u32 count = 1;

	frames[0] = regs->ip;
	while (count < USER_FRAMES) {
		u64 here = frame.next;

		if (!here || here & 7 || bpf_copy_from_user_task(&frame, sizeof(frame), (void *)here, task, 0) ||
		    !frame.from)
			break;
		frames[count++] = frame.from;
		if (frame.next <= here)
			break;
	}
	return count * sizeof(u64);
}

static __always_inline int tell_left(struct task_struct *task, bool with_user)
{
	u32 zero = 0, flags = STACK_UNFINISHED, kernel, user = 0;
	struct task_state *state;
	struct stack_record *room;
	u64 since, now = bpf_ktime_get_ns();

	if (!task || !settings.wait_stacks)
		return 0;
	state = state_of(task);
	if (!state || !(task->__state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)))
		return 0;
	/* One that never ran was asleep already. */
	since = state->off_since ? state->off_since : state->watched;
	room = bpf_map_lookup_elem(&left_room, &zero);
	if (now - since < settings.long_off || !room)
		return 0;
	kernel = stack_part(bpf_get_task_stack(task, room->frames, STACK_BYTES, 0));
	if (with_user && task->mm)
		user = user_stack_of(task, room->frames + kernel / sizeof(u64));
	else if (state->wait_stack == WAIT_STACK_TOLD)
		flags |= STACK_BEFORE;
	write_stack(room, RECORD_OFFCPU, flags, task, now - since, kernel, user, now);
	return 0;
}

SEC("iter.s/task")
int waits_left(struct bpf_iter__task *ctx)
{
	return tell_left(ctx->task, true);
}

/* Where a program may not sleep and so not read another thread's memory (before Linux 5.18). */
SEC("iter/task")
int waits_left_kernel(struct bpf_iter__task *ctx)
{
	return tell_left(ctx->task, false);
}
#endif
