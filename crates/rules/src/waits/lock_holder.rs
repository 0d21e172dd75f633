//! What rules about contended locks share: the part of the waiting, and what the holder does meanwhile: its slow calls,
//! and its stacks where a recorder took them.

use super::queue_locks;
use crate::engine::Report;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_chain::{Explainer, KnotFinder};
use whyslow_facts::folds::graph::LongCall;
use whyslow_facts::folds::handoffs::{HandedLock, Handoffs};
use whyslow_facts::folds::locks::{HeldAcross, LockFacts};
use whyslow_facts::folds::requests::Side;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::{ChainLink, Measurement, Nanos, SampleKind};

/// Fewer waits are a start, a stop or a rare long section, not contention.
pub(super) const MIN_WAITS: u64 = 20;
/// Shorter waits may be the tracer's making (guard 6): it stops the holder twice in each call, some 50 us each and
/// a turn of the CPU more where there are few, and a locked section often makes several calls.
pub(super) const SHORT_WAIT: Nanos = Nanos::from_millis(2);
/// Frames shown of a stack.
const FRAMES: usize = 8;
/// From this part of the waits on, a call is what the lock is held for.
const OFTEN: f64 = 0.10;

/// A lock that several may want.
#[derive(Clone, Copy)]
pub(super) struct KnownLock<'a> {
    /// The process.
    pub(super) process: ProcessId,
    /// Where its waiters wait; of several places the most waited-for one.
    pub(super) address: u64,
    /// Who waits, and how long.
    pub(super) lock: &'a LockFacts,
    /// What tells that it is one, where its value does not.
    pub(super) handed: Option<&'a HandedLock>,
}

impl KnownLock<'_> {
    /// Places named in a subject.
    const MOST_NAMES: usize = 16;

    /// As a title names it.
    pub(super) fn name(&self) -> String {
        let more = self.handed.map_or(0, |handed| handed.places.len().saturating_sub(1));
        match more {
            0 => format!("{:#x}", self.address),
            _ => format!("{:#x} and {}", self.address, words::plural(more as u64, "place")),
        }
    }

    /// The addresses of all its places.
    pub(super) fn all_names(&self) -> String {
        match self.handed {
            Some(handed) => {
                let names = handed.places.iter().take(Self::MOST_NAMES).map(|place| format!("{place:#x}"));
                names.collect::<Vec<_>>().join(", ")
            }
            None => format!("{:#x}", self.address),
        }
    }
}

/// All addresses, and the locks that are known by who wakes whom; those of queues, where all wait for work, are none.
#[gated]
pub(super) fn known_locks(facts: &Facts) -> impl Iterator<Item = KnownLock<'_>> {
    let is_of_a_queue = |process: ProcessId, address: u64, lock: &LockFacts| {
        lock.waits >= MIN_WAITS
            && lock.is_mutex()
            && queue_locks::is_of_a_queue(facts, process, address, lock)
    };
    let by_value =
        facts.locks.iter().filter(move |(process, address, lock)| !is_of_a_queue(*process, *address, lock));
    let by_value =
        by_value.map(|(process, address, lock)| KnownLock { process, address, lock, handed: None });
    let by_order = facts.handoffs.rows.iter().filter_map(|handed| {
        let address = *handed.places.first()?;
        Some(KnownLock { process: handed.process, address, lock: &handed.lock, handed: Some(handed) })
    });
    by_value.chain(by_order)
}

/// Why it is taken for a lock, in a sentence.
pub(super) fn by_order(handed: &HandedLock) -> String {
    let besides = match handed.held_up {
        Some(part) => {
            format!("at least {} of the waiting is within requests that are served", words::percent(part))
        }
        None => format!(
            "{:.1} of its {} are awake at a time",
            handed.awake,
            words::plural(handed.lock.waiters.len() as u64, "waiter")
        ),
    };
    format!(
        " Its value tells no mutex; the order of waits and wakes tells a lock made of a condition, of semaphores or of parked threads: {} of the wakes are by the thread that was woken last, and {besides}.",
        words::percent(handed.handed_on),
    )
}

