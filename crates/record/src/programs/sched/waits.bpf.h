/* Stacks of long waits. Most waits are short, and at its beginning none is known to be long; so the kernel's part is taken
 * from outside when the thread comes back, and the user's part, which cannot change meanwhile, when the call that waited
 * returns (calls.bpf.c). Only who waits outside a call (a page fault) has its user part taken at once. */
#ifndef WHYSLOW_WAITS_H
#define WHYSLOW_WAITS_H
#include "../../bpf/budget.bpf.h"
#include "../../bpf/stack.bpf.h"

/* A second and CPU. The rest of the waits is counted as lost; a stretch tells their length all the same. */
#define WAITS_LIMIT 2000
#define USER_LIMIT 500

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

/* A thread comes back from a wait. */
static __always_inline void wait_over(struct task_struct *task, struct task_state *state, u64 now)
{
	u32 zero = 0, flags = state->wait_stack == WAIT_STACK_TOLD ? STACK_BEFORE : 0;
	struct wait_budgets *budgets = bpf_map_lookup_elem(&wait_budgets, &zero);
	struct stack_record *room = bpf_map_lookup_elem(&wait_room, &zero);
	long bytes;

	if (!budgets || !room)
		return;
	if (!within_budget(&budgets->waits, WAITS_LIMIT, now)) {
		rare_count(RECORD_OFFCPU, true, now);
		return;
	}
	bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, 0);
	write_stack(room, RECORD_OFFCPU, flags, task, now - state->off_since, stack_part(bytes), 0, now);
	state->wait_stack = flags ? 0 : WAIT_STACK_WANTED;
}

/* A thread begins to wait outside a call that we saw it enter: it is the current one. */
static __always_inline void tell_user_stack(struct task_struct *task, struct task_state *state, u64 now)
{
	u32 zero = 0;
	struct wait_budgets *budgets = bpf_map_lookup_elem(&wait_budgets, &zero);
	struct stack_record *room = bpf_map_lookup_elem(&wait_room, &zero);
	long bytes;

	if (!budgets || !room || !within_budget(&budgets->users, USER_LIMIT, now))
		return;
	bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, BPF_F_USER_STACK);
	write_stack(room, RECORD_WAIT_STACK, STACK_BEFORE, task, 0, 0, stack_part(bytes), now);
	state->wait_stack = WAIT_STACK_TOLD;
}

/* Run at the end: who waits still. */
SEC("iter/task")
int waits_left(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_state *state;
	u64 now = bpf_ktime_get_ns();

	if (!task || !settings.wait_stacks)
		return 0;
	state = state_of(task);
	if (state && state->off_since && !state->on_since && is_wait(state->left_as) &&
	    now - state->off_since >= settings.long_off) {
		u32 zero = 0, flags = state->wait_stack == WAIT_STACK_TOLD ? STACK_BEFORE : 0;
		struct stack_record *room = bpf_map_lookup_elem(&wait_room, &zero);
		long bytes;

		if (!room)
			return 0;
		bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, 0);
		write_stack(room, RECORD_OFFCPU, flags | STACK_UNFINISHED, task, now - state->off_since,
			    stack_part(bytes), 0, now);
	}
	return 0;
}
#endif
