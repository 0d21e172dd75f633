/* Calls of functions of the kernel by the watched threads, counted and timed, and by which way the kernel came to them. All is
 * added up here. Each function has an object of its own, which knows it by a number. Of a function that an interrupt calls,
 * the thread that it interrupts counts as the caller. */
#include "../../bpf/common.bpf.h"
#include "../../bpf/count_row.bpf.h"
/* The registers have the names of the kernel here (vmlinux.h), not those of user programs. */
#define __VMLINUX_H__
#include <bpf/bpf_tracing.h>

#define MAX_PROBES 16
#define PROBE_ROWS 16384
/* Calls of one function that are in each other, at most, each with its time; what is deeper is counted only. */
#define PROBE_DEPTH 8
#define PROBE_STACKS 4096
#define MAX_ERRNO 4095 /* include/linux/err.h */
#define PF_FORKNOEXEC 0x40 /* include/linux/sched.h: forked but did not exec */

/* What of a function's result is an errno. */
enum { RETURNS_NO_ERRNO = 0, RETURNS_INT = 1, RETURNS_LONG = 2 };

struct probe_key {
	u32 probe;
	u32 tid;
};

/* A call under way: where its frame is on the thread's kernel stack, which grows downwards, and when it began. */
struct probe_call {
	u64 frame;
	u64 entered;
};

struct probe_row {
	struct count_row counts; /* calls as they begin, the rest as they end */
	u32 pid;
	u32 depth; /* calls under way */
	struct probe_call under_way[PROBE_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_ROWS);
	__type(key, struct probe_key);
	__type(value, struct probe_row);
} probe_rows SEC(".maps");

/* Of each function: calls of threads for which there was no row, and calls whose stack found no place. */
struct probe_lost {
	u64 calls;
	u64 stacks;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, u32);
	__type(value, struct probe_lost);
} probe_lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, PROBE_STACKS);
	__uint(key_size, sizeof(u32));
	/* PERF_MAX_STACK_DEPTH (include/uapi/linux/perf_event.h) */
	__uint(value_size, 127 * sizeof(u64));
} probe_stacks SEC(".maps");

struct probe_path {
	u32 probe;
	u32 stack;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_STACKS);
	__type(key, struct probe_path);
	__type(value, u64);
} probe_paths SEC(".maps");

static __always_inline struct probe_row *row_of(struct task_struct *task, bool make)
{
	struct probe_key key = { .probe = settings.probe, .tid = task->pid };
	struct probe_row *row = bpf_map_lookup_elem(&probe_rows, &key);

	if (row || !make)
		return row;
	struct probe_row fresh = {};

	fresh.counts.key = (u64)key.tid << 32 | (key.probe + 1);
	fresh.counts.shortest = ~0ull;
	fresh.pid = task->tgid;
	bpf_map_update_elem(&probe_rows, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&probe_rows, &key);
}

static __always_inline struct probe_lost *lost_here(void)
{
	u32 probe = settings.probe;

	return bpf_map_lookup_elem(&probe_lost, &probe);
}

/* Counts one more call along the stack that leads to it. */
static __always_inline void count_path(void *ctx)
{
	long stack = bpf_get_stackid(ctx, &probe_stacks, BPF_F_FAST_STACK_CMP);
	struct probe_path path = { .probe = settings.probe, .stack = stack };
	struct probe_lost *lost;
	u64 *calls, none = 0;

	if (stack >= 0) {
		calls = bpf_map_lookup_elem(&probe_paths, &path);
		if (!calls) {
			bpf_map_update_elem(&probe_paths, &path, &none, BPF_NOEXIST);
			calls = bpf_map_lookup_elem(&probe_paths, &path);
		}
		if (calls) {
			__sync_fetch_and_add(calls, 1);
			return;
		}
	}
	lost = lost_here();
	if (lost)
		__sync_fetch_and_add(&lost->stacks, 1);
}

