//! What rules about goroutines share: the place at which most of a Go program's goroutines queue, and what the others do meanwhile.

use crate::gate::gated;
use crate::words;
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, ParkedAt, ParkedFor, SaturatingSum};

/// Fewer of the others, on average, are not worth a word.
const MIN_OTHERS: f64 = 0.3;
/// Places of others that are shown.
const MOST_OTHERS: usize = 2;

/// What the counts are.
pub(super) const COUNTED: &str =
    "Goroutines are counted some times a second: these are means of counts, and no times.";

/// Goroutines of a process that wait at one place, the most of them of those that wait for such a thing.
pub(super) struct Queue {
    pub(super) pid: Tid,
    pub(super) at: ParkedAt,
    /// Where the one may wait that they wait for.
    pub(super) others: Vec<ParkedAt>,
    /// Goroutines that wait and could go on, on average: not those that wait for others, or for a client.
    waiting: f64,
}

/// The longest queue for a lock, or to send, of each process; none that is at the door, where nobody has anything to do.
#[gated]
pub(super) fn queues(facts: &Facts, waits: ParkedFor) -> impl Iterator<Item = Queue> {
    facts.parked.pids().into_iter().filter_map(move |pid| {
        let all = facts.parked.of(pid);
        let of_kind = all.iter().filter(|at| at.waits == waits);
        let longest = of_kind.max_by(|a, b| a.mean.total_cmp(&b.mean))?.clone();
        let is_door = |at: &ParkedAt| {
            at.waits == ParkedFor::Accept && at.mean >= MIN_OTHERS && at.function == longest.function
        };
        let counts = |at: &&ParkedAt| !matches!(at.waits, ParkedFor::Group | ParkedFor::Accept);
        let waiting = all.iter().filter(counts).fold(0.0, |sum, at| sum + at.mean);
        let others = all.iter().filter(|at| is_other(at, &longest)).cloned().collect();
        (!all.iter().any(is_door)).then_some(Queue { pid, at: longest, others, waiting })
    })
}

impl Queue {
    /// How many wait on average.
    pub(super) fn mean(&self) -> Measurement {
        Measurement::number("goroutines", self.at.mean)
    }

    /// Their part of those that wait.
    pub(super) fn part(&self) -> Measurement {
        Measurement::share("share_of_goroutines", self.at.mean / self.waiting)
    }

    /// All that wait.
    pub(super) fn waiting(&self) -> Measurement {
        Measurement::number("goroutines_waiting", self.waiting)
    }

    /// `2 goroutines wait in IO wait at main.serve (main.go:60)`: what the others do; empty where there are none.
    pub(super) fn others_counted(&self) -> String {
        let told: Vec<String> = self.others.iter().take(MOST_OTHERS).map(ParkedAt::counted).collect();
        words::list(&told, told.len())
    }
}

/// True for other places where the one may wait that is waited for: below the function in which a lock is taken; of a channel any.
#[gated]
fn is_other(at: &ParkedAt, queue: &ParkedAt) -> bool {
    let is_possible = match queue.waits {
        ParkedFor::Lock => at.function == queue.function && at.waits != ParkedFor::Lock,
        _ => !matches!(at.waits, ParkedFor::Send | ParkedFor::Group | ParkedFor::Accept),
    };
    is_possible && at.mean >= MIN_OTHERS
}

/// CPUs that the threads of a process kept busy; `None` where nothing tells.
#[gated]
pub(super) fn busy(facts: &Facts, pid: Tid) -> Option<f64> {
    let threads = &facts.world.threads;
    let is_its = |thread: &ThreadFacts| {
        threads.known_process(thread.process).is_some_and(|process| process.pid == Some(pid))
    };
    let threads = threads.iter().filter(|(_, thread)| is_its(thread));
    let ran: Vec<u64> = threads.filter_map(|(_, thread)| Some(thread.sched.as_deref()?.on_cpu_ns)).collect();
    let window = facts.window.whole().get().filter(|ns| *ns > 0)?;
    (!ran.is_empty()).then(|| ran.into_iter().saturating_sum() as f64 / window as f64)
}
