/* What runs on each CPU, at a fixed rate: the stacks of the watched threads. */
#define FRAMES_ROOM sampled_frames_room
#include "../../bpf/frame_list.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_record);
} sample_room SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} copy_room SEC(".maps");

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
	if (settings.stack_copies) {
		copy_frames(now);
		copy_stack(bpf_map_lookup_elem(&copy_room, &zero), task, 0, now);
	}
	rare_spent(RECORD_SAMPLE, now, 1);
	return 0;
}