/* The call at that depth. The depth is cut where it is used: a verifier that follows no copies (Linux 6.1) sees no other
 * bound. */
static __always_inline struct probe_call *call_at(struct probe_row *row, u32 depth)
{
	barrier_var(depth);
	return &row->under_way[depth & (PROBE_DEPTH - 1)];
}

/* Forgets calls below `frame`: these ended, and their end was not seen (the kernel keeps room for a limited number of
 * returns at a time). */
static __always_inline void forget_below(struct probe_row *row, u64 frame, bool own)
{
	for (u32 i = 0; i < PROBE_DEPTH; i++) {
		u32 top = row->depth - 1;

		if (top >= PROBE_DEPTH)
			return;
		s64 above = call_at(row, top)->frame - frame;
		if (above > 0 || (above == 0 && !own))
			return;
		row->depth = top;
	}
}

static __always_inline int begins(void *ctx, u64 frame)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_lost *lost;
	struct probe_row *row;

	if (!state_of(task))
		return 0;
	if (task->pid == settings.from_exec_of && task->flags & PF_FORKNOEXEC)
		return 0;
	row = row_of(task, true);
	if (!row) {
		lost = lost_here();
		if (lost)
			__sync_fetch_and_add(&lost->calls, 1);
		return 0;
	}
	__sync_fetch_and_add(&row->counts.calls, 1);
	count_path(ctx);
	forget_below(row, frame, true);
	if (row->depth < PROBE_DEPTH) {
		struct probe_call *call = call_at(row, row->depth);

		call->frame = frame;
		call->entered = bpf_ktime_get_ns();
	}
	row->depth++;
	return 0;
}

/* `frame` is that of the beginning, or 0 where it is not known: then the last call that began ends. */
static __always_inline int ends(u64 frame, u64 result)
{
	u64 now = bpf_ktime_get_ns(), dur;
	struct probe_row *row;
	struct probe_call *call;
	bool failed = false;

	row = row_of(bpf_get_current_task_btf(), false);
	if (!row)
		return 0;
	if (frame)
		forget_below(row, frame, false);
	if (!row->depth)
		return 0;
	row->depth--;
	if (row->depth >= PROBE_DEPTH)
		return 0;
	call = call_at(row, row->depth);
	/* It began before the recording, and another one is under way above it. */
	if (frame && call->frame != frame) {
		row->depth++;
		return 0;
	}
	if (settings.probe_returns == RETURNS_INT)
		failed = (s32)result < 0 && (s32)result >= -MAX_ERRNO;
	else if (settings.probe_returns == RETURNS_LONG)
		failed = (s64)result < 0 && (s64)result >= -MAX_ERRNO;
	dur = elapsed(call->entered, now);
	__sync_fetch_and_add(&row->counts.errors, failed);
	__sync_fetch_and_add(&row->counts.total, dur);
	if (dur < row->counts.shortest)
		row->counts.shortest = dur;
	if (dur > row->counts.longest)
		row->counts.longest = dur;
	__sync_fetch_and_add(&row->counts.buckets[binary_log(dur) & (COUNT_BUCKETS - 1)], 1);
	return 0;
}

/* The context of a call lies in its frame, at the same place at its beginning and its end (the trampoline of both). */
SEC("fentry")
int probe_fentry(u64 *ctx)
{
	return begins(ctx, regs_key((void *)ctx));
}

SEC("fexit")
int probe_fexit(u64 *ctx)
{
	u64 result = 0;

	bpf_get_func_ret(ctx, &result);
	return ends(regs_key((void *)ctx), result);
}

SEC("kprobe")
int probe_kprobe(struct pt_regs *ctx)
{
	return begins(ctx, PT_REGS_SP(ctx));
}

SEC("kretprobe")
int probe_kretprobe(struct pt_regs *ctx)
{
	return ends(0, PT_REGS_RC(ctx));
}
