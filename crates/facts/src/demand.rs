//! Demand: which work waited for the recorded processes. Queues tell by samples of the recorder, else by those of the host; requests
//! and callers tell by their calls.

use crate::folds::account::ObjectKind;
use crate::folds::graph::{LongCall, NameId};
use crate::host::Thing;
use crate::moments::{Count, Moments};
use crate::{Facts, ProcessId};
use hashbrown::{HashMap, HashSet};
use whyslow_model::{Demand, DemandKind, DemandQueue, Entity, Metric, Trait};

/// The metrics of a listener that are demand, with what waits.
const OF_LISTENERS: [(Metric, DemandKind); 3] = [
    (Metric::Backlog, DemandKind::AcceptQueue),
    (Metric::ReceiveQueue, DemandKind::UnreadBytes),
    (Metric::UdpReceiveQueue, DemandKind::UnreadDatagrams),
];

/// What is told of the queues of those processes that were seen to call or to run, and of who waited for these processes. A queue
/// whose owner is not known is nobody's.
pub fn demand(facts: &Facts) -> Demand {
    let mut queues = sampled(facts);
    let (from, to) = (facts.window.start, facts.window.end);
    let mut add = |kind: DemandKind, process: ProcessId, moments: &Moments| {
        let Count { moments, with, most } = moments.count(from, to);
        // That none was seen says nothing of those that are not decoded or recorded.
        if with > 0
            && let Some(known) = facts.world.threads.known_process(process)
        {
            let name = known.name().unwrap_or("the process");
            let of = known.pid.map_or_else(|| name.to_string(), |pid| format!("{name} ({pid})"));
            queues.push(DemandQueue { kind, of, pid: known.pid, most, waited: with, samples: moments });
        }
    };
    for (process, moments) in facts.requests.waiting() {
        add(DemandKind::OpenRequests, process, moments);
    }
    for (process, moments) in &callers(facts) {
        add(DemandKind::Callers, *process, moments);
    }
    let part = |queue: &DemandQueue| queue.waited as f64 / queue.samples.max(1) as f64;
    queues.sort_by(|a, b| {
        let connections = |queue: &DemandQueue| queue.kind == DemandKind::AcceptQueue;
        let rank = |queue: &DemandQueue| (queue.lasts(), queue.waited > 0, queue.kind.is_backlog());
        (rank(b).cmp(&rank(a)))
            .then(part(b).total_cmp(&part(a)))
            .then(connections(b).cmp(&connections(a)))
            .then(b.samples.cmp(&a.samples))
            .then(a.of.cmp(&b.of))
    });
    queues.truncate(Demand::MOST);
    Demand { queues }
}

fn sampled(facts: &Facts) -> Vec<DemandQueue> {
    let mut queues: Vec<DemandQueue> = Vec::new();
    let mut known: HashSet<(u32, DemandKind)> = HashSet::new();
    for (of, thing) in facts.host.things_that(|of| matches!(of, Entity::Queue { .. })) {
        let Entity::Queue { pid, name } = of else { continue };
        let Some((kind, of)) = name.split_once(' ') else { continue };
        let Some(kind) = DemandKind::of_word(kind).filter(|kind| kind.is_sampled()) else { continue };
        let reading = |metric: Metric| thing.current_reading(metric);
        let (Some(samples), Some(waited), Some(most)) = (
            reading(Metric::QueueSamples),
            reading(Metric::QueueWaited),
            reading(Metric::QueueMost),
        ) else {
            continue;
        };
        if !is_active(facts, *pid) {
            continue;
        }
        known.insert((*pid, kind));
        let count = |value: f64| value.max(0.0) as u64;
        let samples = count(samples.sum());
        queues.push(DemandQueue {
            kind,
            of: of.to_string(),
            pid: Some(*pid),
            most: count(most.max),
            waited: count(waited.sum()).min(samples),
            samples,
        });
    }
    for (of, thing) in facts.host.things_that(|of| matches!(of, Entity::Listener(_))) {
        let Some(pid) = owner(facts, thing) else { continue };
        for (metric, kind) in OF_LISTENERS {
            // The recorder looks more often, and knows what is stale.
            if known.contains(&(pid, kind)) {
                continue;
            }
            let Some(reading) = thing.current_reading(metric) else { continue };
            queues.push(DemandQueue {
                kind,
                of: of.name().to_string(),
                pid: Some(pid),
                most: reading.max.max(0.0) as u64,
                waited: reading.above_zero,
                samples: reading.tables,
            });
        }
    }
    queues
}

/// The recorded process that has the socket open.
fn owner(facts: &Facts, thing: &Thing) -> Option<u32> {
    thing.told(Trait::Owner)?.parse().ok().filter(|pid| is_active(facts, *pid))
}

/// True for a process that was seen to call or to run.
fn is_active(facts: &Facts, pid: u32) -> bool {
    let threads = &facts.world.threads;
    let process = threads.find_process(pid);
    process.is_some_and(|process| {
        threads.iter().any(|(_, thread)| thread.process == process && thread.is_active())
    })
}

/// When recorded threads of other processes waited for each process: for the answer to what they had asked, or for room.
fn callers(facts: &Facts) -> HashMap<ProcessId, Moments> {
    let mut callers: HashMap<ProcessId, Moments> = HashMap::new();
    for call in facts.graph.calls().filter(|call| waits_for_other(facts, call)) {
        let ender = call.waker.and_then(|waker| facts.world.threads.thread_of(waker.tid));
        if let Some(process) = ender.map(|ender| ender.process).filter(|process| *process != call.process) {
            callers.entry(process).or_default().add(call.from, call.to);
        }
    }
    callers
}

/// True for a wait that nobody makes who has nothing to ask: who waits for what others may send is idle.
fn waits_for_other(facts: &Facts, call: &LongCall) -> bool {
    let is_answer = call.asked != NameId::NONE
        && facts.accounts.objects.get(call.object).kind == ObjectKind::Peer;
    call.waits.is_some() && (is_answer || call.is_never_idle())
}
