//! The journal of a file system as calls show it: who syncs for long, and who cannot change a file until that ends.

use crate::gate::gated;
use crate::guards::{self, Share};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, SaturatingSum};

/// Calls that wait until a file, or all, is on the device.
const SYNCS: [&str; 6] = ["fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync"];
/// Calls that change a file system: each begins with a handle of its journal.
const CHANGES: [&str; 22] = [
    "open",
    "openat",
    "openat2",
    "creat",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "ftruncate",
    "fallocate",
];
/// Shorter calls do not stand still.
const LONG: Nanos = Nanos::from_millis(5);
/// A commit lets all that wait for it go on at once: their calls end within this time of each other.
const TOGETHER: Nanos = Nanos::from_millis(3);
/// The part of such a call that lies within the sync: the rest of it is before it began.
const WITHIN: f64 = 0.8;
/// The part of the time of long changes that ends so from which on they wait for the journal.
const MOSTLY: f64 = 0.7;

/// Who syncs what, the longest in all.
pub(super) struct Committer<'f> {
    pub(super) tid: Tid,
    pub(super) call: &'f LongCall,
    pub(super) syncs: u64,
    pub(super) time: Nanos,
}

/// The thread whose syncs take longest in all; its longest one stands for them.
#[gated]
pub(super) fn committer(facts: &Facts) -> Option<Committer<'_>> {
    let mut by_thread: HashMap<Tid, Committer<'_>> = HashMap::new();
    for call in facts.graph.calls().filter(|call| is_one_of(facts, call, &SYNCS) && call.dur() >= LONG) {
        let of = by_thread.entry(call.tid).or_insert_with(|| Committer {
            tid: call.tid,
            call,
            syncs: 0,
            time: Nanos::new(0),
        });
        of.syncs += 1;
        of.time = Nanos::new(of.time.or_zero().saturating_add(call.dur().or_zero()));
        if call.dur() > of.call.dur() {
            of.call = call;
        }
    }
    by_thread.into_values().max_by_key(|of| (of.time, std::cmp::Reverse(of.tid)))
}

impl Committer<'_> {
    /// What it syncs, where that is known.
    pub(super) fn path<'f>(&self, facts: &'f Facts) -> Option<&'f str> {
        match self.call.what {
            Resource::File(end) => facts.graph.name(end.name),
            _ => None,
        }
    }
}

/// Calls of other threads that change files, stand still while a sync is under way, and go on at one moment.
pub(super) struct Held<'f> {
    pub(super) threads: BTreeSet<Tid>,
    pub(super) calls: u64,
    pub(super) time: Nanos,
    pub(super) share: Share,
    pub(super) longest: &'f LongCall,
}

/// Who stands still while that thread syncs; `None` where others change files meanwhile, or one alone does not.
#[gated]
pub(super) fn held<'f>(facts: &'f Facts, committer: &Committer<'_>) -> Option<Held<'f>> {
    let of_committer = |call: &&LongCall| call.tid == committer.tid && is_one_of(facts, call, &SYNCS);
    // Those of one thread do not overlap.
    let mut syncs: Vec<&LongCall> =
        facts.graph.calls().filter(|call| of_committer(call) && call.dur() >= LONG).collect();
    syncs.sort_by_key(|sync| sync.from);
    let is_held = |call: &&LongCall| {
        let begun = syncs.partition_point(|sync| sync.from < call.to);
        let under_way = syncs[..begun].iter().rev().take_while(|sync| sync.to > call.from);
        under_way.into_iter().any(|sync| is_within(call, sync))
    };
    let is_change = |call: &&LongCall| {
        call.tid != committer.tid
            && call.waits.is_none()
            && call.dur() >= LONG
            && is_one_of(facts, call, &CHANGES)
    };
    let mut changes: Vec<&LongCall> = facts.graph.calls().filter(is_change).collect();
    let all = changes.iter().map(|call| call.dur().or_zero()).saturating_sum();
    changes.retain(is_held);
    changes.sort_by_key(|call| (call.to, call.tid));
    let held: Vec<&LongCall> = changes
        .iter()
        .enumerate()
        .filter(|(at, call)| {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let mut beside = beside.filter_map(|at| changes.get(at));
            beside.any(|other| other.tid != call.tid && apart(call, other) <= TOGETHER)
        })
        .map(|(_, call)| *call)
        .collect();
    let time = held.iter().map(|call| call.dur().or_zero()).saturating_sum();
    let longest = held.iter().max_by_key(|call| (call.dur(), std::cmp::Reverse(call.tid)))?;
    let threads: BTreeSet<Tid> = held.iter().map(|call| call.tid).collect();
    let share = guards::share_of_waiters(facts, None, threads.iter().copied(), time);
    let is_most = time as f64 >= MOSTLY * all as f64;
    let time = Nanos::new(time);
    is_most.then_some(Held { threads, calls: held.len() as u64, time, share, longest })
}

/// True for a call that stood still while the sync was under way, and went on before it ended, or as it did.
#[gated]
fn is_within(call: &LongCall, sync: &LongCall) -> bool {
    let [Some(from), Some(to), Some(begin), Some(end)] =
        [call.from, call.to, sync.from, sync.to].map(|at| at.get())
    else {
        return false;
    };
    let both = to.min(end).saturating_sub(from.max(begin));
    both as f64 >= WITHIN * to.saturating_sub(from) as f64
}

/// How far apart two calls ended.
fn apart(one: &LongCall, other: &LongCall) -> Nanos {
    match (one.to.get(), other.to.get()) {
        (Some(one), Some(other)) => Nanos::new(one.abs_diff(other)),
        _ => Nanos::UNKNOWN,
    }
}

fn is_one_of(facts: &Facts, call: &LongCall, names: &[&str]) -> bool {
    names.contains(&facts.name_of(call.syscall))
}
