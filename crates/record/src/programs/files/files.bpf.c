/* What the watched threads read, write, sync and open, added up by thread, file and operation; of sockets by thread, service
 * and operation. A file's path is told once, while it is open: of one that is gone a moment later too. Where calls are recorded all
 * along, their program adds them up (calls/calls.bpf.c): these here are for recordings that may give up one and not the other. */
#include "call.bpf.h"

static __always_inline int on_enter(struct pt_regs *regs, u64 nr)
{
	struct task_state *state;

	if (!role_of(nr))
		return 0;
	state = state_of_caller(regs);
	if (state && is_on(PART_FILES))
		state->file_enter = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int on_exit(struct pt_regs *regs, s64 ret)
{
	struct task_state *state;
	u32 role = role_of(regs->orig_ax);
	u64 entered, now;

	if (!role)
		return 0;
	state = state_of_caller(regs);
	if (!state)
		return 0;
	entered = state->file_enter;
	state->file_enter = 0;
	now = bpf_ktime_get_ns();
	add_returned(regs, role, ret, entered, now);
	if (is_timed(now))
		rare_spent(RECORD_FILE, now, TIMED_EACH);
	return 0;
}

SEC("tp_btf/sys_enter")
int files_enter(u64 *ctx)
{
	return on_enter((struct pt_regs *)ctx[0], ctx[1]);
}

SEC("tp_btf/sys_exit")
int files_exit(u64 *ctx)
{
	return on_exit((struct pt_regs *)ctx[0], ctx[1]);
}

/* For kernels that load no typed tracepoints. */
SEC("raw_tp/sys_enter")
int files_enter_raw(u64 *ctx)
{
	return on_enter((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx[1]);
}

SEC("raw_tp/sys_exit")
int files_exit_raw(u64 *ctx)
{
	return on_exit((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx[1]);
}
