/* A call on a file or a socket, as it returns: which rows it is added to. */
#ifndef WHYSLOW_FILES_CALL_H
#define WHYSLOW_FILES_CALL_H
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

/* Adds a call of the running thread that returned `ret` to the rows of its files. `entered`: 0 where that was not seen. */
static __always_inline int add_returned(struct pt_regs *regs, u32 role, s64 ret, u64 entered, u64 now)
{
	struct file_call call = { .ret = ret, .entered = entered, .now = now, .at = place_of_call(regs) };
	u32 fd = regs->di, from = 0, operation = FILE_WRITE;

	if (is_compat(regs))
		return 0;
	if (!is_on(PART_FILES)) {
		rare_refused(RECORD_FILE);
		return 0;
	}
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
	return add_call(&call, fd, operation);
}
#endif
