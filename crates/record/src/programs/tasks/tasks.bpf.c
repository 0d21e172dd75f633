/* Who is watched: the threads there are at attach, their children, and programs that start under a name asked for.
 * Tells of each thread's beginning, program and end. */
#include "../../bpf/watch.bpf.h"

struct task_record {
	struct record head;
	u32 pid;
	u32 parent; /* the process that made it */
	s32 exit_code;
	u32 parent_tid;
	char comm[COMM_LENGTH];
};
TELL_TYPE(struct task_record, task_record);

/* Ids to watch: 1 << 32 | thread, or a process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u64);
	__type(value, u32);
} wanted SEC(".maps");

static __always_inline void tell(struct task_struct *task, u32 kind, u32 parent_tid)
{
	u64 now = bpf_ktime_get_ns();
	struct task_record *record = rare_reserve(sizeof(*record), kind, now);

	if (!record)
		return;
	record->head.length = sizeof(*record);
	record->head.kind = kind;
	record->head.flags = 0;
	record->head.tid = task->pid;
	record->head.ts = now;
	record->pid = task->tgid;
	record->parent = task->real_parent->tgid;
	record->parent_tid = parent_tid;
	record->exit_code = task->exit_code;
	bpf_probe_read_kernel(&record->comm, sizeof(record->comm), &task->comm);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Watches a thread; one for which there is no room is counted as lost. */
static __always_inline struct task_state *watch_or_count(struct task_struct *task)
{
	struct task_state *state = watch(task);

	if (!state && !state_of(task))
		rare_count(RECORD_TASK, true, bpf_ktime_get_ns());
	return state;
}

/* Walks over all threads once: run at attach, and again for those that came meanwhile. */
SEC("iter/task")
int watch_wanted(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u64 process, thread;

	if (!task)
		return 0;
	process = task->tgid;
	thread = 1ull << 32 | task->pid;
	if (is_ours(task) && !bpf_map_lookup_elem(&wanted, &thread))
		return 0;
	if (!settings.all && !bpf_map_lookup_elem(&wanted, &process) && !bpf_map_lookup_elem(&wanted, &thread))
		return 0;
	if (state_of(task))
		return 0;
	struct task_state *state = watch_or_count(task);
	if (state) {
		/* One that runs through the whole recording is never seen to get a CPU. */
		if (task->on_cpu)
			state->on_since = bpf_ktime_get_ns();
		tell(task, RECORD_TASK, 0);
	}
	return 0;
}

/* Stops watching everybody: run before the programs go. */
SEC("iter/task")
int forget_all(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		forget(task);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int task_fork(u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_struct *child = (void *)ctx[1];
	bool is_thread = parent->tgid == child->tgid;

	if (!state_of(parent))
		return 0;
	/* Threads of a watched process are watched unless single threads were asked for. */
	if (!settings.follow && !is_thread)
		return 0;
	if (watch_or_count(child))
		tell(child, RECORD_FORK, parent->pid);
	return 0;
}

/* A thread that is not the first of its process takes over that one's id when it runs exec: the first one is gone, and
 * its slot is given back. */
static __always_inline void takes_over(struct task_struct *task, struct task_state *state, u32 before)
{
	u32 *here = slot_of(task->pid), *there = slot_of(before);
	struct task_state *others;
	u32 slot;

	if (before == task->pid || !here || !there)
		return;
	slot = *here;
	others = bpf_map_lookup_elem(&states, &slot);
	*here = state ? state->slot : 0;
	if (slot && others && others != state)
		give_back(others);
	if (state) {
		*there = 0;
		state->tid = task->pid;
	}
}

SEC("tp_btf/sched_process_exec")
int task_exec(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_state *state = state_of_caller((void *)bpf_task_pt_regs(task));

	takes_over(task, state, ctx[1]);
	if (!state) {
		if (!settings.match_comm || is_ours(task))
			return 0;
		char comm[COMM_LENGTH] = {};

		bpf_probe_read_kernel(comm, sizeof(comm), &task->comm);
		for (u32 i = 0; i < COMM_LENGTH; i++) {
			if (comm[i] != settings.comm[i])
				return 0;
			if (!comm[i])
				break;
		}
		if (!watch_or_count(task))
			return 0;
	}
	/* The thread that ran exec takes over the id of the process. */
	tell(task, RECORD_EXEC, ctx[1]);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int task_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_state *state = state_of(task);

	if (state) {
		leave_seat(state);
		tell(task, RECORD_EXIT, 0);
	}
	return 0;
}

/* The kernel has no more use for a thread: it was seen to leave its CPU for the last time. */
SEC("tp_btf/sched_process_free")
int task_free(u64 *ctx)
{
	forget((void *)ctx[0]);
	return 0;
}
