/* Every syscall of the watched threads: in full, or counted. Enter leaves the time in the thread's state; exit reads the
 * registers (the kernel keeps the arguments in them), the memory that the call's specification names, and writes one
 * record into its CPU's ring. */
#include "../../bpf/watch.bpf.h"
#include "../../bpf/compat.bpf.h"
#include "../../bpf/inode.bpf.h"
#include "pieces.bpf.h"
#include "counts.bpf.h"
#include "detail.bpf.h"
#include "returned.bpf.h"
#include "../files/call.bpf.h"
#include "write.bpf.h"

static __always_inline int on_enter(struct pt_regs *regs, u32 nr)
{
	struct task_state *state = state_of_caller(regs);
	struct call_spec *spec;

	if (!state) {
		if (!settings.all)
			return 0;
		struct task_struct *task = bpf_get_current_task_btf();

		state = is_ours(task) ? NULL : watch(task);
		if (!state)
			return 0;
	}
	spec = spec_of(nr);
	if (spec && spec->flags & (SPEC_ENTER | SPEC_FUTEX)) {
		if (spec->flags & SPEC_FUTEX) {
			/* Only who is going to wait has an owner to name. */
			if (waits_for_futex(regs->si))
				bpf_probe_read_user(state->futex, sizeof(state->futex), (void *)regs->di);
		} else if (calls_mode() != CALLS_NONE && !(spec->flags & SPEC_SKIP)) {
			u64 now = bpf_ktime_get_ns();

			write_call(state, regs, spec, RECORD_ENTER, nr, 0, now, 0,
				   CALL_NO_EXIT | compat_flag(regs));
		}
	}
	state->enter = bpf_ktime_get_ns();
	return 0;
}

/* A thread begins by returning from the clone, fork, vfork or clone3 that its parent has made: no call of its own. */
static __always_inline bool is_birth(u32 nr, s64 ret)
{
	return ret == 0 && (nr == 56 || nr == 57 || nr == 58 || nr == 435);
}

/* A call returned that was entered at `entered`, 0 where not seen. */
static __always_inline int call_returned(struct task_state *state, struct pt_regs *regs, s64 ret, u64 entered, u64 now)
{
	struct call_spec *spec;
	u32 nr = regs->orig_ax, flags = 0, mode, waited = state->wait_stack;
	bool has_waited = (waited & WAIT_STACK_WORD) == WAIT_STACK_WANTED;
	/* A number of the 32-bit table is another call's. */
	bool wants_stack = !has_waited && entered && settings.wait_stacks && wants_call_stack(nr, now) &&
			   !compat_flag(regs);
	/* Stacks are timed by themselves. */
	bool timed = is_timed(now) && !has_waited && !wants_stack;

	if (has_waited) {
		state->wait_stack = WAIT_STACK_NONE;
		tell_wait_stack(waited >> WAIT_MAGNITUDE, now);
	}
	if (wants_stack)
		tell_call_stack(nr, elapsed(entered, now), now);
	spec = spec_of(nr);
	mode = calls_mode();
	/* What ends while the recording is being ended was under way at its end. */
	if (!spec || (mode == CALLS_NONE && !is_slow(entered, now)) || spec->flags & SPEC_SKIP)
		return 0;
	if (!entered) {
		if (is_birth(nr, ret))
			return 0;
		flags |= CALL_NO_ENTER;
	}
	flags |= compat_flag(regs);
	/* A call is counted or recorded, never both, so that the two add up. One that had begun before is recorded: whose it is,
	 * such as a child's wait for its start, is decided later. */
	if (mode == CALLS_COUNT && !(spec->flags & SPEC_STATE) && entered) {
		u64 took = elapsed(entered, now);
		bool is_quick = took < settings.slow_call;

		if (is_quick ? !has_room_for_detail(now) : !has_room_for_slow(took, now)) {
			count_call(state->tid, nr, entered, now, ret);
			return 0;
		}
		if (is_quick)
			flags |= CALL_DETAIL;
	}
	write_call(state, regs, spec, RECORD_CALL, nr, entered, now, ret, flags);
	if (timed)
		rare_spent(RECORD_CALL, now, TIMED_EACH);
	return 0;
}

static __always_inline int on_exit(struct pt_regs *regs, s64 ret, bool with_files)
{
	struct task_state *state = state_of_caller(regs);
	u64 entered, now, since;
	u32 role;

	if (!state)
		return 0;
	now = bpf_ktime_get_ns();
	entered = known_start(state->enter);
	state->enter = 0;
	call_returned(state, regs, ret, entered, now);
	role = with_files ? role_of(regs->orig_ax) : 0;
	if (!role)
		return 0;
	since = is_timed(now) ? bpf_ktime_get_ns() : 0;
	add_returned(regs, role, ret, entered, now);
	if (since)
		rare_spent(RECORD_FILE, since, TIMED_EACH);
	return 0;
}

SEC("tp_btf/sys_enter")
int calls_enter(u64 *ctx)
{
	return on_enter((struct pt_regs *)ctx[0], ctx[1]);
}

SEC("tp_btf/sys_exit")
int calls_exit(u64 *ctx)
{
	return on_exit((struct pt_regs *)ctx[0], ctx[1], false);
}

/* The same where files are recorded too, and neither may be given up: one program costs less than two. */
SEC("tp_btf/sys_exit")
int calls_exit_files(u64 *ctx)
{
	return on_exit((struct pt_regs *)ctx[0], ctx[1], true);
}

/* For kernels that load no typed tracepoints. */
SEC("raw_tp/sys_enter")
int calls_enter_raw(u64 *ctx)
{
	return on_enter((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx[1]);
}

SEC("raw_tp/sys_exit")
int calls_exit_raw(u64 *ctx)
{
	return on_exit((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx[1], false);
}

SEC("raw_tp/sys_exit")
int calls_exit_files_raw(u64 *ctx)
{
	return on_exit((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), ctx[1], true);
}

#include "in_flight.bpf.h"
