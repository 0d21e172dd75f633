//! Where goroutines wait on no thread, for the rows of threads that none of them runs on: of what such a thread waits for (a futex, any of
//! several descriptors, the next timer), they alone tell whose wait it is. They are counted at some moments: what a wait is given by them is
//! in proportion.

use whyslow_facts::Facts;
use whyslow_model::event::Tid;
use whyslow_model::{ParkedAt, ParkedFor, TimeOf, TimeState};

/// Goroutines at one place, on average, from which on it is told, and places that are told.
const FEWEST: f64 = 0.5;
const MOST: usize = 3;
/// The part of the goroutines that such a wait is for which must be at one place that stands for all.
const OF_ALL: f64 = 0.5;

/// True where a wait of a thread in that state is for what the goroutine waits for.
fn is_its(state: TimeState, at: &ParkedAt) -> bool {
    use ParkedFor::{Answer, Connection, HandOff, Io, Lock, Send, Sleep};
    match state {
        TimeState::Timer => at.waits == Sleep,
        TimeState::Peer | TimeState::Poll => matches!(at.waits, Answer | Connection | Io),
        TimeState::Lock => matches!(at.waits, Lock | Send | HandOff),
        _ => false,
    }
}

/// Those of the processes' goroutines that are worth a word beside a wait in that state, in order: what the wait says of itself comes first,
/// then what is held up. All of them, however many.
fn all(facts: &Facts, of: TimeOf, state: TimeState, pids: &[Tid]) -> Vec<ParkedAt> {
    use TimeState::{Event, KernelWait, Lock, Peer, Poll, Timer};
    let &[pid] = pids else { return Vec::new() };
    if !matches!(state, Event | KernelWait | Lock | Peer | Poll | Timer) {
        return Vec::new();
    }
    let mut all = facts.parked.of(pid);
    let serves = all.iter().any(|at| at.waits == ParkedFor::Accept);
    let of_requests = of == TimeOf::Requests;
    // Who reads from clients, and others while a request waits, may wait for work.
    let is_told = |at: &ParkedAt| match at.waits {
        ParkedFor::Accept => false,
        waits if waits.is_held_up() => true,
        ParkedFor::Io => !serves && (!of_requests || is_its(state, at)),
        _ => !of_requests || is_its(state, at),
    };
    all.retain(|at| is_told(at) && at.mean >= FEWEST);
    all.sort_by_key(|at| (!is_its(state, at), !at.waits.is_held_up()));
    all
}

/// Where goroutines wait on no thread while threads of their process wait in that state, the most telling first.
pub(crate) fn told(facts: &Facts, of: TimeOf, state: TimeState, pids: &[Tid]) -> Vec<ParkedAt> {
    let mut all = all(facts, of, state, pids);
    all.truncate(MOST);
    all
}

/// The place of [`told`] ones that stands for what waits in that state are for; `None` where none does.
pub(crate) fn most(state: Option<TimeState>, told: &[ParkedAt]) -> Option<&ParkedAt> {
    let its = || told.iter().filter(|at| state.is_some_and(|state| is_its(state, at)));
    let sum: f64 = its().map(|at| at.mean).sum();
    its().next().filter(|at| at.mean >= OF_ALL * sum)
}

/// The places at which waits of a process in that state are spent, each with its part of them.
pub(crate) fn shares(facts: &Facts, of: TimeOf, state: TimeState, pid: Tid) -> Vec<(ParkedAt, f64)> {
    let mut its = all(facts, of, state, &[pid]);
    its.retain(|at| is_its(state, at));
    let sum: f64 = its.iter().map(|at| at.mean).sum();
    its.into_iter()
        .map(|at| {
            let part = at.mean / sum;
            (at, part)
        })
        .collect()
}
