//! Who holds a lock in the end. Once it is free, those that wait for it wake each other one after the other: what all of them have waited for is
//! the thread that had it before.

use crate::callers;
use crate::gate::gated;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::LongCall;
use whyslow_facts::samples::Site;
use whyslow_model::SaturatingSum;
use whyslow_model::event::Tid;

/// The part of the waiting that ends with one thread from which on it is the holder.
const MOST: f64 = 0.6;
/// Who waits for it itself for more than this part of what each of them waits on average is one of them.
const MOST_OF_A_WAITER: f64 = 0.5;
/// Hand-overs that are followed from one wait.
const MOST_HANDED: usize = 64;

/// The thread that the others wait for.
pub(super) struct RootHolder<'f> {
    pub(super) tid: Tid,
    /// Its name, where it is known.
    pub(super) name: String,
    /// The function of the program's own code in which it computes, and the line.
    pub(super) site: Option<Site<'f>>,
}

impl RootHolder<'_> {
    /// `, held most by thread 23206 planner, in plan (plan.go:40)`.
    pub(super) fn words(&self) -> String {
        let name = if self.name.is_empty() { String::new() } else { format!(" {}", self.name) };
        format!(", held most by thread {}{name}{}", self.tid, callers::words(self.site.as_ref()))
    }
}

/// The holder of what these waits are for; `None` where no thread has most of them at its end.
#[gated]
pub(super) fn of<'f>(facts: &'f Facts, is_wait: impl Fn(&LongCall) -> bool) -> Option<RootHolder<'f>> {
    let mut waits: HashMap<Tid, Vec<&LongCall>> = HashMap::new();
    for call in facts.graph.calls().filter(|call| is_wait(call)) {
        waits.entry(call.tid).or_default().push(call);
    }
    waits.values_mut().for_each(|calls| calls.sort_by_key(|call| call.to));
    let mut held: BTreeMap<Tid, u64> = BTreeMap::new();
    for call in waits.values().flatten() {
        let ns = held.entry(root(call, &waits).unwrap_or_default()).or_default();
        *ns = ns.saturating_add(call.dur().or_zero());
    }
    let all = held.values().copied().saturating_sum();
    // Who waits for it as long as the others do holds it in turns with them.
    let waited = |calls: &Vec<&LongCall>| calls.iter().map(|call| call.dur().or_zero()).saturating_sum();
    let is_in_turns = |tid: Tid| {
        let own = waits.get(&tid).map_or(0, waited);
        own.saturating_mul(waits.len() as u64) as f64 > MOST_OF_A_WAITER * all as f64
    };
    let (tid, ns) = held.into_iter().filter(|(tid, _)| *tid != 0).max_by_key(|(_, ns)| *ns)?;
    (ns as f64 >= MOST * all as f64 && !is_in_turns(tid)).then(|| {
        let thread = facts.world.threads.thread_of(tid);
        let name = thread.and_then(|thread| thread.comm.as_deref()).unwrap_or_default().to_string();
        RootHolder { tid, name, site: callers::computing(facts, tid) }
    })
}

/// Who had it before all that waited meanwhile; `None` where it is not known who ended a wait.
fn root(call: &LongCall, waits: &HashMap<Tid, Vec<&LongCall>>) -> Option<Tid> {
    let mut waker = call.waker?;
    for _ in 0..MOST_HANDED {
        // The one that woke it had waited, too, and was woken meanwhile.
        let own = waits.get(&waker.tid).map_or(&[][..], |own| own);
        let until = own.partition_point(|wait| wait.to <= waker.ts);
        match own[..until].last().filter(|wait| wait.to > call.from).and_then(|wait| wait.waker) {
            Some(before) if before.ts < waker.ts => waker = before,
            _ => break,
        }
    }
    Some(waker.tid)
}
