/* Calls counted a thread and syscall: a table a CPU, without locks. A row that has to make place for another is written
 * into the ring, so that no count is lost. */
#ifndef WHYSLOW_COUNTS_H
#define WHYSLOW_COUNTS_H
#include "../../bpf/count_row.bpf.h"

#define COUNT_ROWS 4096
struct count_rows {
	struct count_row row[COUNT_ROWS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct count_rows);
} call_counts SEC(".maps");

struct count_record {
	struct record head;
	struct count_row row;
};
TELL_TYPE(struct count_record, count_record);

/* Writes a row out that makes place for another. */
static __noinline int evict(struct count_row *row, u32 cpu, u64 now)
{
	struct ring_head *head = bpf_map_lookup_elem(&call_heads, &cpu);
	char *ring = bpf_map_lookup_elem(&call_ring, &cpu);

	if (!head || !ring || !row)
		return 0;
	struct count_record *record = (void *)ring_reserve_aside(head, ring, settings.ring_mask, now);
	if (!record)
		return 0;
	record->head.kind = RECORD_COUNTS;
	record->head.flags = 0;
	record->head.tid = row->key >> 32;
	record->head.ts = now;
	record->head.length = sizeof(*record);
	__builtin_memcpy(&record->row, row, sizeof(*row));
	ring_commit(head, sizeof(*record));
	return 0;
}

/* Places a row may have: with one alone, of 2000 rows in use two in five share theirs with another, and each call of theirs evicts. */
#define COUNT_WAYS 4

/* One row of the table. */
static __always_inline struct count_row *count_row_at(struct count_rows *rows, u32 at)
{
	/* The verifier is to see the bound: else the compiler leaves it out, as it knows better. */
	barrier_var(at);
	return &rows->row[at & (COUNT_ROWS - 1)];
}

/* The row of a key, a free one, or the one that has to make place. */
static __always_inline struct count_row *count_row_of(struct count_rows *rows, u64 key, u32 hash)
{
	u32 set = hash >> 20 & (COUNT_ROWS - 1) & ~(COUNT_WAYS - 1);
	/* A place and no pointer: the compiler computes with what it tests, and the verifier lets it with numbers alone. */
	u32 place = hash >> 18 & (COUNT_WAYS - 1);
	bool is_free = false;

	for (u32 way = 0; way < COUNT_WAYS; way++) {
		struct count_row *row = count_row_at(rows, set | way);

		if (row->key == key)
			return row;
		if (!row->key && !is_free) {
			is_free = true;
			place = way;
		}
	}
	return count_row_at(rows, set | place);
}

static __always_inline void count_call(u32 tid, u32 nr, u64 entered, u64 ended, s64 ret)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct count_rows *rows = bpf_map_lookup_elem(&call_counts, &cpu);
	u64 key = (u64)tid << 32 | (nr + 1);
	u64 dur = entered ? elapsed(entered, ended) : 0;
	struct count_row *row;

	if (!rows)
		return;
	row = count_row_of(rows, key, tid * 0x9e3779b1u + nr * 0x85ebca6bu);
	if (row->key != key) {
		if (row->key)
			evict(row, cpu, ended);
		__builtin_memset(row, 0, sizeof(*row));
		row->key = key;
		row->shortest = ~0ull;
	}
	row->calls++;
	if (ret < 0 && ret >= -4095)
		row->errors++;
	if (entered) {
		row->total += dur;
		if (dur < row->shortest)
			row->shortest = dur;
		if (dur > row->longest)
			row->longest = dur;
		row->buckets[binary_log(dur) & (COUNT_BUCKETS - 1)]++;
	}
}
#endif
