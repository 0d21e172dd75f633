//! The time of threads that is not waiting for work.

use crate::Spent;
use crate::counts::CountedCalls;
use crate::figures::Counted;
use crate::parts::{Part, Wait};
use crate::states::{self, Owner};
use crate::unseen::{SAMPLE, Unseen, WaitStacks, uninterruptible};
use hashbrown::{HashMap, HashSet};
use whyslow_facts::folds::account::{CallTime, Parts, ThreadAccount};
use whyslow_facts::folds::graph::Resource;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{Facts, ProcessId, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{Known, SaturatingSum, Syscall, TimeOf, TimeState};

/// The parts of all threads, or of those of some processes; `None` where no time is known.
pub(crate) fn spent<'a>(facts: &'a Facts, only: Option<&[ProcessId]>) -> Option<Spent<'a>> {
    let is_meant = |process: ProcessId| only.is_none_or(|only| only.contains(&process));
    let owners = owners(facts);
    let threads = || facts.world.threads.iter().filter(|(_, thread)| thread.is_active());
    let counted = Counted::new(facts);
    let stacks = WaitStacks::new(facts);
    let within = Within::new(facts, is_meant);
    let mut spent =
        Spent { of: TimeOf::Threads, count: 0, parts: Vec::new(), idle_ns: 0, requests: Vec::new() };
    let live = threads().filter(|(_, thread)| is_meant(thread.process)).filter_map(|(id, thread)| {
        let account = facts.accounts.of(id).filter(|account| account.tid == thread.tid)?;
        Some((account, thread.process, Some(thread)))
    });
    let ended = facts.accounts.ended().iter().filter(|account| is_meant(account.process));
    let all = live.chain(ended.map(|account| (account, account.process, None)));
    for (account, process, thread) in all {
        spent.count += 1;
        let owner = owners.get(&process).copied().unwrap_or_default();
        let (counted, stacks, within) = (&counted, &stacks, &within);
        let mut one = One { facts, owner, process, counted, stacks, within, spent: &mut spent };
        one.thread(account, thread);
    }
    (!spent.parts.is_empty() || spent.idle_ns > 0).then_some(spent)
}

/// What the process of each active thread is.
pub(crate) fn owners(facts: &Facts) -> HashMap<ProcessId, Owner> {
    let mut owners: HashMap<ProcessId, Owner> = HashMap::new();
    let serving = states::serving(facts);
    let demand = whyslow_facts::demand::demand(facts);
    // A request may be open for hours, and a caller may wait for what is not ready: these alone make no wait a slow one.
    let lasts = demand.queues.iter().filter(|queue| queue.kind.is_sampled() && queue.lasts());
    let wanted = lasts.filter_map(|queue| queue.pid);
    let wanted: HashSet<ProcessId> = wanted.filter_map(|pid| facts.world.threads.last_process(pid)).collect();
    let threads = || facts.world.threads.iter().filter(|(_, thread)| thread.is_active());
    let mut active: HashMap<ProcessId, u64> = HashMap::new();
    for (_, thread) in threads() {
        *active.entry(thread.process).or_default() += thread.merged;
    }
    // Whose child was there before the recording is known by its number.
    let parent = |process: &ProcessId| {
        let process = facts.world.threads.process(*process);
        process.parent.or_else(|| facts.world.threads.last_process(process.parent_pid?))
    };
    let parents: HashSet<ProcessId> = active.keys().filter_map(parent).collect();
    for (process, count) in &active {
        let (serves, is_wanted) = (serving.contains(process), wanted.contains(process));
        let has_children = parents.contains(process);
        owners.insert(*process, Owner { serves, has_others: *count > 1, has_children, is_wanted });
    }
    owners
}

/// Waits at pipes by thread and pipe: how long, and how long those were that another process of the account ended, ns. A pipeline's time
/// is that of the process that the others wait for.
struct Within(HashMap<(Tid, ObjectId), (u64, u64)>);

impl Within {
    /// From this part of the waits on nobody else is waited for.
    const NEARLY_ALL: f64 = 0.9;

