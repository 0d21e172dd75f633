//! Stolen time: what the hypervisor gave to others while threads were able to run and had no CPU.
//!
//! The host tells how much of the CPU time that all of its programs wanted was stolen. Of a thread's time in the run queue it is the same
//! part, in proportion. Where no time in the run queue is known, nobody knows whose time it was.

use crate::parts::Part;
use whyslow_facts::Facts;
use whyslow_model::{Known, Metric, TimeState};

/// Less of all CPU time is within what counting by ticks gets wrong.
const LEAST: f64 = 0.01;

/// The part of the CPU time that programs wanted which was stolen, 0 to 1; `None` where the host does not tell, or hardly any was.
pub(crate) fn part(facts: &Facts) -> Option<f64> {
    let steal = facts.host.of_cpus(Metric::CpuSteal).filter(|steal| *steal >= LEAST)?;
    let idle = facts.host.of_cpus(Metric::CpuIdle)?;
    let waits = facts.host.of_cpus(Metric::CpuIowait).unwrap_or(0.0);
    let wanted = (1.0 - idle - waits).max(steal);
    Some((steal / wanted).clamp(0.0, 1.0))
}

/// Of a time in the run queue, what was stolen, ns.
pub(crate) fn of_queue(ns: u64, part: f64) -> u64 {
    ((ns as f64 * part) as u64).min(ns)
}

/// Cuts the time in the run queue.
pub(crate) fn cut(facts: &Facts, parts: &mut Vec<Part<'_>>) {
    let Some(stolen) = part(facts) else { return };
    let mut taken = Vec::new();
    for queued in parts.iter_mut().filter(|part| part.state == TimeState::RunQueue) {
        let ns = of_queue(queued.ns, stolen);
        if ns > 0 {
            queued.known = queued.known.max(Known::InProportion);
            taken.push(Part { state: TimeState::Stolen, ns, ..*queued });
            queued.ns -= ns;
        }
    }
    parts.retain(|part| part.ns > 0);
    parts.extend(taken);
}
