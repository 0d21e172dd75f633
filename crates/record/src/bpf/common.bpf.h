/* What all programs share: the settings, the rings and the records that go through them.
 * crates/record/src/bpf/layout.rs mirrors what both sides read: change them together. */
#ifndef WHYSLOW_COMMON_H
#define WHYSLOW_COMMON_H
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* A record is at most so long; every ring keeps that much behind its end, so that none wraps. */
#define MAX_RECORD 8192
#define MAX_CPUS 512
#define MAX_CALL_NUMBERS 512
#define COMM_LENGTH 16
#define FUTEX_WORDS 16

#include "records.bpf.h"

struct ring_head {
	u64 head; /* bytes ever written */
	u64 produced; /* records that were to be written, lost ones included */
	u64 lost;
	u64 lost_first; /* when the first and the last were lost */
	u64 lost_last;
	u64 busy; /* being written to */
	u64 aside; /* of those produced and lost: records that are not rows of the ring's own table */
	u64 aside_lost;
	u64 tail; /* bytes ever taken; written by the consumer */
	u64 unused2[7];
};

struct settings {
	u64 ring_mask; /* size of a CPU's ring of calls, less one */
	u64 sched_mask;
	u64 slow_call; /* ns from which on a call is recorded even where calls are only counted */
	u64 long_off; /* ns from which on the stack of a wait is kept */
	u32 own_pid; /* the recorder: never watched */
	u32 follow; /* children of watched threads are watched */
	u32 all; /* watch every thread, as it is first seen */
	u32 payload; /* bytes of payload to keep; 0 for none */
	u32 all_payload; /* also what is read from files */
	u32 text_cap; /* bytes of a string to keep, where its specification allows more */
	u32 match_comm; /* watch programs of this name as they start */
	u32 sample_hz; /* samples a second and CPU */
	u32 wait_stacks; /* take the stacks of long waits */
	u32 tids; /* thread ids are below this */
	u32 slots; /* of watched threads, the first one nobody's */
	u32 probe; /* of an object that is attached to a function of the kernel: the function's number */
	u32 probe_returns; /* what that one returns: RETURNS_… (probes.bpf.c) */
	u32 from_exec_of; /* a thread that is ours until it executes a program; 0 for none */
	u32 stack_copies; /* samples and waits come with a copy of the top of their stack */
	u32 files_with_calls; /* the program of calls adds up those on files */
	u32 wakeups; /* who wakes whom may be recorded */
	u32 pad;
	char comm[COMM_LENGTH];
};
/* The settings come first in their section: that is where they are written. */
const volatile struct settings settings = {};

/* Puts a type that no map has into the object's type information, by which a test compares it with layout.rs. */
#define TELL_TYPE(type, name) const type *const volatile type_of_##name = 0
TELL_TYPE(enum record_kind, record_kind);

/* May change while recording, as the budget allows (budget.rs); shared by all programs. */
struct control {
	u32 calls; /* CALLS_NONE, CALLS_COUNT, CALLS_FULL */
	u32 wait_stacks; /* stacks of long waits to take a second and CPU, at most */
	u32 wait_every; /* of so many long waits one, by chance, has its stack taken */
	u32 sample_every; /* of so many samples one is taken, for all of them */
	u32 parts; /* PART_…: what else is recorded */
	u32 detail; /* DETAIL_…: calls that are to be counted are recorded as long as they are few (calls/detail.bpf.h) */
	u32 call_stacks; /* stacks of short calls to take a second and CPU, at most; 0: none */
	u32 pad;
	/* Calls are recorded since then, ns; the largest number while they are given up. Whether a call that began before is the one
	 * that its thread is in, nobody saw. */
	u64 calls_since;
};
enum { PART_FILES = 1, PART_WAKEUPS = 2, PART_NET = 4, PART_BLOCK = 8 };
enum { CALLS_NONE = 0, CALLS_COUNT = 1, CALLS_FULL = 2 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct control);
} control SEC(".maps");

/* A ring a CPU, written without a lock: the calls' is written only in process context with preemption off, the
 * scheduler's only with interrupts off. Sizes are set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, MAX_RECORD * 2);
} call_ring SEC(".maps"), sched_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ring_head);
} call_heads SEC(".maps"), sched_heads SEC(".maps");

/* Room for a record of at most MAX_RECORD bytes in a CPU's ring, or NULL, counted, where it is full. `mask` must be a
 * constant to the verifier. */
static __always_inline struct record *ring_reserve(struct ring_head *head, char *data, u64 mask, u64 now)
{
	u64 at = head->head;
	u64 offset = at & mask;

	head->produced++;
	/* A kernel that lets a program be preempted would have two write at once: the second one gives way. */
	if (head->busy)
		goto full;
	if (offset > mask - MAX_RECORD) {
		/* Too near the end: the rest of the lap stays empty. */
		u64 rest = mask + 1 - offset;

		if (at + rest + MAX_RECORD - head->tail > mask + 1)
			goto full;
		struct record *pad = (void *)(data + offset);
		pad->length = rest;
		pad->kind = RECORD_PAD;
		barrier();
		head->head = at + rest;
		head->busy = 1;
		return (void *)data;
	}
	if (at + MAX_RECORD - head->tail > mask + 1)
		goto full;
	head->busy = 1;
	return (void *)(data + offset);
full:
	if (!head->lost++)
		head->lost_first = now;
	head->lost_last = now;
	return NULL;
}

/* The same for a record that is no row of the ring's own table: of the scheduler a wake-up, of calls an entry, counts. */
static __always_inline struct record *ring_reserve_aside(struct ring_head *head, char *data, u64 mask, u64 now)
{
	struct record *record = ring_reserve(head, data, mask, now);

	head->aside++;
	if (!record)
		head->aside_lost++;
	return record;
}

/* Makes a record visible. x86 keeps the order of stores; elsewhere the exchange is a full barrier. */
static __always_inline void ring_commit(struct ring_head *head, u32 length)
{
	barrier();
#ifdef __TARGET_ARCH_x86
	*(volatile u64 *)&head->head = head->head + length;
#else
	__sync_lock_test_and_set(&head->head, head->head + length);
#endif
	head->busy = 0;
}

/* From `from` to `to`, which may have been taken on two CPUs: their clocks may differ by a little (virtual machines), so
 * that the later one seems the earlier. */
static __always_inline u64 elapsed(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static __always_inline struct control *control_now(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

static __always_inline u32 calls_mode(void)
{
	struct control *now = control_now();

	return now ? now->calls : CALLS_NONE;
}

/* When the call of a thread began, by what its state says; 0 where calls were given up since. */
static __always_inline u64 known_start(u64 enter)
{
	struct control *now = control_now();

	return now && enter >= now->calls_since ? enter : 0;
}

static __always_inline bool is_on(u32 part)
{
	struct control *now = control_now();

	return now && now->parts & part;
}

#include "rare.bpf.h"
#include "watched.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
#endif
