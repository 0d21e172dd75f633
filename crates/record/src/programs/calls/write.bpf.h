/* One call written down: its record, and what is kept of it. */
#ifndef WHYSLOW_CALLS_WRITE_H
#define WHYSLOW_CALLS_WRITE_H
#include "../../bpf/compat.bpf.h"
#include "pieces.bpf.h"

#define CALL_KILLED 16
#define CALL_DETAIL 32
#define CALL_PIECE_MISSING 8
#define CALL_COMPAT 4
#define CALL_NO_EXIT 2
#define CALL_NO_ENTER 1

struct call_record {
	struct record head; /* ts: when it returned */
	u32 dur_low; /* ns, lower 32 bits */
	u16 nr;
	u16 args_dur; /* how many arguments follow (3 bits), upper 13 bits of the duration */
	s64 ret;
	u64 args[6];
};
TELL_TYPE(struct call_record, call_record);
#define CALL_FIXED (sizeof(struct call_record) - 6 * sizeof(u64))

/* What to keep of a call; the last row is that of all numbers beyond the table. */
static __always_inline struct call_spec *spec_of(u32 nr)
{
	u32 row = nr < MAX_CALL_NUMBERS ? nr : MAX_CALL_NUMBERS - 1;

	return bpf_map_lookup_elem(&call_specs, &row);
}

static __always_inline void load_args(struct pt_regs *regs, u64 *args)
{
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

/* FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET (include/uapi/linux/futex.h), without its flags. */
static __always_inline bool waits_for_futex(u64 operation)
{
	operation &= 127;
	return operation == 0 || operation == 6 || operation == 9;
}

/* execve, execveat (arch/x86/entry/syscalls/syscall_64.tbl) */
static __always_inline bool is_exec(u32 nr)
{
	return nr == 59 || nr == 322;
}

/* A call that began while calls were recorded, and has lasted. */
static __always_inline bool is_slow(u64 entered, u64 now)
{
	return entered && elapsed(entered, now) >= settings.slow_call;
}

static __always_inline u32 compat_flag(struct pt_regs *regs)
{
	return is_compat(regs) ? CALL_COMPAT : 0;
}

/* Writes a call down. `ended`: when; `entered`: 0 where not seen. */
static __always_inline void write_call(struct task_state *state, struct pt_regs *regs, struct call_spec *spec, u32 kind,
				       u32 nr, u64 entered, u64 ended, s64 ret, u32 flags)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct ring_head *head = bpf_map_lookup_elem(&call_heads, &cpu);
	char *ring = bpf_map_lookup_elem(&call_ring, &cpu);
	u64 dur = entered ? elapsed(entered, ended) : 0;
	u32 count = spec->args;
	u32 length;

	if (!head || !ring)
		return;
	struct call_record *call;
	if (kind == RECORD_ENTER)
		call = (void *)ring_reserve_aside(head, ring, settings.ring_mask, ended);
	else
		call = (void *)ring_reserve(head, ring, settings.ring_mask, ended);
	if (!call)
		return;
	if (count > 6)
		count = 6;
	call->head.kind = kind;
	call->head.tid = state->tid;
	call->head.ts = ended;
	call->dur_low = dur;
	call->nr = nr;
	call->args_dur = count | (dur >> 32 > 0x1fff ? 0x1fff : dur >> 32) << 3;
	call->ret = ret;
	/* All six are written; only those that count are kept. */
	call->args[0] = regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	if (count > 3) {
		call->args[3] = regs->r10;
		call->args[4] = regs->r8;
		call->args[5] = regs->r9;
	}
	length = CALL_FIXED + count * sizeof(u64);
	if (spec->flags & SPEC_FUTEX && kind == RECORD_CALL && waits_for_futex(regs->si))
		length = append_futex((char *)call, length, state->futex);
	if (spec->pieces) {
		struct piece_reader reader = { .ret = ret };

		load_args(regs, reader.args);
		length = read_pieces(&reader, spec, (char *)call, length, kind == RECORD_ENTER, is_exec(nr));
		if (reader.missing)
			flags |= CALL_PIECE_MISSING;
	}
	length = (length + 7) & ~7u;
	call->head.flags = flags;
	call->head.length = length;
	ring_commit(head, length);
}
#endif
