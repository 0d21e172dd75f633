/* Who had the CPU while a watched thread waited for it. Each CPU notes its latest turns, of whatever threads. When a watched
 * thread gets the CPU, those that overlap with its wait are added up: the CPU is the one that it got, also where it was moved
 * there at last. Rows are a table a CPU, without locks; one that has to make place goes through the ring. */
#ifndef WHYSLOW_MEANWHILE_H
#define WHYSLOW_MEANWHILE_H

#include "turns.bpf.h"

enum {
	HAD_THREAD = 0, /* a thread, another one of the waiting process too */
	HAD_IDLE = 1, /* nobody: the CPU was to wake up, or the thread to be brought there */
	HAD_QUOTA = 2, /* whoever: the thread's group had used up its quota */
	HAD_UNTOLD = 3, /* before the turns that the CPU remembers, or too many to add up */
};

#define MEANWHILE_ROWS_LOG 12
#define MEANWHILE_ROWS (1 << MEANWHILE_ROWS_LOG)

struct meanwhile_row {
	u32 tid; /* who waited */
	u32 pid;
	u32 had; /* HAD_... */
	u32 runner; /* whose process */
	u64 comm[COMM_LENGTH / 8]; /* of its thread; of another process than the one that waits, of that */
	u64 turns; /* 0 where the row is free */
	u64 total; /* ns */
};

struct meanwhile_rows {
	struct meanwhile_row row[MEANWHILE_ROWS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct meanwhile_rows);
} meanwhile_rows SEC(".maps");

struct meanwhile_record {
	struct record head;
	struct meanwhile_row row;
};
TELL_TYPE(struct meanwhile_record, meanwhile_record);

/* True for a thread whose group used up its quota, on the CPU that it ran on last: nobody's turn keeps it waiting. */
static __always_inline bool is_stopped(struct task_struct *task)
{
	struct cfs_rq *queue = NULL;

	/* Without CONFIG_FAIR_GROUP_SCHED and CONFIG_CFS_BANDWIDTH there are no quotas. */
	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(queue->throttle_count))
		return false;
	queue = task->se.cfs_rq;
	return queue && queue->throttle_count;
}

/* One half of the rows is for what is told of nobody: it takes no other's place, so that no wait is lost for want of one. The masks
 * are powers of two, whose bounds the verifier follows. */
#define HALF (MEANWHILE_ROWS / 2)
/* Places that are tried for a row. */
#define TRIES 4

/* Where a row under its key may first be. */
static __always_inline u32 meanwhile_place(struct meanwhile_row *key)
{
	/* The numbers of place_of() (files/rows.bpf.h). */
	u64 hash = ((u64)key->tid << 32 | key->runner) * 0x9e3779b97f4a7c15ull;

	hash ^= (key->comm[0] ^ key->had) * 0xc2b2ae3d27d4eb4full;
	hash ^= key->comm[1] * 0x165667b19e3779f9ull;
	hash = (hash * 0x9e3779b97f4a7c15ull >> 32) & (HALF - 1);
	return key->had == HAD_UNTOLD ? hash : hash + HALF;
}

static __always_inline bool is_meanwhile_of(struct meanwhile_row *row, struct meanwhile_row *key)
{
	return row->turns && row->tid == key->tid && row->runner == key->runner && row->had == key->had &&
	       row->comm[0] == key->comm[0] && row->comm[1] == key->comm[1];
}

static __always_inline bool evict_meanwhile(struct meanwhile_row *row, u64 now)
{
	struct meanwhile_record *record = bpf_ringbuf_reserve(&rare_ring, sizeof(*record), 0);

	if (!record)
		return false;
	begin_record(&record->head, sizeof(*record), RECORD_MEANWHILE, 0, row->tid, now);
	__builtin_memcpy(&record->row, row, sizeof(*row));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return true;
}

/* Adds a part of a wait to its row; 0 where another one's must not go. Not static: the verifier looks at it once, not for each turn. */
__noinline int add_meanwhile(struct meanwhile_row *part, struct turns *here, u64 now)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct meanwhile_rows *rows = bpf_map_lookup_elem(&meanwhile_rows, &cpu);
	struct meanwhile_row *row = NULL;
	u32 place;

	if (!rows || !part || !here)
		return 0;
	place = meanwhile_place(part);
	for (u32 i = 0; i < TRIES; i++) {
		row = &rows->row[place ^ i];
		if (!row->turns || is_meanwhile_of(row, part))
			break;
	}
	if (!row)
		return 0;
	if (!is_meanwhile_of(row, part)) {
		if (row->turns) {
			if (here->evictions <= 0)
				return 0;
			here->evictions--;
			if (!evict_meanwhile(row, now))
				return 0;
		}
		__builtin_memcpy(row, part, sizeof(*row));
		row->turns = 0;
		row->total = 0;
	}
	rare_count(RECORD_MEANWHILE, false, now);
	row->turns++;
	row->total += part->total;
	return 1;
}

/* Time of a wait of which nobody is told. */
static __always_inline void add_untold(struct meanwhile_row *part, struct turns *here, u64 now)
{
	part->had = HAD_UNTOLD;
	part->runner = 0;
	part->comm[0] = 0;
	part->comm[1] = 0;
	if (!add_meanwhile(part, here, now))
		rare_count(RECORD_MEANWHILE, true, now);
}

/* A thread gets this CPU, for which it waited since `since`: who had it meanwhile, the last one first. */
static __noinline int had_meanwhile(struct task_struct *task, struct task_state *state, u64 since, u64 now)
{
	u32 zero = 0;
	struct turns *here = bpf_map_lookup_elem(&turns, &zero);
	struct meanwhile_row part = { .tid = task->pid, .pid = task->tgid };
	u64 end = now;

	if (!here)
		return 0;
	fill_allowances(here, now);
	if (state->stopped) {
		part.had = HAD_QUOTA;
		part.total = now - since;
		if (!add_meanwhile(&part, here, now))
			rare_count(RECORD_MEANWHILE, true, now);
		return 0;
	}
	for (u32 i = 1; i < TURNS && end > since && here->parts > 0; i++) {
		struct turn *turn = &here->turn[(here->count - i) & (TURNS - 1)];
		struct turn *before = &here->turn[(here->count - i - 1) & (TURNS - 1)];
		u64 begin = before->until > since ? before->until : since;
		u64 *name;

		/* None there yet, or it ended on a clock that goes ahead of this one's. */
		if (turn->until <= since || begin > end)
			break;
		part.had = turn->tid ? HAD_THREAD : HAD_IDLE;
		part.runner = turn->tgid;
		name = turn->tgid == part.pid ? turn->comm : turn->program;
		part.comm[0] = turn->tid ? name[0] : 0;
		part.comm[1] = turn->tid ? name[1] : 0;
		part.total = end - begin;
		here->parts--;
		if (!add_meanwhile(&part, here, now))
			add_untold(&part, here, now);
		end = begin;
	}
	if (end > since) {
		part.total = end - since;
		add_untold(&part, here, now);
	}
	return 0;
}
#endif
