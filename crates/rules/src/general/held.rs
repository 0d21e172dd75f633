//! Who holds what the largest part of the unexplained time waits for: the lock, the other end of the pipe, the child.

use crate::gate::gated;
use hashbrown::HashMap;
use whyslow_chain::{Explainer, WaitHolder};
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::{AccountRow, TimeState};

/// From this part of the waits' time on one holder speaks for all of them.
const MOST: f64 = 0.5;

/// The holder, and what it does meanwhile in a sentence.
pub(super) struct Held {
    pub(super) holder: WaitHolder,
    pub(super) doing: String,
    /// It is a thread, and the capture knows no process of its number.
    pub(super) is_thread: bool,
}

impl Held {
    /// The one behind most of the time of the row's waits; `None` where that is not known.
    #[gated]
    pub(super) fn of(facts: &Facts, row: &AccountRow) -> Option<Held> {
        let explainer = Explainer::new(facts);
        let mut holders: HashMap<String, (u64, WaitHolder)> = HashMap::new();
        let mut all = 0u64;
        for call in facts.graph.calls().filter(|call| is_of(facts, call, row)) {
            let ns = call.dur().or_zero();
            all = all.saturating_add(ns);
            if let Some(holder) = explainer.holder(call).or_else(|| explainer.ender(call)) {
                let (sum, _) = holders.entry(holder.clause()).or_insert((0, holder));
                *sum = sum.saturating_add(ns);
            }
        }
        let (ns, holder) = holders
            .into_iter()
            .max_by(|(a, (one, _)), (b, (other, _))| one.cmp(other).then_with(|| b.cmp(a)))?
            .1;
        let is_thread = facts.world.threads.last_process(holder.pid).is_none();
        (ns > 0 && ns as f64 >= MOST * all as f64).then(|| Held {
            doing: explainer.doing(&holder),
            holder,
            is_thread,
        })
    }
}

/// True for a wait whose time is in the row.
fn is_of(facts: &Facts, call: &LongCall, row: &AccountRow) -> bool {
    let fits = match row.state {
        TimeState::Lock => {
            matches!(call.what, Resource::Lock { .. } | Resource::FileLock(_) | Resource::Semaphore(_))
        }
        TimeState::Pipe => matches!(call.what, Resource::Pipe(_)),
        TimeState::Child => matches!(call.what, Resource::Child { .. } | Resource::Thread { .. }),
        _ => false,
    };
    let pid = || facts.world.threads.known_process(call.process).and_then(|process| process.pid);
    let is_call = || row.call.as_deref().is_none_or(|name| name == facts.name_of(call.syscall));
    fits && is_call() && (row.pids.is_empty() || pid().is_some_and(|pid| row.pids.contains(&pid)))
}
