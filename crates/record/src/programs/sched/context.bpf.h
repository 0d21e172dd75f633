/* From where a thread is woken: another thread, or an interrupt. */
#ifndef WHYSLOW_CONTEXT_H
#define WHYSLOW_CONTEXT_H

/* include/linux/preempt.h */
#define SOFTIRQ_SERVED 0x100
#define HARDIRQS 0xf0000

/* The kernel's own count of what a CPU is in the middle of, beside its thread: until 6.1 and from 6.14 on by itself, between
 * them in a struct. */
extern const int __preempt_count __ksym __weak;
struct pcpu_hot {
	int preempt_count;
} __attribute__((preserve_access_index));
extern const struct pcpu_hot pcpu_hot __ksym __weak;

/* Where the kernel has no symbol for it that programs may read, the interrupts' own tracepoints keep ours. */
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

/* `told`: by the kernel's count, which makes a program that no other kernel takes. */
static __always_inline u32 context_of(struct task_struct *current, bool told)
{
	u32 hard = 0, soft = 0;

	if (told) {
		u32 count = bpf_ksym_exists(&__preempt_count) ?
				    *(const u32 *)bpf_this_cpu_ptr(&__preempt_count) :
				    ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count;

		hard = count & HARDIRQS;
		soft = count & SOFTIRQ_SERVED;
	} else {
		struct interrupts *here = interrupts_here();

		if (here) {
			hard = here->hard;
			soft = here->soft;
		}
	}
	if (hard)
		return FROM_HARDIRQ;
	if (soft)
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
