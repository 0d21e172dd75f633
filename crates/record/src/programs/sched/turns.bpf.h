/* The latest turns of each CPU, of whatever threads, and what of them may be added up in a time. */
#ifndef WHYSLOW_TURNS_H
#define WHYSLOW_TURNS_H

/* Turns that a CPU remembers. A wait with more of them has a part that is not told. */
#define TURNS_LOG 6
#define TURNS (1 << TURNS_LOG)

/* A turn that has ended; it began when the one before ended. */
struct turn {
	u64 until;
	u32 tgid; /* 0: idle */
	u32 tid;
	u64 comm[COMM_LENGTH / 8];
	u64 program[COMM_LENGTH / 8]; /* the name of its process: that of the first thread */
};

/* Parts of waits that a CPU adds up in a millisecond, and rows that it sends away: a storm of short waits in a long queue has
 * millions of parts a second. 32,000 parts a second are 0.13 % of a CPU, 2,000 rows 150 kB of the ring. */
#define PARTS_A_MS 32
#define EVICTIONS_A_MS 2
/* Saved up in quiet times, ms. */
#define MOST_SAVED_MS 8

struct turns {
	u64 count; /* ever */
	u64 filled; /* when the allowances below were filled last, ns */
	s64 parts;
	s64 evictions;
	struct turn turn[TURNS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct turns);
} turns SEC(".maps");

static __always_inline void put_comm(u64 *to, struct task_struct *task)
{
	to[0] = *(u64 *)&task->comm[0];
	to[1] = *(u64 *)&task->comm[8];
}

/* A turn ends. */
static __always_inline void turn_ends(struct task_struct *prev, u64 now)
{
	u32 zero = 0;
	struct turns *here = bpf_map_lookup_elem(&turns, &zero);
	struct turn *turn;

	if (!here)
		return;
	turn = &here->turn[here->count++ & (TURNS - 1)];
	turn->until = now;
	turn->tgid = prev->tgid;
	turn->tid = prev->pid;
	put_comm(turn->comm, prev);
	put_comm(turn->program, prev->pid == prev->tgid ? prev : prev->group_leader);
}

static __always_inline void fill_allowances(struct turns *here, u64 now)
{
	u64 ms = (now - here->filled) / 1000000;

	if (!ms || now < here->filled)
		return;
	here->filled = now;
	if (ms > MOST_SAVED_MS)
		ms = MOST_SAVED_MS;
	here->parts += PARTS_A_MS * ms;
	if (here->parts > PARTS_A_MS * MOST_SAVED_MS)
		here->parts = PARTS_A_MS * MOST_SAVED_MS;
	here->evictions += EVICTIONS_A_MS * ms;
	if (here->evictions > EVICTIONS_A_MS * MOST_SAVED_MS)
		here->evictions = EVICTIONS_A_MS * MOST_SAVED_MS;
}
#endif
