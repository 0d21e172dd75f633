/* Which calls are recorded one by one where calls are counted. */
#ifndef WHYSLOW_DETAIL_H
#define WHYSLOW_DETAIL_H

/* Where calls are counted, the quick ones of who makes few of them are recorded as well: so many on a CPU in each slice of time. Once they are
 * more, that CPU only counts. Who reads the recording takes them for counted ones then (replay/calls.rs), as bits of a sequence mislead. */
#define DETAIL_SLICE 100000000 /* ns */
#define DETAIL_CALLS 200
/* In a recording that goes on for days the slow ones of a CPU that only counts are recorded as long as they are few, too: most are waits for work,
 * each like the others. One that took this long is recorded in any case. */
#define SLOW_CALLS 10
#define VERY_SLOW 1000000000 /* ns */
enum { DETAIL_QUICK = 1, DETAIL_FEW_SLOW = 2 }; /* of `control.detail` */
struct detail {
	u64 since;
	u32 left;
	u32 over;
	u64 slow_since;
	u64 slow_left;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct detail);
} call_detail SEC(".maps");

static __always_inline bool has_room_for_detail(u64 now)
{
	u32 zero = 0;
	struct detail *detail = bpf_map_lookup_elem(&call_detail, &zero);
	struct control *control = control_now();

	if (!control || !(control->detail & DETAIL_QUICK) || !detail || detail->over)
		return false;
	if (now - detail->since >= DETAIL_SLICE) {
		detail->since = now;
		detail->left = DETAIL_CALLS;
	}
	if (!detail->left) {
		detail->over = 1;
		return false;
	}
	detail->left--;
	return true;
}

/* Whether a call that took `took` is recorded though calls are counted, because it is slow. */
static __always_inline bool has_room_for_slow(u64 took, u64 now)
{
	u32 zero = 0;
	struct detail *detail = bpf_map_lookup_elem(&call_detail, &zero);
	struct control *control = control_now();

	if (took >= VERY_SLOW || !control || !(control->detail & DETAIL_FEW_SLOW) || !detail)
		return true;
	if (control->detail & DETAIL_QUICK && !detail->over)
		return true;
	if (now - detail->slow_since >= DETAIL_SLICE) {
		detail->slow_since = now;
		detail->slow_left = SLOW_CALLS;
	}
	if (!detail->slow_left)
		return false;
	detail->slow_left--;
	return true;
}
#endif
