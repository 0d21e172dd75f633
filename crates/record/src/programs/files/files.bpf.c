/* What the watched threads read, write, sync and open, added up by thread, file and operation; of sockets by thread, service
 * and operation. A file's path is told once, while it is open: of one that is gone a moment later too. */
#include "../../bpf/compat.bpf.h"
#include "rows.bpf.h"

/* What a call does with which of its arguments. */
enum { READS = 1, WRITES = 2, SYNCS = 3, OPENS = 4, SENDS = 5, COPIES = 6 };

/* arch/x86/entry/syscalls/syscall_64.tbl */
static __always_inline u32 role_of(u64 nr)
{
	switch (nr) {
	case 0: /* read */
	case 17: /* pread64 */
	case 19: /* readv */
	case 295: /* preadv */
	case 327: /* preadv2 */
	case 45: /* recvfrom */
	case 47: /* recvmsg */
		return READS;
	case 1: /* write */
	case 18: /* pwrite64 */
	case 20: /* writev */
	case 296: /* pwritev */
	case 328: /* pwritev2 */
	case 44: /* sendto */
	case 46: /* sendmsg */
		return WRITES;
	case 74: /* fsync */
	case 75: /* fdatasync */
		return SYNCS;
	case 2: /* open */
	case 85: /* creat */
	case 257: /* openat */
	case 437: /* openat2 */
		return OPENS;
	case 40: /* sendfile: to, from */
		return SENDS;
	case 275: /* splice: from, its offset, to */
	case 326: /* copy_file_range: the same */
		return COPIES;
	}
	return 0;
}

/* Where in the file a call reads or writes that says so; of any other where the descriptor stands. */
static __always_inline s64 place_of_call(struct pt_regs *regs)
{
	switch (regs->orig_ax) {
	case 17: /* pread64 */
	case 18: /* pwrite64 */
	case 295: /* preadv */
	case 296: /* pwritev */
	case 327: /* preadv2 */
	case 328: /* pwritev2 */
		return regs->r10;
	}
	return AT_DESCRIPTOR;
}

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
	struct file_call call = { .ret = ret, .at = place_of_call(regs) };
	u32 fd, from = 0, operation = FILE_WRITE;

	if (!role)
		return 0;
	state = state_of_caller(regs);
	if (!state)
		return 0;
	call.entered = state->file_enter;
	state->file_enter = 0;
	if (is_compat(regs))
		return 0;
	if (!is_on(PART_FILES)) {
		rare_refused(RECORD_FILE);
		return 0;
	}
	call.now = bpf_ktime_get_ns();
	fd = regs->di;
	switch (role) {
	case READS:
		operation = FILE_READ;
		break;
	case SYNCS:
		operation = FILE_SYNC;
		break;
	case OPENS:
		/* One that failed opened no file. */
		if (ret < 0)
			return 0;
		fd = ret;
		operation = FILE_OPEN;
		break;
	case SENDS:
		from = regs->si;
		break;
	case COPIES:
		from = fd;
		fd = regs->dx;
		break;
	}
	if (role >= SENDS)
		add_call(&call, from, FILE_READ);
	add_call(&call, fd, operation);
	if (is_timed(call.now))
		rare_spent(RECORD_FILE, call.now, TIMED_EACH);
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
