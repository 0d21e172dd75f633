/* Where the watched threads' time goes: on a CPU, waiting for one, blocked; and who woke them from where. A record is
 * written when a thread leaves the CPU, for the whole stretch. All of it runs with interrupts off. */
#include "../../bpf/common.bpf.h"

/* include/linux/sched.h; TASK_DEAD 0x80 is TASK_DEAD, 0x40 and above mixed states */
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define TASK_STOPPED_OR_TRACED 12
#define EXIT_OR_DEAD 0xb0
#define TASK_NOLOAD 0x400

enum { LEFT_RUNNABLE = 0, LEFT_SLEEPING = 1, LEFT_UNINTERRUPTIBLE = 2, LEFT_STOPPED = 3, LEFT_DEAD = 4, LEFT_OTHER = 5 };
enum { FROM_TASK = 0, FROM_HARDIRQ = 1, FROM_SOFTIRQ = 2, FROM_OTHER = 3 };

struct stretch_record {
	struct record head; /* ts: when it left the CPU; flags: how */
	u64 on_cpu; /* ns each; all ones where unknown */
	u64 runnable;
	u64 blocked;
};
TELL_TYPE(struct stretch_record, stretch_record);

struct wakeup_record {
	struct record head; /* tid: the wakee; flags: from where */
	u32 waker;
	u32 pad;
};
TELL_TYPE(struct wakeup_record, wakeup_record);

#define UNKNOWN (~0ull)

#include "waits.bpf.h"

#include "context.bpf.h"
#include "meanwhile.bpf.h"

static __always_inline u32 left_as(bool preempted, u32 state)
{
	if (preempted || state == 0)
		return LEFT_RUNNABLE;
	if (state & EXIT_OR_DEAD)
		return LEFT_DEAD;
	if (state & TASK_STOPPED_OR_TRACED)
		return LEFT_STOPPED;
	if (state & TASK_INTERRUPTIBLE)
		return LEFT_SLEEPING;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? LEFT_OTHER : LEFT_UNINTERRUPTIBLE;
	return LEFT_OTHER;
}

/* Since when the thread that got the CPU at `on_since` had been able to run; UNKNOWN where that was not seen. */
static __always_inline u64 runnable_since(struct task_state *state, u64 on_since)
{
	if (!state->off_since)
		return state->woken && state->woken <= on_since ? state->woken : UNKNOWN;
	if (state->left_as == LEFT_RUNNABLE)
		return state->off_since <= on_since ? state->off_since : on_since;
	return state->woken >= state->off_since && state->woken <= on_since ? state->woken : UNKNOWN;
}

static __always_inline void leaves(struct task_struct *task, struct task_state *state, u32 how, u64 now)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct ring_head *head = bpf_map_lookup_elem(&sched_heads, &cpu);
	char *ring = bpf_map_lookup_elem(&sched_ring, &cpu);
	struct stretch_record *record = NULL;
	u64 runnable = UNKNOWN, blocked = UNKNOWN;

	/* Unless it got the CPU before we looked. */
	if (state->on_since) {
		u64 since = runnable_since(state, state->on_since);

		if (since != UNKNOWN) {
			runnable = state->on_since - since;
			if (state->off_since)
				blocked = state->left_as == LEFT_RUNNABLE ? 0 : since - state->off_since;
		}
	}
	if (head && ring)
		record = (void *)ring_reserve(head, ring, settings.sched_mask, now);
	if (record) {
		record->head.length = sizeof(*record);
		record->head.kind = RECORD_STRETCH;
		record->head.flags = how;
		record->head.tid = task->pid;
		record->head.ts = now;
		record->on_cpu = state->on_since ? elapsed(state->on_since, now) : UNKNOWN;
		record->runnable = runnable;
		record->blocked = blocked;
		ring_commit(head, sizeof(*record));
	}
	state->off_since = now;
	state->left_as = how;
	state->stopped = how == LEFT_RUNNABLE && is_stopped(task);
	state->woken = 0;
	state->on_since = 0;
	if (settings.wait_stacks && is_wait(how)) {
		if (state->wait_stack == WAIT_STACK_TOLD)
			state->wait_stack = WAIT_STACK_NONE;
		if (!state->enter || calls_mode() == CALLS_NONE)
			tell_user_stack(task, state, now);
	}
}

SEC("tp_btf/sched_switch")
int sched_switch(u64 *ctx)
{
	bool preempted = ctx[0];
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	struct task_state *state, *before;
	u64 now = bpf_ktime_get_ns();

	before = state_of(prev);
	if (before)
		leaves(prev, before, left_as(preempted, prev->__state), now);
	turn_ends(prev, now);
	state = state_of(next);
	if (state) {
		u64 since = runnable_since(state, now);

		if (since < now)
			had_meanwhile(next, state, since, now);
		state->on_since = now;
	}
	/* Stacks are timed by themselves. */
	if ((before || state) && is_timed(now))
		rare_spent(RECORD_STRETCH, now, TIMED_EACH);
	if (state && settings.wait_stacks && is_wait(state->left_as) && state->off_since &&
	    elapsed(state->off_since, now) >= settings.long_off)
		wait_over(next, state, now);
	return 0;
}

/* sched_waking runs where the waker does; sched_wakeup may run on the wakee's CPU. */
SEC("tp_btf/sched_waking")
int sched_waking(u64 *ctx)
{
	struct task_struct *wakee = (void *)ctx[0];
	struct task_state *state = state_of(wakee);
	struct task_struct *waker;
	struct wakeup_record *record;
	struct ring_head *head;
	char *ring;
	u32 cpu;
	u64 now;

	if (!state || state->on_since)
		return 0;
	now = bpf_ktime_get_ns();
	if (!state->woken) {
		state->woken = now;
		state->stopped = is_stopped(wakee);
	}
	if (!settings.wakeups)
		return 0;
	if (!is_on(PART_WAKEUPS)) {
		rare_refused(RECORD_WAKEUP);
		return 0;
	}
	cpu = bpf_get_smp_processor_id();
	head = bpf_map_lookup_elem(&sched_heads, &cpu);
	ring = bpf_map_lookup_elem(&sched_ring, &cpu);
	if (!head || !ring)
		return 0;
	record = (void *)ring_reserve_aside(head, ring, settings.sched_mask, now);
	if (!record)
		return 0;
	waker = bpf_get_current_task_btf();
	record->head.length = sizeof(*record);
	record->head.kind = RECORD_WAKEUP;
	record->head.flags = context_of(waker);
	record->head.tid = wakee->pid;
	record->head.ts = now;
	record->waker = waker->pid;
	ring_commit(head, sizeof(*record));
	if (is_timed(now))
		rare_spent(RECORD_WAKEUP, now, TIMED_EACH);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int sched_wakeup_new(u64 *ctx)
{
	struct task_state *state = state_of((void *)ctx[0]);

	/* Its time begins here: it is runnable from now on. */
	if (state && !state->woken)
		state->woken = bpf_ktime_get_ns();
	return 0;
}

#include "running.bpf.h"
