/* From where a thread is woken: another thread, or an interrupt. */
#ifndef WHYSLOW_CONTEXT_H
#define WHYSLOW_CONTEXT_H

/* What a CPU is in the middle of, beside its thread. The kernel's own count is no symbol that programs may read
 * everywhere, so the interrupts' own tracepoints keep ours; where nobody asks from where threads are woken, none is attached. */
struct interrupts {
	u32 hard;
	u32 soft;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline struct interrupts *interrupts_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

static __always_inline u32 context_of(struct task_struct *current)
{
	struct interrupts *here = interrupts_here();

	if (here && here->hard)
		return FROM_HARDIRQ;
	if (here && here->soft)
		return FROM_SOFTIRQ;
	return current->pid ? FROM_TASK : FROM_OTHER;
}

static __always_inline int hard_interrupt(u32 now)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->hard = now;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int irq_entry(u64 *ctx)
{
	return hard_interrupt(1);
}

SEC("tp_btf/irq_handler_exit")
int irq_exit(u64 *ctx)
{
	return hard_interrupt(0);
}

SEC("tp_btf/local_timer_entry")
int timer_entry(u64 *ctx)
{
	return hard_interrupt(1);
}

SEC("tp_btf/local_timer_exit")
int timer_exit(u64 *ctx)
{
	return hard_interrupt(0);
}

SEC("tp_btf/softirq_entry")
int softirq_entry(u64 *ctx)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->soft = 1;
	return 0;
}

SEC("tp_btf/softirq_exit")
int softirq_exit(u64 *ctx)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->soft = 0;
	return 0;
}
#endif
