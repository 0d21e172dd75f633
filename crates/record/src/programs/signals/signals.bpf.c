/* Signals as they are delivered to the watched threads. */
#include "../../bpf/common.bpf.h"

#define SIGKILL 9
/* As much of siginfo_t as any signal uses: up to two words behind the child's status (sigaction(2)). */
#define SIGINFO_BYTES 48

struct signal_record {
	struct record head;
	u32 pid;
	u32 has_info;
	char info[SIGINFO_BYTES];
};
TELL_TYPE(struct signal_record, signal_record);

SEC("tp_btf/signal_deliver")
int signal_delivered(u64 *ctx)
{
	u32 number = ctx[0];
	/* Not a pointer where the kernel has nothing to tell: SEND_SIG_NOINFO, SEND_SIG_PRIV (include/linux/signal.h). */
	u64 info = ctx[1];
	struct task_struct *task = bpf_get_current_task_btf();
	struct signal_record *record;
	bool has_info = info > 1;
	u64 now;

	if (!state_of(task))
		return 0;
	/* By this the kernel ends the other threads of a process that exits; who was really killed, the exit tells. */
	if (number == SIGKILL && !has_info)
		return 0;
	now = bpf_ktime_get_ns();
	record = rare_reserve(sizeof(*record), RECORD_SIGNAL, now);
	if (!record)
		return 0;
	begin_record(&record->head, sizeof(*record), RECORD_SIGNAL, number, task->pid, now);
	record->pid = task->tgid;
	record->has_info = has_info && !bpf_probe_read_kernel(record->info, sizeof(record->info), (void *)info);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
