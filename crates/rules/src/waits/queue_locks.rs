//! Locks around the end of a queue: who has one waits under it for work, and the others wait for their turn to do so (`Mutex<Receiver>`, a pool
//! whose workers take jobs under one lock). Nobody is held up there.

use crate::gate::gated;
use std::collections::BTreeSet;
use whyslow_facts::folds::locks::{LockFacts, Party};
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::SaturatingSum;
use whyslow_model::event::Tid;

/// From this part of the waiting on that passes while one of the waiters waits for work, that is what all of them wait for.
const MOSTLY: f64 = 0.8;
/// Of the waiting, what is within requests: who has one in hand waits for no work.
const HELD_UP: f64 = 0.5;

/// True where those that wait for the lock wait for work in turns: at places of their own they are woken by threads that never wait for it, and
/// that they do not wake in turn, as one does that asks another thread for an answer.
#[gated]
pub(super) fn is_of_a_queue(facts: &Facts, process: ProcessId, lock: &LockFacts) -> bool {
    if lock.waiters.len() < 2 {
        return false;
    }
    let tids = |parties: &[Party]| parties.iter().map(|party| party.tid).collect::<BTreeSet<Tid>>();
    let workers = tids(&lock.waiters);
    let of_process = facts.locks.iter().filter(|(of, _, place)| *of == process && !place.is_mutex());
    let places: Vec<&LockFacts> = of_process.map(|(.., place)| place).collect();
    let is_for_work = |place: &&&LockFacts| {
        !place.wakers.is_empty()
            && place.waiters.iter().all(|waiter| workers.contains(&waiter.tid))
            && place.wakers.iter().all(|waker| !workers.contains(&waker.tid))
    };
    let for_work: Vec<&LockFacts> = places.iter().filter(is_for_work).copied().collect();
    let givers: BTreeSet<Tid> = for_work.iter().flat_map(|place| tids(&place.wakers)).collect();
    let is_asked = places.iter().any(|place| {
        place.waiters.iter().any(|waiter| givers.contains(&waiter.tid))
            && place.wakers.iter().any(|waker| workers.contains(&waker.tid))
    });
    let waits_for_work = for_work.iter().map(|place| place.wait_ns).saturating_sum();
    // While one waits for work, all others may wait for the lock.
    let behind = waits_for_work.saturating_mul(lock.waiters.len() as u64 - 1);
    let within = facts.requests.served_waits(WaitKind::Lock);
    !is_asked
        && behind as f64 >= MOSTLY * lock.wait_ns as f64
        && within as f64 <= HELD_UP * lock.wait_ns as f64
}