    /// `is_meant`: the processes of the account. What others do is no part of it.
    fn new(facts: &Facts, is_meant: impl Fn(ProcessId) -> bool) -> Within {
        let mut waits: HashMap<(Tid, ObjectId), (u64, u64)> = HashMap::new();
        for call in facts.graph.calls().filter(|call| matches!(call.what, Resource::Pipe(_))) {
            let by = call.waker.and_then(|waker| facts.world.threads.thread_of(waker.tid));
            let is_within = by.is_some_and(|by| by.process != call.process && is_meant(by.process));
            let (all, within) = waits.entry((call.tid, call.object)).or_default();
            let ns = call.dur().or_zero();
            *all = all.saturating_add(ns);
            *within = within.saturating_add(if is_within { ns } else { 0 });
        }
        Within(waits)
    }

    fn is_handed(&self, tid: Tid, object: ObjectId) -> bool {
        let waits = self.0.get(&(tid, object));
        waits.is_some_and(|(all, within)| *within as f64 >= Self::NEARLY_ALL * *all as f64 && *within > 0)
    }
}

/// One thread's parts.
struct One<'s, 'a> {
    facts: &'a Facts,
    owner: Owner,
    process: ProcessId,
    counted: &'s Counted,
    stacks: &'s WaitStacks<'a>,
    within: &'s Within,
    spent: &'s mut Spent<'a>,
}

