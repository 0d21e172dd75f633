/* The stretches under way as the recording ends: a thread that never leaves its CPU has no other. */
#ifndef WHYSLOW_RUNNING_H
#define WHYSLOW_RUNNING_H

SEC("iter/task")
int stretches_left(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct stretch_record *record;
	struct task_state *state;
	u64 now;

	if (!task)
		return 0;
	state = state_of(task);
	if (!state || !state->on_since || !task->on_cpu)
		return 0;
	now = bpf_ktime_get_ns();
	record = rare_reserve(sizeof(*record), RECORD_STRETCH, now);
	if (!record)
		return 0;
	record->head.length = sizeof(*record);
	record->head.kind = RECORD_STRETCH;
	record->head.flags = LEFT_OTHER;
	record->head.tid = task->pid;
	record->head.ts = now;
	record->on_cpu = elapsed(state->on_since, now);
	record->runnable = UNKNOWN;
	record->blocked = UNKNOWN;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
#endif
