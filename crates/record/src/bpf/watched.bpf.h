/* Who is watched: a table with a slot for each thread id, and a table of what is known of each watched thread. Whether a
 * thread is watched is told by one look into the first, which is all that the threads of others pay; by a system call not
 * even that (struct seat). */
#ifndef WHYSLOW_WATCHED_H
#define WHYSLOW_WATCHED_H
#include "common.bpf.h"

/* What is known of a watched thread: two cache lines, what each call needs in the first. */
struct task_state {
	u64 task; /* the kernel's own description of it, by address; 0 where the slot is free */
	u64 regs; /* where its system calls save the registers (regs_key); 0 where it makes no more */
	u64 enter; /* when it entered the call it is in; 0 outside */
	u64 off_since; /* when it left the CPU; 0 while it is on one or where not seen */
	u64 woken; /* when it was woken since; 0 where it was not */
	u64 on_since; /* when it got the CPU; 0 where not seen */
	u16 left_as; /* how it left the CPU last */
	u16 stopped; /* its group's quota was used up as it began to wait for a CPU */
	u32 wait_stack; /* what becomes of the user stack of its long waits: WAIT_STACK_… */
	u32 tid;
	u32 slot; /* its own */
	char futex[FUTEX_WORDS]; /* what stood at the address that it waits at; glibc's mutex has its owner 8 bytes behind */
	u64 watched; /* since when */
	/* The kernel's own counters of the thread then (struct task_struct). */
	u64 minor_faults;
	u64 major_faults;
	u64 voluntary_switches;
	u64 involuntary_switches;
	u64 file_enter; /* when it entered the call on a file that it is in; 0 outside */
};

/* Wanted: a long wait of the call that it is in was recorded, above it how long it was (WAIT_MAGNITUDE); told: as the wait began. */
enum { WAIT_STACK_NONE = 0, WAIT_STACK_WANTED = 1, WAIT_STACK_TOLD = 2, WAIT_STACK_WORD = 255 };
#define WAIT_MAGNITUDE 8

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

/* Registers are saved at the end of a thread's kernel stack, in each call at the same place, and where that is comes with
 * each call for nothing, while asking who is running costs as much as all the rest of the look. A seat says how many of the
 * watched threads hash to it: none, for nearly all others. A thread leaves its seat before its stack is another's. */
#define SEATS_LOG 16
struct seat {
	u32 watched;
	u32 slot; /* of one of these; its state says whether it is the one in question */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << SEATS_LOG);
	__type(key, u32);
	__type(value, struct seat);
} seats SEC(".maps");

/* A number for the place of the saved registers: its distance from the table, for the verifier lets an address be taken
 * from another one but not be reckoned with. 0 where there is no table. */
static __always_inline u64 regs_key(struct pt_regs *regs)
{
	u32 zero = 0;
	struct seat *table = bpf_map_lookup_elem(&seats, &zero);
	u64 key = (u64)regs;

	if (!table)
		return 0;
	asm volatile("%0 -= %1" : "+r"(key) : "r"(table));
	return key;
}

static __always_inline struct seat *seat_of(u64 key)
{
	/* The golden ratio of 64 bits (Knuth, The Art of Computer Programming 3, 6.4). */
	u32 row = key * 0x9e3779b97f4a7c15ull >> (64 - SEATS_LOG);

	return bpf_map_lookup_elem(&seats, &row);
}

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
 * with that one (exchange_tids() in kernel/pid.c), and until the new program is there (task_exec) the slot of each stands
 * under the other's id. */
static __noinline struct task_state *state_of_swapped(struct task_struct *task, u32 slot)
{
	struct task_state *others = bpf_map_lookup_elem(&states, &slot);
	struct task_struct *other;
	u32 *there;

	if (!others)
		return NULL;
	other = (void *)others->task;
	if (!other)
		return NULL;
	there = slot_of(BPF_CORE_READ(other, pid));
	return there ? state_in(*there, task) : NULL;
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

/* The same, of the running thread, as one of its system calls begins or ends. */
static __always_inline struct task_state *state_of_caller(struct pt_regs *regs)
{
	u64 key = regs_key(regs);
	struct seat *seat = seat_of(key);
	struct task_state *state;
	u32 slot;

	if (!seat || !seat->watched)
		return NULL;
	slot = seat->slot;
	state = bpf_map_lookup_elem(&states, &slot);
	if (state && state->regs == key)
		return state;
	/* Several share the seat, or it is one that is not watched. */
	return state_of(bpf_get_current_task_btf());
}

static __always_inline bool is_ours(struct task_struct *task)
{
	return task->tgid == settings.own_pid;
}
#endif
