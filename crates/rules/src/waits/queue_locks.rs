//! Locks around the end of a queue: who has one waits under it for work, and the others wait for their turn to do so (`Mutex<Receiver>`, a pool
//! whose workers take jobs under one lock). Nobody is held up there.

use crate::gate::gated;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::folds::requests::Side;
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
    let is_worker = |tid: Tid| lock.waiters.iter().any(|waiter| waiter.tid == tid);
    let places = || {
        facts
            .locks
            .iter()
            .filter(|(of, _, place)| *of == process && !place.is_mutex())
            .map(|(.., place)| place)
    };
    let for_work = || {
        places().filter(|place| {
            !place.wakers.is_empty()
                && place.waiters.iter().all(|waiter| is_worker(waiter.tid))
                && place.wakers.iter().all(|waker| !is_worker(waker.tid))
        })
    };
    let gives = |tid: Tid| for_work().any(|place| place.wakers.iter().any(|waker| waker.tid == tid));
    let is_asked = places().any(|place| {
        place.waiters.iter().any(|waiter| gives(waiter.tid))
            && place.wakers.iter().any(|waker| is_worker(waker.tid))
    });
    let waits_for_work = for_work().map(|place| place.wait_ns).saturating_sum();
    // While one waits for work, all others may wait for the lock.
    let behind = waits_for_work.saturating_mul(lock.waiters.len().saturating_sub(1) as u64);
    let served = facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let within = served.map(|row| row.split.waiting_ns[WaitKind::Lock as usize]).saturating_sum();
    !is_asked
        && behind as f64 >= MOSTLY * lock.wait_ns as f64
        && within as f64 <= HELD_UP * lock.wait_ns as f64
}
