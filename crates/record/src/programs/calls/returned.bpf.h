/* Stacks of waits, taken as the call that waited returns: nothing of them has changed meanwhile. */
#ifndef WHYSLOW_RETURNED_H
#define WHYSLOW_RETURNED_H
#include "../../bpf/frame_list.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} returned_room SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} returned_copy SEC(".maps");

/* From where in the program the call was made that has just waited long (sched/waits.bpf.h). */
static __noinline int tell_wait_stack(u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 zero = 0;
	struct stack_record *room = bpf_map_lookup_elem(&returned_room, &zero);
	long bytes;

	if (!room)
		return 0;
	if (settings.stack_copies) {
		copy_frames(task, now);
		copy_stack(bpf_map_lookup_elem(&returned_copy, &zero), task, COPY_OF_WAIT, now);
	}
	bytes = bpf_get_task_stack(task, room->frames, STACK_BYTES, BPF_F_USER_STACK);
	write_stack(room, RECORD_WAIT_STACK, 0, task, 0, 0, stack_part(bytes), now);
	rare_spent(RECORD_WAIT_STACK, now, 1);
	return 0;
}
#endif
