//! What stands at the ends of chains of waits, and what each costs.

use super::held_up::Cause;
use crate::gate::gated;
use crate::guards;
use hashbrown::HashMap;
use whyslow_chain::PathKind;

/// A wait that somebody notices even if it is the only one.
const LONG: u64 = 1_000_000_000;

/// What one cause costs.
#[derive(Default)]
pub(super) struct Cost {
    pub(super) ns: u64,
    pub(super) intervals: u64,
    /// In this interval it costs most: its number and how much.
    pub(super) worst: (usize, u64),
}

/// One thing at the end of chains, with the threads that waited for it: the largest part first.
pub(super) struct End {
    pub(super) ns: u64,
    pub(super) costs: Vec<(Cause, Cost)>,
}

impl End {
    /// True for what half of the intervals that were looked at met: others are like them.
    #[gated]
    pub(super) fn is_usual(&self, looked_at: u64) -> bool {
        let met = self.costs.iter().map(|(_, cost)| cost.intervals).fold(0, u64::saturating_add);
        met.saturating_mul(2) >= looked_at
    }

    /// True where a single interval makes it what it is, and nobody waited long.
    #[gated]
    pub(super) fn is_rare(&self, whole_ns: u64) -> bool {
        let longest = self.costs.iter().map(|(_, cost)| cost.worst.1).max().unwrap_or(0);
        let rest = self.ns.saturating_sub(longest);
        longest < LONG && (rest as f64) < guards::WARNING_SHARE * whole_ns as f64
    }
}

/// The ends of chains, those that cost most first.
pub(super) fn ends(costs: HashMap<Cause, Cost>) -> Vec<End> {
    let mut ends: HashMap<(String, PathKind), End> = HashMap::new();
    for (cause, cost) in costs {
        let end = ends.entry((cause.0.clone(), cause.1)).or_insert_with(|| End { ns: 0, costs: Vec::new() });
        end.ns = end.ns.saturating_add(cost.ns);
        end.costs.push((cause, cost));
    }
    let mut ends: Vec<End> = ends.into_values().collect();
    for end in &mut ends {
        end.costs.sort_by(|(a, cost), (b, other)| other.ns.cmp(&cost.ns).then(a.2.cmp(&b.2)));
    }
    ends.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.costs[0].0.0.cmp(&b.costs[0].0.0)));
    ends
}
