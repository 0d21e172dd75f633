//! Connections whose end was read within the capture, and which nobody closes.

use crate::gate::gated;
use std::collections::{BTreeMap, BTreeSet};
use whyslow_facts::{Facts, FdLife, ProcessId};
use whyslow_model::{Nanos, Timestamp};

/// Of so many ends that were read, at most this part closed: nobody closes.
const NONE_CLOSED: f64 = 0.05;
const ENDS: usize = 20;
/// The first of these was read this long before the capture's end: who tidies up does so within a second or some.
const NOTICED: Nanos = Nanos::from_millis(1_500);
/// How long it was left open since its end was read; until the process ended, where it did.
pub(super) fn left_for(facts: &Facts, life: &FdLife, since: Timestamp) -> Nanos {
    let until = if life.is_open() { facts.window.end } else { life.closed };
    until.since(since)
}

/// Processes that read the ends of many connections in the capture and close hardly one of them.
#[gated]
pub(super) fn processes(facts: &Facts) -> BTreeSet<ProcessId> {
    let mut left: BTreeMap<ProcessId, (usize, Nanos)> = BTreeMap::new();
    for (life, since) in facts.peers.left_open(&facts.world) {
        let (count, longest) = left.entry(life.process).or_insert((0, Nanos::new(0)));
        *count += 1;
        *longest = (*longest).max(left_for(facts, life, since));
    }
    let closed = |process: ProcessId| {
        let lives =
            facts.world.fds.iter().filter(|(_, life)| life.process == process && life.kind.is_socket());
        lives.filter(|(_, life)| life.end_seen && !life.was_left_open()).count()
    };
    let leaks = left.into_iter().filter(|(process, (count, longest))| {
        *count >= ENDS && *longest >= NOTICED && closed(*process) as f64 <= NONE_CLOSED * *count as f64
    });
    leaks.map(|(process, _)| process).collect()
}
