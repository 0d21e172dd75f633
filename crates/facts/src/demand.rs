//! Demand: which work waited for the recorded processes, by samples of their queues.

use crate::Facts;
use crate::host::Thing;
use whyslow_model::{Demand, DemandKind, DemandQueue, Entity, Metric, Trait};

/// The metrics of a listener that are demand, with what waits.
const QUEUES: [(Metric, DemandKind); 3] = [
    (Metric::Backlog, DemandKind::AcceptQueue),
    (Metric::ReceiveQueue, DemandKind::UnreadBytes),
    (Metric::UdpReceiveQueue, DemandKind::UnreadDatagrams),
];

/// What the samples tell of the queues of those processes that were seen to call or to run. A queue whose owner is not known
/// is nobody's.
pub fn demand(facts: &Facts) -> Demand {
    let listeners = facts.host.things_that(|of| matches!(of, Entity::Listener(_)));
    let mut queues: Vec<DemandQueue> = Vec::new();
    for (of, thing) in listeners {
        let Some(pid) = owner(facts, thing) else { continue };
        for (metric, kind) in QUEUES {
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
    let part = |queue: &DemandQueue| queue.waited as f64 / queue.samples.max(1) as f64;
    queues.sort_by(|a, b| {
        let connections = |queue: &DemandQueue| queue.kind == DemandKind::AcceptQueue;
        (b.lasts().cmp(&a.lasts()))
            .then(part(b).total_cmp(&part(a)))
            .then(connections(b).cmp(&connections(a)))
            .then(b.samples.cmp(&a.samples))
            .then(a.of.cmp(&b.of))
    });
    queues.truncate(Demand::MOST);
    Demand { queues }
}

/// The recorded process that has the socket open.
fn owner(facts: &Facts, thing: &Thing) -> Option<u32> {
    let pid = thing.told(Trait::Owner)?.parse().ok()?;
    let threads = &facts.world.threads;
    let process = threads.find_process(pid)?;
    threads.iter().any(|(_, thread)| thread.process == process && thread.is_active()).then_some(pid)
}
