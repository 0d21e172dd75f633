/* What every tracer of system calls pays: a program as each call begins and as it ends that does nothing, or, with CLOCK,
 * takes the time of both, as who times calls must. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} began SEC(".maps");

static __always_inline int look(int sign)
{
#ifdef CLOCK
	__u32 zero = 0;
	__u64 *at = bpf_map_lookup_elem(&began, &zero);

	if (at)
		*at += sign * (__s64)bpf_ktime_get_ns();
#endif
	return 0;
}

SEC("raw_tp/sys_enter")
int enter(void *ctx)
{
	return look(-1);
}

SEC("raw_tp/sys_exit")
int leave(void *ctx)
{
	return look(1);
}

char LICENSE[] SEC("license") = "GPL";
