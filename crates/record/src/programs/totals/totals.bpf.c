/* What the kernel counts for each thread anyway: its page faults and switches, as far as they were made while it was
 * watched. Nothing is hooked but the end of a thread. */
#include "../../bpf/common.bpf.h"

#define PF_EXITING 4 /* include/linux/sched.h */

struct totals_record {
	struct record head;
	u32 pid;
	u32 pad;
	u64 page_faults;
	u64 major_faults;
	u64 voluntary_switches;
	u64 involuntary_switches;
};
TELL_TYPE(struct totals_record, totals_record);

static __always_inline void tell(struct task_struct *task, struct task_state *state)
{
	u64 now = bpf_ktime_get_ns();
	struct totals_record *record = rare_reserve(sizeof(*record), RECORD_TOTALS, now);

	if (!record)
		return;
	begin_record(&record->head, sizeof(*record), RECORD_TOTALS, 0, task->pid, now);
	record->pid = task->tgid;
	record->pad = 0;
	record->major_faults = task->maj_flt - state->major_faults;
	record->page_faults = task->min_flt - state->minor_faults + record->major_faults;
	record->voluntary_switches = task->nvcsw - state->voluntary_switches;
	record->involuntary_switches = task->nivcsw - state->involuntary_switches;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_exit")
int totals_of_ended(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_state *state = state_of(task);

	if (state)
		tell(task, state);
	return 0;
}

/* Run at the end, for those that still live. */
SEC("iter/task")
int totals_of_living(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_state *state;

	if (!task || task->flags & PF_EXITING)
		return 0;
	state = state_of(task);
	if (state)
		tell(task, state);
	return 0;
}
