/* Calls by the 32-bit interface: their numbers are others. */
#ifndef WHYSLOW_COMPAT_H
#define WHYSLOW_COMPAT_H
#include "common.bpf.h"

#define TS_COMPAT 2 /* arch/x86/include/asm/thread_info.h */

/* The instruction SYSCALL leaves the address behind it in two registers (AMD64 manual, volume 3), so that most calls need
 * not be asked further. */
static __always_inline bool is_compat(struct pt_regs *regs)
{
	return regs->cx != regs->ip && bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
}
#endif
