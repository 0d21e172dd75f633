//! Locks around the end of a queue: who has one waits under it for work, and the others wait for their turn to do so (`Mutex<Receiver>`, a pool
//! whose workers take jobs under one lock). Nobody is held up there.

use crate::gate::gated;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_facts::folds::locks::{LockFacts, Party};
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::SaturatingSum;
use whyslow_model::event::Tid;

/// From this part of the waiting on that passes while one of the waiters waits for work, that is what all of them wait for.
const MOSTLY: f64 = 0.8;
/// Of the time that the lock is held while others want it, this part is a wait for work.
const HELD_FOR_WORK: f64 = 0.5;
/// Of the waiting, what is within requests: who has one in hand waits for no work.
const HELD_UP: f64 = 0.5;

/// True where those that wait for the lock wait for work in turns: at places of their own they are woken by threads that never wait for it, and
/// that they do not wake in turn, as one does that asks another thread for an answer.
#[gated]
pub(super) fn is_of_a_queue(facts: &Facts, process: ProcessId, address: u64, lock: &LockFacts) -> bool {
    if lock.waiters.len() < 2 {
        return false;
    }
    let tids = |parties: &[Party]| parties.iter().map(|party| party.tid).collect::<BTreeSet<Tid>>();
    let workers = tids(&lock.waiters);
    let of_process = facts.locks.iter().filter(|(of, _, place)| *of == process && !place.is_mutex());
    let places: Vec<(u64, &LockFacts)> = of_process.map(|(_, at, place)| (at, place)).collect();
    let is_for_work = |(_, place): &&(u64, &LockFacts)| {
        !place.wakers.is_empty()
            && place.waiters.iter().all(|waiter| workers.contains(&waiter.tid))
            && place.wakers.iter().all(|waker| !workers.contains(&waker.tid))
    };
    let for_work: Vec<&(u64, &LockFacts)> = places.iter().filter(is_for_work).collect();
    let givers: BTreeSet<Tid> = for_work.iter().flat_map(|(_, place)| tids(&place.wakers)).collect();
    let is_asked = places.iter().any(|(_, place)| {
        place.waiters.iter().any(|waiter| givers.contains(&waiter.tid))
            && place.wakers.iter().any(|waker| workers.contains(&waker.tid))
    });
    let waits_for_work = for_work.iter().map(|(_, place)| place.wait_ns).saturating_sum();
    let for_work: Vec<u64> = for_work.iter().map(|(at, _)| *at).collect();
    // While one waits for work, all others may wait for the lock.
    let behind = waits_for_work.saturating_mul(lock.waiters.len() as u64 - 1);
    let within = facts.requests.served_waits(WaitKind::Lock);
    !is_asked
        && behind as f64 >= MOSTLY * lock.wait_ns as f64
        && within as f64 <= HELD_UP * lock.wait_ns as f64
        && is_held_for_work(facts, process, address, &for_work)
}

/// True where those who have the lock wait for work with it: of the time from when its last holder got it until that one woke who waited, half
/// and more. A pool whose workers sleep at a condition gives the queue's lock back meanwhile, and another lock of theirs is none of a queue.
#[gated]
fn is_held_for_work(facts: &Facts, process: ProcessId, address: u64, for_work: &[u64]) -> bool {
    let mut of_threads: HashMap<Tid, Vec<(u64, u64, u64)>> = HashMap::new();
    let mut waits: Vec<(u64, u64, Tid)> = Vec::new();
    for call in facts.graph.calls().filter(|call| call.process == process) {
        let Some(at) = call.lock().filter(|at| *at == address || for_work.contains(at)) else { continue };
        let (from, to) = (call.from.or_zero(), call.to.or_zero());
        of_threads.entry(call.tid).or_default().push((from, to, at));
        if let Some(waker) = call.waker.filter(|_| at == address) {
            waits.push((from, to, waker.tid));
        }
    }
    let (mut held, mut for_work) = (0u64, 0u64);
    for (from, to, holder) in waits {
        let own = of_threads.get(&holder).map_or(&[][..], |own| own);
        let got =
            own.iter().filter(|(_, end, at)| *at == address && *end <= to).map(|(_, end, _)| *end).max();
        let since = got.unwrap_or(from).max(from);
        let waits = own.iter().filter(|(.., at)| *at != address);
        let waited = waits.map(|(began, end, _)| to.min(*end).saturating_sub(since.max(*began)));
        held = held.saturating_add(to - since);
        for_work = for_work.saturating_add(waited.saturating_sum());
    }
    // Where no wait was long enough to be kept, nothing says more.
    held == 0 || for_work as f64 >= HELD_FOR_WORK * held as f64
}
