/* The ring for what is rare, and what is counted of each kind of record: those made, lost and refused, and their time. */
#ifndef WHYSLOW_RARE_H
#define WHYSLOW_RARE_H

/* What is rare or comes in any context goes through the kernel's own ring, polled too. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} rare_ring SEC(".maps");

/* Records produced for and lost by the rare ring, by kind; a row a CPU. What is refused, to keep the cost within the budget,
 * is not produced. */
struct rare_counts {
	u64 produced[RECORD_KINDS];
	u64 lost[RECORD_KINDS];
	u64 lost_first[RECORD_KINDS];
	u64 lost_last[RECORD_KINDS];
	u64 refused[RECORD_KINDS];
	u64 spent[RECORD_KINDS]; /* ns in the programs that make them, of the calls' and the scheduler's ring too */
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rare_counts);
} rare_counts SEC(".maps");

/* Counts a record for the rare ring. */
static __always_inline void rare_count(u32 kind, bool lost, u64 now)
{
	u32 zero = 0;
	struct rare_counts *counts = bpf_map_lookup_elem(&rare_counts, &zero);

	if (!counts)
		return;
	kind &= RECORD_KINDS - 1;
	counts->produced[kind]++;
	if (lost) {
		if (!counts->lost[kind]++)
			counts->lost_first[kind] = now;
		counts->lost_last[kind] = now;
	}
}

/* Counts what is left out to keep the cost within the budget. */
static __always_inline void rare_refused(u32 kind)
{
	u32 zero = 0;
	struct rare_counts *counts = bpf_map_lookup_elem(&rare_counts, &zero);

	if (counts)
		counts->refused[kind & (RECORD_KINDS - 1)]++;
}

/* What took longer was interrupted, by the host of a virtual machine for one: ns, where each is timed and where one of many. */
#define LONGEST_TIMED 1000000
#define LONGEST_TIMED_OF_MANY 10000

/* Adds up what a program took since it read the clock. `each`: 1, or how many it stands for. */
static __always_inline void rare_spent(u32 kind, u64 since, u32 each)
{
	u32 zero = 0;
	struct rare_counts *counts = bpf_map_lookup_elem(&rare_counts, &zero);
	u64 took = elapsed(since, bpf_ktime_get_ns());
	u64 longest = each > 1 ? LONGEST_TIMED_OF_MANY : LONGEST_TIMED;

	if (counts)
		counts->spent[kind & (RECORD_KINDS - 1)] += (took < longest ? took : longest) * each;
}

/* What takes less than two readings of the clock is timed one time in so many, by chance: the clock's low bits. */
#define TIMED_EACH 64
static __always_inline bool is_timed(u64 now)
{
	return ((now ^ now >> 7) & (TIMED_EACH - 1)) == 0;
}

/* Room in the rare ring, counted. */
static __always_inline void *rare_reserve(u32 size, u32 kind, u64 now)
{
	void *room = bpf_ringbuf_reserve(&rare_ring, size, 0);

	rare_count(kind, !room, now);
	return room;
}
#endif