impl<'a> One<'_, 'a> {
    fn thread(&mut self, account: &'a ThreadAccount, thread: Option<&'a ThreadFacts>) {
        let sched = thread.and_then(|thread| thread.sched.as_deref());
        let mut throttled = Throttled(sched.map_or(0, |sched| sched.throttled_ns));
        let tid = account.tid;
        let counted = thread.map(|thread| self.facts.accounts.counted(thread.first, thread.last));
        let life = counted.map_or(0, |(first, last)| last.since(first).or_zero());
        let told = account.total();
        let (mut idle_ns, mut not_told_ns) = (0u64, 0u64);
        let mut waits = Vec::new();
        for time in &account.calls {
            let kind = self.facts.accounts.objects.get(time.key.object).kind;
            let Parts { on_cpu_ns, runnable_ns, blocked_ns, uninterruptible_ns, unsplit_ns, unknown_ns } =
                time.parts;
            let call = Some(self.facts.name_of(time.key.syscall));
            let stacks = self.stacks.shares.get(&(self.process, tid, call));
            let state = states::of_stacks(states::of_wait(time.key.waits, kind), time.key.waits, stacks);
            let mut waited = blocked_ns.saturating_add(uninterruptible_ns);
            match time.key.waits {
                Some(_) => waited = waited.saturating_add(unsplit_ns),
                None => self.call(tid, states::of_unsplit(time, kind), unsplit_ns, time),
            }
            let idle = match state {
                // What the other end did meanwhile is in the account itself.
                TimeState::Pipe if self.within.is_handed(tid, time.key.object) => waited,
                _ => states::for_work(state, kind, time, waited, told, self.owner, stacks).min(waited),
            };
            idle_ns = idle_ns.saturating_add(idle);
            self.call(tid, state, waited - idle, time);
            // A wait for as long as nobody looked tells nothing of what was done else.
            if time.key.waits.is_some() && (!time.under_way || time.calls.count >= SAMPLE) {
                waits.push(Wait { time, state, asleep_ns: blocked_ns, idle: part_of(idle, waited) });
            }
            self.call(tid, TimeState::Kernel, on_cpu_ns, time);
            self.queued(tid, runnable_ns, &mut throttled);
            not_told_ns = not_told_ns.saturating_add(unknown_ns);
        }
        let Parts { on_cpu_ns, runnable_ns, blocked_ns, uninterruptible_ns, unsplit_ns, unknown_ns } =
            account.outside;
        let (mut on_cpu_ns, mut blocked_ns, mut deep_ns) = (on_cpu_ns, blocked_ns, uninterruptible_ns);
        if let Some(thread) = thread {
            let mut counted = CountedCalls::of(self.facts, thread);
            let devices = counted.devices(deep_ns);
            deep_ns -= devices.iter().map(|part| part.ns).saturating_sum();
            self.spent.parts.extend(devices);
            let given = counted.give_out((on_cpu_ns, blocked_ns), self.owner, &waits);
            (on_cpu_ns, blocked_ns) = (given.on_cpu_ns, given.blocked_ns);
            idle_ns = idle_ns.saturating_add(given.idle_ns);
            self.spent.parts.extend(given.parts);
        }
        self.plain(tid, TimeState::User, on_cpu_ns);
        self.queued(tid, runnable_ns, &mut throttled);
        let deep = uninterruptible(self.facts, (self.process, tid), &account.calls, self.stacks, deep_ns);
        self.spent.parts.extend(deep);
        self.between(tid, unsplit_ns, life);
        // It sleeps in a call that the capture does not show.
        let unseen = Unseen::of(self.facts, (self.process, tid), self.owner, self.stacks, &waits, blocked_ns);
        let (parts, idle) = unseen.map_or((Vec::new(), 0), |unseen| unseen.give_out(blocked_ns));
        blocked_ns -= parts.iter().map(|part| part.ns).saturating_sum().saturating_add(idle).min(blocked_ns);
        idle_ns = idle_ns.saturating_add(idle);
        self.spent.parts.extend(parts);
        let unseen = blocked_ns.saturating_add(unknown_ns);
        let rest = life.saturating_sub(told);
        not_told_ns = not_told_ns.saturating_add(unseen).saturating_add(rest);
        // Who waits for work by all of its stacks sleeps for it also where the capture does not show the call, and was there for at least so long.
        let of_work = self.of_work_ns(tid);
        let asleep = if of_work > 0 { blocked_ns } else { 0 };
        let of_work = of_work.saturating_sub(idle_ns).max(asleep).min(not_told_ns);
        self.plain(tid, TimeState::Unknown, not_told_ns - of_work);
        self.spent.idle_ns = self.spent.idle_ns.saturating_add(idle_ns).saturating_add(of_work);
    }

    /// What a thread waited for work by its stacks, ns; 0 of a thread that waited for something else, too.
    fn of_work_ns(&self, tid: Tid) -> u64 {
        if self.owner.is_wanted && !self.owner.has_others {
            return 0;
        }
        let (mut work_ns, mut other_ns) = (0u64, 0u64);
        for (_, shares) in
            self.stacks.shares.iter().filter(|((process, of, _), _)| (*process, *of) == (self.process, tid))
        {
            work_ns = work_ns.saturating_add(shares.work_ns);
            other_ns = other_ns.saturating_add(shares.total_ns() - shares.work_ns);
        }
        if other_ns == 0 { work_ns } else { 0 }
    }

    fn call(&mut self, tid: Tid, state: TimeState, ns: u64, time: &'a CallTime) {
        if ns > 0 {
            let known = time.key.syscall != Syscall::UNLISTED;
            let part = Part::new(self.process, tid, state, ns).in_call(time.key, Some(time));
            let how = match (time.is_at_most, time.under_way) {
                (true, _) => Known::AtMost,
                (false, true) => Known::AtLeast,
                (false, false) => Known::Exact,
            };
            let part = Part { call: part.call.filter(|_| known), known: how, ..part };
            self.spent.parts.push(part);
        }
    }

    fn plain(&mut self, tid: Tid, state: TimeState, ns: u64) {
        if ns > 0 {
            self.spent.parts.push(Part::new(self.process, tid, state, ns));
        }
    }

    /// Outside of calls: as far as counters of the thread tell, what it waited for a CPU is told apart.
    fn between(&mut self, tid: Tid, ns: u64, life_ns: u64) {
        let queued = self.counted.queued_ns(tid, ns, life_ns).unwrap_or(0);
        if queued > 0 {
            let part = Part::new(self.process, tid, TimeState::RunQueue, queued);
            self.spent.parts.push(Part { known: Known::InProportion, ..part });
        }
        self.plain(tid, TimeState::BetweenCalls, ns - queued);
    }

    fn queued(&mut self, tid: Tid, ns: u64, throttled: &mut Throttled) {
        let stopped = throttled.take(ns);
        self.plain(tid, TimeState::Throttled, stopped);
        self.plain(tid, TimeState::RunQueue, ns - stopped);
    }
}

fn part_of(ns: u64, whole: u64) -> f64 {
    if whole > 0 { ns as f64 / whole as f64 } else { 0.0 }
}

/// What of a thread's time in the run queue was for its quota, as far as it was not given out.
struct Throttled(u64);

impl Throttled {
    fn take(&mut self, ns: u64) -> u64 {
        let taken = ns.min(self.0);
        self.0 -= taken;
        taken
    }
}
