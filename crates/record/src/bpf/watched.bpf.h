/* Who is watched: a table with a slot for each thread id, and a table of what is known of each watched thread. Whether a
 * thread is watched is told by one look into the first, which is all that the threads of others pay. */
#ifndef WHYSLOW_WATCHED_H
#define WHYSLOW_WATCHED_H
#include "common.bpf.h"

/* What is known of a watched thread: two cache lines, what each call needs in the first. */
struct task_state {
	u64 task; /* the kernel's own description of it, by address; 0 where the slot is free */
	u64 enter; /* when it entered the call it is in; 0 outside */
	u64 off_since; /* when it left the CPU; 0 while it is on one or where not seen */
	u64 woken; /* when it was woken since; 0 where it was not */
	u64 on_since; /* when it got the CPU; 0 where not seen */
	u32 left_as; /* how it left the CPU last */
	u32 wait_stack; /* what becomes of the user stack of its long waits: WAIT_STACK_… */
	char futex[FUTEX_WORDS]; /* what stood at the address that it waits at; glibc's mutex has its owner 8 bytes behind */
	u64 watched; /* since when */
	/* The kernel's own counters of the thread then (struct task_struct). */
	u64 minor_faults;
	u64 major_faults;
	u64 voluntary_switches;
	u64 involuntary_switches;
	u64 unused[3];
};

/* Wanted: a long wait of the call that it is in was recorded; told: as the wait began. */
enum { WAIT_STACK_NONE = 0, WAIT_STACK_WANTED = 1, WAIT_STACK_TOLD = 2 };

/* By thread id (that of the first namespace of pids): the thread's slot, 0 where it is not watched. One value of
 * `settings.tids` numbers, sized before loading, so that each is found without a call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
} slots SEC(".maps");

/* By slot. As many as threads can be watched at a time; the first is nobody's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct task_state);
} states SEC(".maps");

static __always_inline u32 *slot_of(u32 tid)
{
	u32 zero = 0;
	u32 *all = bpf_map_lookup_elem(&slots, &zero);

	return all && tid < settings.tids ? all + tid : NULL;
}

/* The state in that slot, if it is this thread's. */
static __always_inline struct task_state *state_in(u32 slot, struct task_struct *task)
{
	struct task_state *state = bpf_map_lookup_elem(&states, &slot);

	return slot && state && state->task == (u64)task ? state : NULL;
}

/* The slot under this thread's id is another's. A thread that runs exec and is not the first of its process swaps ids
 * with that one (exchange_tids() in kernel/pid.c): its slot then stands under the other's id until it is put right here. */
static __noinline struct task_state *state_of_swapped(struct task_struct *task, u32 slot)
{
	struct task_state *others = bpf_map_lookup_elem(&states, &slot), *state;
	u32 *here = slot_of(task->pid), *there, own;
	struct task_struct *other;

	if (!others || !here)
		return NULL;
	other = (void *)others->task;
	if (!other)
		return NULL;
	there = slot_of(BPF_CORE_READ(other, pid));
	if (!there)
		return NULL;
	own = *there;
	state = state_in(own, task);
	if (state) {
		*here = own;
		*there = slot;
	}
	return state;
}

/* What is known of a thread; NULL where it is not watched. */
static __always_inline struct task_state *state_of(struct task_struct *task)
{
	u32 *slot = slot_of(task->pid), own;
	struct task_state *state;

	if (!slot)
		return NULL;
	own = *slot;
	if (!own)
		return NULL;
	state = state_in(own, task);
	return state ? state : state_of_swapped(task, own);
}

static __always_inline bool is_ours(struct task_struct *task)
{
	return task->tgid == settings.own_pid;
}
#endif
