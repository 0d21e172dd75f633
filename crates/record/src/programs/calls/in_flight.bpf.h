/* Calls that never return: their thread ends in them, or the recording does. */
#ifndef WHYSLOW_IN_FLIGHT_H
#define WHYSLOW_IN_FLIGHT_H

/* A thread ends: the call that it is in never returns (exit, exit_group, or it was killed in it). */
SEC("tp_btf/sched_process_exit")
int calls_task_exit(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	struct pt_regs *regs;
	struct call_spec *spec;
	u64 now = bpf_ktime_get_ns();
	u64 entered;
	u32 nr;

	if (!state)
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	entered = known_start(state->enter);
	if (entered && (calls_mode() != CALLS_NONE || is_slow(entered, now))) {
		nr = regs->orig_ax;
		spec = spec_of(nr);
		if (spec && !(spec->flags & SPEC_SKIP)) {
			bool leaves = nr == 60 || nr == 231; /* exit, exit_group */

			write_call(state, regs, spec, RECORD_CALL, nr, entered, now, 0,
				   CALL_NO_EXIT | (leaves ? 0 : CALL_KILLED));
		}
		state->enter = 0;
	}
	return 0;
}

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define PF_KTHREAD 0x200000

/* How long a thread that sleeps has not been on a CPU, ns: 0 where the kernel keeps no times of it (CONFIG_SCHED_INFO). Its clock is
 * the scheduler's, which no program reads: our own thread, which came to a CPU just now, tells the time on it. */
static __always_inline u64 asleep_ns(struct task_struct *task)
{
	struct task_struct *own = bpf_get_current_task_btf();
	u64 then, now;

	if (!bpf_core_field_exists(task->sched_info.last_arrival))
		return 0;
	then = task->sched_info.last_arrival;
	now = own->sched_info.last_arrival;
	return then && now > then ? now - then : 0;
}

/* The calls that the watched threads are in as the recording ends. What their arguments point to is read by the drain
 * (crates/record/src/bpf/in_flight.rs). */
SEC("iter/task")
int calls_in_flight(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_state *state;
	struct call_record *call;
	struct call_spec *spec;
	struct pt_regs *regs;
	u64 now, entered, dur = 0;
	u32 nr, flags = CALL_NO_EXIT;

	if (!task)
		return 0;
	state = state_of(task);
	if (!state)
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	entered = known_start(state->enter);
	if (!entered) {
		/* Who waits all along is in a call that it entered before, unless it waits elsewhere (a page fault: then the
		 * kernel has -1 for the number). */
		/* A thread of the kernel makes no calls; its registers may all be 0, as of a read (Linux 6.1). */
		if (task->flags & PF_KTHREAD)
			return 0;
		if (!(task->__state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)) || (s64)regs->orig_ax < 0)
			return 0;
		flags |= CALL_NO_ENTER;
	}
	nr = regs->orig_ax;
	spec = spec_of(nr);
	if (!spec || spec->flags & SPEC_SKIP)
		return 0;
	now = bpf_ktime_get_ns();
	call = rare_reserve(sizeof(*call), RECORD_CALL, now);
	if (!call)
		return 0;
	if (entered)
		dur = elapsed(entered, now);
	call->head.length = sizeof(*call);
	call->head.kind = RECORD_CALL;
	call->head.flags = flags;
	call->head.tid = task->pid;
	call->head.ts = now;
	call->dur_low = dur;
	call->nr = nr;
	call->args_dur = 6 | (dur >> 32 > 0x1fff ? 0x1fff : dur >> 32) << 3;
	/* It returned nothing yet: of one that began before, how long its thread has slept in it. */
	call->ret = flags & CALL_NO_ENTER ? asleep_ns(task) : 0;
	load_args(regs, call->args);
	if (task->thread_info.status & TS_COMPAT)
		call->head.flags |= CALL_COMPAT;
	bpf_ringbuf_submit(call, BPF_RB_NO_WAKEUP);
	return 0;
}
#endif
