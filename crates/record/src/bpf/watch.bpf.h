/* How a thread comes to be watched, and ceases to be. */
#ifndef WHYSLOW_WATCH_H
#define WHYSLOW_WATCH_H
#include "common.bpf.h"

/* Where the search for a free slot goes on. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} next_slot SEC(".maps");

/* Slots looked at for a free one. They are given out in turn, so that one that is taken has been so for a whole lap. */
#define SLOT_TRIES 128

/* A free slot, taken for this thread; NULL where there is none. */
static __always_inline struct task_state *take_slot(struct task_struct *task, u32 *taken)
{
	u32 zero = 0;
	u32 *next = bpf_map_lookup_elem(&next_slot, &zero);

	if (!next)
		return NULL;
	for (u32 i = 0; i < SLOT_TRIES; i++) {
		u32 slot = 1 + __sync_fetch_and_add(next, 1) % (settings.slots - 1);
		struct task_state *state = bpf_map_lookup_elem(&states, &slot);

		if (state && !__sync_val_compare_and_swap(&state->task, 0, (u64)task)) {
			*taken = slot;
			return state;
		}
	}
	return NULL;
}

#define PF_EXITING 4 /* include/linux/sched.h */

/* It makes no more system calls; its stack may be another's next. */
static __always_inline void leave_seat(struct task_state *state)
{
	u64 key = __sync_lock_test_and_set(&state->regs, 0);
	struct seat *seat = seat_of(key);

	if (key && seat)
		__sync_fetch_and_add(&seat->watched, -1);
}

static __always_inline void take_seat(struct task_state *state, struct task_struct *task)
{
	u64 key = regs_key((void *)bpf_task_pt_regs(task));
	struct seat *seat = seat_of(key);

	if (!key || !seat)
		return;
	state->regs = key;
	seat->slot = state->slot;
	__sync_fetch_and_add(&seat->watched, 1);
	/* One whose end was told before would stay. */
	if (task->flags & PF_EXITING)
		leave_seat(state);
}

/* A slot that is no thread's any more; nothing happens where it is free already. */
static __always_inline void give_back(struct task_state *state)
{
	leave_seat(state);
	state->task = 0;
}

/* Watches a thread from now on; NULL where it is watched already, or where there is no room. */
static __noinline struct task_state *watch(struct task_struct *task)
{
	u32 *entry = slot_of(task->pid), slot = 0, before;
	struct task_state *state, *others;

	if (!entry || !task->pid)
		return NULL;
	state = take_slot(task, &slot);
	if (!state)
		return NULL;
	state->regs = 0;
	state->tid = task->pid;
	state->slot = slot;
	state->enter = 0;
	state->file_enter = 0;
	state->off_since = 0;
	state->woken = 0;
	state->on_since = 0;
	state->left_as = 0;
	state->stopped = 0;
	state->wait_stack = WAIT_STACK_NONE;
	__builtin_memset(state->futex, 0, sizeof(state->futex));
	state->watched = bpf_ktime_get_ns();
	state->minor_faults = task->min_flt;
	state->major_faults = task->maj_flt;
	state->voluntary_switches = task->nvcsw;
	state->involuntary_switches = task->nivcsw;
	before = __sync_val_compare_and_swap(entry, 0, slot);
	if (!before) {
		take_seat(state, task);
		return state;
	}
	others = bpf_map_lookup_elem(&states, &before);
	if (others && others->task == (u64)task) {
		/* Somebody on another CPU was faster. */
		state->task = 0;
		return NULL;
	}
	/* The id was another's, which the kernel has not freed yet. */
	*entry = slot;
	if (others)
		give_back(others);
	take_seat(state, task);
	return state;
}

/* Watches a thread no longer. Whose id is another's is left to task_exec. */
static __always_inline void forget(struct task_struct *task)
{
	struct task_state *state = state_of(task);
	u32 *entry = slot_of(task->pid);

	if (!state || !entry || *entry != state->slot)
		return;
	*entry = 0;
	give_back(state);
}
#endif
