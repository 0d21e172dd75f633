/* What runs on each CPU, at a fixed rate: the stacks of the watched threads. */
#include "../../bpf/stack.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} sample_room SEC(".maps");

/* Bytes of a stack that are copied: frames of a hundred functions, as a rule. */
#define COPY_BYTES 16384

struct stack_copy {
	struct record head;
	u32 pid;
	u32 bytes; /* of the stack, from its top */
	u64 ip;
	u64 sp;
	u64 bp;
	u64 leaf[4]; /* r9, r12, r13, r14: where interpreters are */
	char stack[COPY_BYTES];
};
#define COPY_FIXED (sizeof(struct stack_copy) - COPY_BYTES)

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} copy_room SEC(".maps");

/* Many programs keep no frame pointers, and languages have stacks of their own: what unwinds those goes along. */
static __always_inline void copy_stack(struct task_struct *task, u64 now)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	u32 zero = 0, bytes = COPY_BYTES, length;
	struct stack_copy *room = bpf_map_lookup_elem(&copy_room, &zero);

	if (!room || !task->mm)
		return;
	room->ip = BPF_CORE_READ(regs, ip);
	room->sp = BPF_CORE_READ(regs, sp);
	room->bp = BPF_CORE_READ(regs, bp);
	room->leaf[0] = BPF_CORE_READ(regs, r9);
	room->leaf[1] = BPF_CORE_READ(regs, r12);
	room->leaf[2] = BPF_CORE_READ(regs, r13);
	room->leaf[3] = BPF_CORE_READ(regs, r14);
	/* Near the end of a thread's stack there is less. */
	if (bpf_probe_read_user(room->stack, COPY_BYTES, (void *)room->sp)) {
		bytes = COPY_BYTES / 4;
		if (bpf_probe_read_user(room->stack, COPY_BYTES / 4, (void *)room->sp)) {
			bytes = COPY_BYTES / 16;
			if (bpf_probe_read_user(room->stack, COPY_BYTES / 16, (void *)room->sp))
				bytes = 0;
		}
	}
	length = COPY_FIXED + bytes;
	begin_record(&room->head, length, RECORD_STACK_COPY, 0, task->pid, now);
	room->pid = task->tgid;
	room->bytes = bytes;
	if (length > sizeof(*room))
		return;
	rare_count(RECORD_STACK_COPY, bpf_ringbuf_output(&rare_ring, room, length, BPF_RB_NO_WAKEUP) != 0, now);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack_record *room;
	struct control *limits = control_now();
	u32 zero = 0, kernel, user, every;
	u64 now;

	if (!state_of(task) || !settings.sample_hz || !limits)
		return 0;
	now = bpf_ktime_get_ns();
	every = limits->sample_every;
	if (every > 1 && bpf_get_prandom_u32() % every) {
		rare_refused(RECORD_SAMPLE);
		return 0;
	}
	room = bpf_map_lookup_elem(&sample_room, &zero);
	if (!room)
		return 0;
	kernel = stack_part(bpf_get_stack(ctx, room->frames, STACK_BYTES, 0));
	user = stack_part(bpf_get_stack(ctx, (char *)room->frames + kernel, STACK_BYTES, BPF_F_USER_STACK));
	write_stack(room, RECORD_SAMPLE, 0, task, 1000000000ull / settings.sample_hz * (every ? every : 1), kernel, user,
		    now);
	if (settings.stack_copies)
		copy_stack(task, now);
	rare_spent(RECORD_SAMPLE, now, 1);
	return 0;
}
