//! Demand with every field filled.

use whyslow_model::{Demand, DemandCaller, DemandKind, DemandQueue, Nanos};

/// Its every text is `text`, and its figures are `figure`.
pub(crate) fn full(text: impl Fn() -> String, figure: u64) -> Demand {
    let ns = Nanos::new(figure);
    let queue = DemandQueue {
        kind: DemandKind::AcceptQueue,
        of: text(),
        pid: Some(figure as u32),
        most: figure,
        waited: figure,
        samples: figure,
    };
    let caller = DemandCaller {
        pid: figure as u32,
        name: text(),
        of: figure as u32,
        at: text(),
        waits: figure,
        waited_ns: ns,
        seen_ns: ns,
        longest_ns: ns,
    };
    Demand { queues: vec![queue], callers: vec![caller] }
}
