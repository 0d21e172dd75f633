//! The time of calls that were only counted, by thread and kind: what of a thread's time on a CPU was work of the kernel for it, and in
//! which calls it slept.

use crate::parts::{Part, Wait};
use crate::states::{self, Owner};
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::slow_files::asks_device;
use whyslow_facts::{Facts, ProcessId, ThreadFacts, WaitKind};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Waits;
use whyslow_model::{CallStats, Known, Nanos, SaturatingSum, Syscall, TimeState};

/// Calls that are only counted are shorter than those that are recorded one by one: what they wait for is told by the latter, as far as
/// some of these took no longer. Four times the millisecond from which on the recorder keeps each.
const SHORT: Nanos = Nanos::from_millis(4);

/// What counts tell of one thread.
pub(crate) struct CountedCalls {
    process: ProcessId,
    tid: Tid,
    calls: Vec<Counts>,
}

/// Calls of one kind.
struct Counts {
    syscall: Syscall,
    count: u64,
    ns: u64,
    waits: May,
}

/// Whether such calls sleep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Sleep,
    SleepOrWork,
    Work,
}

impl May {
    /// Shorter calls did not sleep: to give a CPU up and to get one back takes some microseconds by itself.
    const SLEPT: Nanos = Nanos::new(10_000);

    fn of(syscall: Syscall, stats: &CallStats) -> May {
        match syscall.info().waits {
            Waits::Never => May::Work,
            Waits::Always => May::Sleep,
            Waits::ByDescriptor | Waits::ByArguments if stats.mean() < May::SLEPT => May::Work,
            Waits::ByDescriptor | Waits::ByArguments => May::SleepOrWork,
        }
    }
}

/// What of a thread's time is told now, and what is left of it, ns.
pub(crate) struct Given<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    /// On a CPU, in no call that is known.
    pub(crate) on_cpu_ns: u64,
    /// Asleep, nobody knows in what.
    pub(crate) blocked_ns: u64,
    /// Asleep for work.
    pub(crate) idle_ns: u64,
}

impl CountedCalls {
    pub(crate) fn of(facts: &Facts, thread: &ThreadFacts) -> CountedCalls {
        let all = match &thread.counted {
            Some(counted) => Some(&**counted),
            // The counts stand for calls where none was recorded.
            None => (facts.world.calls == 0 && facts.world.counted > 0).then_some(&thread.by_syscall),
        };
        let calls = all.into_iter().flat_map(|table| table.iter());
        let calls = calls.map(|(syscall, stats)| Counts {
            syscall,
            count: stats.count,
            ns: whole_ns(stats),
            waits: May::of(syscall, stats),
        });
        let calls = calls.filter(|one| one.ns > 0);
        CountedCalls { process: thread.process, tid: thread.tid, calls: calls.collect() }
    }

    /// Gives out sleep that no signal ends to the counted calls that return when a device has what was written, at most what these took.
    pub(crate) fn devices<'w>(&mut self, ns: u64) -> Vec<Part<'w>> {
        let is_device = |one: &Counts| asks_device(one.syscall);
        let all = self.calls.iter().filter(|one| is_device(one)).map(|one| one.ns).saturating_sum();
        let slept = ns.min(all);
        let mut parts = Vec::new();
        for at in 0..self.calls.len() {
            let one = &self.calls[at];
            let ns = if is_device(one) { part(slept, one.ns, all) } else { 0 };
            if ns > 0 {
                parts.push(self.part(TimeState::File, ns, one));
                self.calls[at].ns -= ns;
            }
        }
        parts
    }

    /// Gives out what the thread slept in counted calls and what it ran in them. What such a call took beyond its sleep it ran, or waited
    /// for a CPU, so that it is no more than the thread ran in calls that nobody recorded.
    pub(crate) fn give_out<'w>(
        &self,
        (on_cpu_ns, blocked_ns): (u64, u64),
        owner: Owner,
        waits: &[Wait<'w>],
    ) -> Given<'w> {
        let mut given = Given { parts: Vec::new(), on_cpu_ns, blocked_ns, idle_ns: 0 };
        let mut ran: Vec<(&Counts, u64)> = Vec::new();
        for kind in [May::Sleep, May::SleepOrWork, May::Work] {
            let of_kind = || self.calls.iter().filter(|one| one.waits == kind);
            let all = of_kind().map(|one| one.ns).saturating_sum();
            let asleep = if kind == May::Work { 0 } else { given.blocked_ns.min(all) };
            for one in of_kind() {
                let slept = part(asleep, one.ns, all);
                if slept > 0 {
                    self.sleeps(one, slept, owner, waits, &mut given);
                }
                ran.push((one, one.ns - slept));
            }
        }
        let whole = ran.iter().map(|(_, ns)| *ns).saturating_sum();
        let most = on_cpu_ns.min(whole);
        for (one, ns) in ran {
            let ns = part(most, ns, whole);
            if ns > 0 {
                given.on_cpu_ns -= ns;
                given.parts.push(self.part(TimeState::Kernel, ns, one));
            }
        }
        given
    }

    /// What a thread slept in short calls of one kind: on what the shortest of those that were recorded one by one did, else on something
    /// that has no name.
    fn sleeps<'w>(&self, of: &Counts, ns: u64, owner: Owner, waits: &[Wait<'w>], given: &mut Given<'w>) {
        let syscall = of.syscall;
        let is_like = |wait: &&Wait<'w>| {
            let shortest = wait.time.calls.min();
            wait.time.key.syscall == syscall && shortest.is_known() && shortest <= SHORT
        };
        let count: u64 = waits.iter().filter(is_like).map(|wait| wait.time.calls.count).saturating_sum();
        if count > 0 {
            for wait in waits.iter().filter(is_like) {
                let ns = part(ns, wait.time.calls.count, count);
                let idle = ((ns as f64 * wait.idle) as u64).min(ns);
                given.blocked_ns -= ns;
                given.idle_ns += idle;
                if ns > idle {
                    let new = Part::new(self.process, self.tid, wait.state, ns - idle);
                    let new = new.in_call(wait.time.key, Some(wait.time));
                    given.parts.push(Part { known: Known::InProportion, ..new });
                }
            }
            return;
        }
        let Some(kind) = WaitKind::of_name(syscall) else {
            given.blocked_ns -= ns;
            given.parts.push(self.part(TimeState::KernelWait, ns, of));
            return;
        };
        match states::of_wait(Some(kind), ObjectKind::Nothing) {
            // A server may poll for work or for an answer: nobody tells.
            TimeState::Poll if owner.serves => {}
            TimeState::Accept | TimeState::Event => {
                given.blocked_ns -= ns;
                given.idle_ns += ns;
            }
            state => {
                given.blocked_ns -= ns;
                given.parts.push(self.part(state, ns, of));
            }
        }
    }

    fn part<'w>(&self, state: TimeState, ns: u64, of: &Counts) -> Part<'w> {
        let call = Some(of.syscall).filter(|call| *call != Syscall::UNLISTED);
        let new = Part::new(self.process, self.tid, state, ns);
        Part { call, counted: of.count, known: Known::InProportion, ..new }
    }
}

/// What all calls of one kind took, ns: those that were not timed as long as the others.
fn whole_ns(stats: &CallStats) -> u64 {
    match stats.timed {
        0 => 0,
        timed if timed >= stats.count => stats.total_ns,
        timed => part(stats.total_ns, stats.count, timed),
    }
}

/// `ns * of / whole`.
fn part(ns: u64, of: u64, whole: u64) -> u64 {
    (u128::from(ns) * u128::from(of) / u128::from(whole.max(1))) as u64
}