/// The figures of [`by_order`].
pub(super) fn order_figures(handed: &HandedLock) -> Vec<Measurement> {
    let handed_on =
        Measurement::share("share_of_wakes_handed_on", handed.handed_on).at_least(Handoffs::HANDED_ON);
    let awake = Measurement::number("waiters_awake", handed.awake);
    let all_asleep = Measurement::share("share_of_time_all_asleep", handed.all_asleep);
    let held_up = handed
        .held_up
        .map(|part| Measurement::share("share_of_waits_in_requests", part).at_least(Handoffs::HELD_UP));
    let excludes = held_up
        .is_none()
        .then(|| [awake.at_most(Handoffs::MOST_AWAKE), all_asleep.at_most(Handoffs::MOST_ASLEEP)]);
    let places = Measurement::count("places", handed.places.len() as u64);
    [handed_on].into_iter().chain(excludes.into_iter().flatten()).chain(held_up).chain([places]).collect()
}

/// The part that `ns` of the waits have in the time of the threads that wait.
pub(super) fn share_of_waits(facts: &Facts, process: ProcessId, lock: &LockFacts, ns: u64) -> Share {
    guards::share_of_waiters(facts, Some(process), lock.waiters.iter().map(|waiter| waiter.tid), ns)
}

/// The call that most of the waiting goes through.
#[gated]
fn main_call(lock: &LockFacts) -> Option<&HeldAcross> {
    let held = lock.held_across.iter().max_by_key(|held| held.wait_ns)?;
    (held.waits as f64 >= OFTEN * lock.waits as f64).then_some(held)
}

/// The call and what it works on.
pub(super) fn named(facts: &Facts, held: &HeldAcross) -> String {
    let call = facts.name_of(held.syscall);
    held.target.as_deref().map_or(call.to_string(), |target| format!("{call} of {target}"))
}

/// What the lock is held for, in a sentence; empty where that is not seen.
pub(super) fn doing(facts: &Facts, lock: &LockFacts) -> String {
    main_call(lock).map_or(String::new(), |held| {
        format!(
            " It is held during {}: {} of {} ({}) were slept through while the holder was in that call.",
            named(facts, held),
            words::count(held.waits),
            words::plural(lock.waits, "wait"),
            Nanos::new(held.wait_ns)
        )
    })
}

/// Who holds it most, as far as the wake-ups tell, in a sentence.
#[gated]
pub(super) fn main_waker_words(lock: &LockFacts) -> String {
    match lock.main_waker() {
        // Who ends a few of many waits holds it no more than the others.
        Some(waker) if waker.times.saturating_mul(2) < lock.woken => {
            " It goes round: no thread ends most of the waits.".to_string()
        }
        Some(waker) => format!(
            " Thread {} wakes most ({} of {} wake-ups), so it holds the lock most.",
            waker.tid,
            words::count(waker.times),
            words::count(lock.woken)
        ),
        None => " Who holds it is not in the capture.".to_string(),
    }
}

/// The figures of [`main_waker_words`] and [`doing`].
pub(super) fn figures(lock: &LockFacts) -> Vec<Measurement> {
    let mut figures = Vec::new();
    if let Some(waker) = lock.main_waker() {
        figures.push(Measurement::count("wake_ups", lock.woken));
        figures.push(Measurement::count("wake_ups_by_main_waker", waker.times));
    }
    if let Some(held) = main_call(lock) {
        figures.push(Measurement::count("waits_during_call", held.waits));
        figures.push(Measurement::time("time_during_call", Nanos::new(held.wait_ns)));
    }
    figures
}

/// What to change first.
pub(super) fn first_fix(facts: &Facts, lock: &LockFacts, pid: &str) -> String {
    match main_call(lock) {
        Some(held) => format!(
            "code: unlock before {}: copy what it needs under the lock, and call it after",
            named(facts, held)
        ),
        None => format!(
            "see what is done under it: strace -f -k -e trace=futex -p {pid} (the stack of wait and wake names the lock's code); what the waker calls before each wake is what the lock is held for"
        ),
    }
}

