/* Stacks of calls, taken as they return: of those that waited long, since nothing of them has changed meanwhile, and of some short ones. */
#ifndef WHYSLOW_RETURNED_H
#define WHYSLOW_RETURNED_H
#include "../../bpf/budget.bpf.h"
#include "../../bpf/frame_list.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} returned_room SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} returned_copy SEC(".maps");

/* Copies of one site that are taken a second and CPU; of more waits there only their site is told. */
#define SITE_COPIES 50
/* Return addresses that make a site, as far as frame pointers lead. */
#define SITE_FRAMES 8

struct wait_site {
	u64 site;
	u64 pid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct wait_site);
	__type(value, struct budget);
} wait_sites SEC(".maps");

/* Where a thread has waited, for which call and how long about, as a number that is never 0. Waits of other lengths are told apart, so that
 * many short ones do not keep a long one from being copied. Where frame pointers lead nowhere, callers differ in how deep the stack is: by
 * the distance to what the C library keeps at the top of each thread's. */
static __always_inline u64 site_of(struct task_struct *task, u64 *frames, u32 bytes, u32 magnitude)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	u64 hash = BPF_CORE_READ(regs, orig_ax) << 8 | magnitude;

	hash = (hash ^ (BPF_CORE_READ(task, thread.fsbase) - BPF_CORE_READ(regs, sp))) * 0x100000001b3ull;
	hash = (hash ^ listed_site()) * 0x100000001b3ull;
	for (u32 nth = 0; nth < SITE_FRAMES; nth++) {
		if (nth * sizeof(u64) >= bytes)
			break;
		/* FNV-1a's prime, of 64 bits. */
		hash = (hash ^ frames[nth]) * 0x100000001b3ull;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

static __always_inline bool may_copy(u32 pid, u64 site, u64 now)
{
	struct wait_site key = { .site = site, .pid = pid };
	struct budget *budget = bpf_map_lookup_elem(&wait_sites, &key);
	struct budget first = { .since = now, .spent = 1 };

	if (budget)
		return within_budget(budget, SITE_COPIES, now);
	bpf_map_update_elem(&wait_sites, &key, &first, BPF_ANY);
	return true;
}

/* From where in the program the call was made that has just waited long (sched/waits.bpf.h). The record's weight is the site. */
static __noinline int tell_wait_stack(u32 magnitude, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 zero = 0, bytes;
	struct stack_record *room = bpf_map_lookup_elem(&returned_room, &zero);
	u64 site;

	if (!room)
		return 0;
	bytes = stack_part(bpf_get_task_stack(task, room->frames, STACK_BYTES, BPF_F_USER_STACK));
	site = site_of(task, room->frames, bytes, magnitude);
	if (settings.stack_copies) {
		if (may_copy(task->tgid, site, now)) {
			copy_frames(now);
			copy_stack(bpf_map_lookup_elem(&returned_copy, &zero), task, COPY_OF_WAIT, now);
		} else {
			rare_refused(RECORD_STACK_COPY);
		}
	}
	/* The verifier forgets the bounds of what was kept over a call of a global function. */
	asm volatile("" : "+r"(bytes));
	if (bytes > STACK_BYTES)
		return 0;
	write_stack(room, RECORD_WAIT_STACK, 0, task, site, 0, bytes, now);
	rare_spent(RECORD_WAIT_STACK, now, 1);
	return 0;
}

/* Stacks of one call of one process that are taken a second and CPU, and their part of all, at most: seldom ones have theirs beside a storm of
 * others. */
#define CALL_STACKS 10
#define PART_OF_CALL_STACKS 5
/* Fewer calls than so many are passed over before the next is looked at, a number by chance: the first one after a pause would be the call
 * that waits in it. A power of two. */
#define CALLS_PASSED 16

struct call_stack_turn {
	u64 due; /* no earlier */
	u32 pass; /* calls until then */
	u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_stack_turn);
} call_stack_turn SEC(".maps");

struct called {
	u32 pid;
	u32 nr;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct called);
	__type(value, struct budget);
} called SEC(".maps");

/* Whether the stack of a short call is to be taken. */
static __always_inline bool wants_call_stack(u32 nr, u64 now)
{
	u32 zero = 0;
	struct call_stack_turn *turn = bpf_map_lookup_elem(&call_stack_turn, &zero);

	/* Those that begin another program, or return to where a signal came, were made elsewhere than they return to. */
	if (!turn || now < turn->due || nr == 15 || nr == 59 || nr == 322)
		return false;
	if (turn->pass) {
		turn->pass--;
		return false;
	}
	return true;
}

/* From where in the program a short call was made. */
static __noinline int tell_call_stack(u32 nr, u64 took, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct called key = { .pid = task->tgid, .nr = nr };
	struct budget first = { .since = now, .spent = 1 };
	u32 zero = 0, bytes, most;
	struct call_stack_turn *turn = bpf_map_lookup_elem(&call_stack_turn, &zero);
	struct stack_record *room = bpf_map_lookup_elem(&returned_room, &zero);
	struct budget *budget = bpf_map_lookup_elem(&called, &key);
	struct control *limits = control_now();

	if (!turn || !room || !limits || !limits->call_stacks)
		return 0;
	turn->pass = bpf_get_prandom_u32() & (CALLS_PASSED - 1);
	most = limits->call_stacks / PART_OF_CALL_STACKS + 1;
	if (budget && !within_budget(budget, most < CALL_STACKS ? most : CALL_STACKS, now))
		return 0;
	if (!budget)
		bpf_map_update_elem(&called, &key, &first, BPF_ANY);
	turn->due = now + SECOND / limits->call_stacks;
	if (settings.stack_copies) {
		copy_frames(now);
		copy_stack(bpf_map_lookup_elem(&returned_copy, &zero), task, COPY_OF_WAIT, now);
	}
	bytes = stack_part(bpf_get_task_stack(task, room->frames + 1, STACK_BYTES, BPF_F_USER_STACK));
	room->frames[0] = nr;
	write_stack(room, RECORD_CALL_STACK, 0, task, took, sizeof(u64), bytes, now);
	rare_spent(RECORD_CALL_STACK, now, 1);
	return 0;
}
#endif