/// Adds the chain from the waiter over the holder to what the holder does, and the stacks of both.
#[gated]
pub(super) fn shown<'f, 'a>(
    facts: &Facts,
    mut found: Report<'f, 'a>,
    process: ProcessId,
    address: u64,
    lock: &LockFacts,
) -> Report<'f, 'a> {
    let held = main_call(lock);
    let holder = held.map(|held| held.longest.tid).or_else(|| lock.main_waker().map(|waker| waker.tid));
    let chain = if held.is_none() { followed(facts, process, address) } else { Vec::new() };
    if !chain.is_empty() {
        for link in chain {
            found = found.link(link);
        }
    } else if let (Some(wait), Some(holder)) = (lock.longest.as_deref(), holder) {
        found = found.link(ChainLink {
            who: format!("thread {}", wait.tid),
            waits_for: format!("lock {address:#x}, held by thread {holder}"),
            ns: wait.dur,
            evidence: facts.evidence(&wait.exemplar).source,
        });
    }
    if let Some(held) = held {
        found = found.evidence(Some(&held.longest)).link(ChainLink {
            who: format!("thread {}", held.longest.tid),
            waits_for: named(facts, held),
            ns: held.longest.dur,
            evidence: facts.evidence(&held.longest).source,
        });
    }
    if facts.graph.calls().any(|call| call.lock() == Some(address) && call.process == process) {
        let explainer = Explainer::new(facts);
        let knots = KnotFinder::new(&explainer).knots();
        for knot in knots.iter().filter(|knot| knot.locks.contains(&address)) {
            found = found.evidence_line("the wait-for graph", knot.words());
        }
    }
    let waiter = lock.waiters.iter().max_by_key(|waiter| (waiter.ns, waiter.tid)).map(|waiter| waiter.tid);
    let sleeps_at_a_lock = |frames: &[&str]| frames.iter().any(|frame| frame.contains("futex"));
    if let Some(line) =
        waiter.and_then(|tid| stack(facts, SampleKind::OffCpu, process, tid, "waits in", sleeps_at_a_lock))
    {
        found = found.evidence_line(facts.recording_at(facts.window.start), line);
    }
    // The holder's own waits for the lock say nothing of what it does with it.
    let elsewhere = |frames: &[&str]| !sleeps_at_a_lock(frames);
    for (kind, verb) in [(SampleKind::OnCpu, "runs"), (SampleKind::OffCpu, "waits in")] {
        if let Some(line) = holder.and_then(|tid| stack(facts, kind, process, tid, verb, elsewhere)) {
            found = found.evidence_line(facts.recording_at(facts.window.start), line);
        }
    }
    found
}

/// The chain of the longest wait at that lock that the graph has, where it leads to what the holder waits for.
#[gated]
fn followed(facts: &Facts, process: ProcessId, address: u64) -> Vec<ChainLink> {
    let here =
        |call: &&LongCall| call.process == process && call.lock() == Some(address) && call.waker.is_some();
    let longest =
        facts.graph.calls().filter(here).max_by_key(|call| (call.dur(), std::cmp::Reverse(call.from)));
    let Some(call) = longest else { return Vec::new() };
    let explainer = Explainer::new(facts);
    let path = explainer.path(call.tid, call.from, call.to);
    let chain = explainer.chain(&path);
    if chain.len() > 1 { chain } else { Vec::new() }
}

/// The heaviest stack of a thread, in a line.
pub(super) fn stack(
    facts: &Facts,
    kind: SampleKind,
    process: ProcessId,
    tid: Tid,
    verb: &str,
    wanted: impl Fn(&[&str]) -> bool,
) -> Option<String> {
    let (frames, weight) = facts.samples.heaviest(kind, process, Some(tid), wanted)?;
    let shown = frames.iter().take(FRAMES).copied().collect::<Vec<_>>().join(" < ");
    Some(format!(
        "thread {tid} {verb} {shown} ({}, {})",
        Nanos::new(weight.ns),
        words::plural(weight.count, "sample")
    ))
}

/// True for a lock that only threads wait for which answer none of the requests that are served: workers that pass on the lock of the
/// queue at which they wait for work.
#[gated]
pub(super) fn is_of_a_pool(facts: &Facts, lock: &LockFacts) -> bool {
    let served = || facts.requests.records().filter(|request| request.side == Side::Server);
    let serves = |tid: Tid| served().any(|request| request.tid == tid || request.answered_by == Some(tid));
    served().next().is_some() && !lock.waiters.iter().any(|waiter| serves(waiter.tid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_facts::folds::locks::Party;

    #[test]
    fn one_wake_up_of_many_makes_no_holder() {
        let told = |times: u64, woken: u64| {
            let mut lock = LockFacts::default();
            lock.woken = woken;
            lock.wakers.push(Party { tid: 2268, times, ns: 0 });
            main_waker_words(&lock)
        };
        assert_eq!(told(1, 88), " It goes round: no thread ends most of the waits.");
        assert!(told(87, 88).starts_with(" Thread 2268 wakes most (87 of 88"), "{}", told(87, 88));
        assert_eq!(main_waker_words(&LockFacts::default()), " Who holds it is not in the capture.");
    }
}
