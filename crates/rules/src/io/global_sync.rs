//! # global-sync
//!
//! ## What it is
//! A program calls `sync` or `syncfs`: all that any program has written, to all files or all of one file system, goes to
//! the disk, and it waits for it.
//!
//! ## Why it is slow
//! To make one file safe it writes gigabytes that were of no concern, and other programs' reads and fsync stand in the
//! queue behind them. It takes as long as the host has dirty memory.
//!
//! ## Example
//! ```text
//! sync() = 0 <3.218842>
//! ```
//!
//! ## What to do instead
//! `fsync` or `fdatasync` of the files that matter, and of their directory once.
//!
//! ## When it is wrong
//! At a shutdown, before a snapshot of the disk or a stick is pulled out, all of it is meant: a single one is not judged. Threads of one process
//! count together, as those of a pool take turns.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::folds::account::CallTime;
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Nanos, SaturatingSum, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "global-sync",
    group: "io",
    summary: "sync or syncfs writes out what all programs have written",
    source: include_str!("global_sync.rs"),
    needs: &[Need::Calls, Need::Clock, Need::AnyOf(&["sync", "syncfs", "fsync", "fdatasync"])],
    check,
};

/// A single one belongs to a shutdown or a snapshot.
const MIN_SYNCS: u64 = 2;
/// Less in all is nothing that a person would notice (response-time limit of 0.1 s: Nielsen, Usability Engineering, 1993).
const NOTICEABLE: Nanos = Nanos::from_millis(100);

/// Calls of one thread, or of the children of one process that call it once each.
struct Syncs {
    /// The thread, or the parent's first one.
    tid: Tid,
    /// How many children; none where the thread calls it itself.
    children: Option<u64>,
    /// Threads of its process that call it: work of a pool, or of goroutines, moves from one to the next.
    threads: u64,
    count: u64,
    total_ns: u64,
    longest_ns: u64,
    at_most: bool,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<Syncs> = by_process(facts, by_caller(facts));
    found.retain(|syncs| syncs.count >= MIN_SYNCS && syncs.total_ns >= NOTICEABLE.or_zero());
    found.sort_by_key(|syncs| (std::cmp::Reverse(syncs.total_ns), syncs.tid));
    for syncs in found {
        let subject = Subjects::thread(facts, syncs.tid);
        let who = Subjects::words(&subject);
        let count = Measurement::count("calls", syncs.count).at_least(MIN_SYNCS as f64);
        let total = Nanos::new(syncs.total_ns);
        let children = syncs.children.map(|children| Measurement::count("children", children));
        let threads = Some(syncs.threads).filter(|threads| *threads > 1);
        let threads = threads.map(|threads| Measurement::count("threads", threads));
        let calls = match (&children, &threads) {
            (Some(children), _) => format!("{children} children of {who} call sync {count} times"),
            (None, Some(threads)) => format!("{threads} threads, most often {who}, call sync {count} times"),
            (None, None) => format!("{who} calls sync {count} times"),
        };
        let longest = Measurement::time("longest", Nanos::new(syncs.longest_ns));
        let shown = format!("{calls}, {total} in all, {longest} at most");
        let at_most = if syncs.at_most { " at most" } else { "" };
        out.report(guards::share_of_ns(facts, Some(syncs.tid), total, syncs.count), format!("{calls}, {total} in all{at_most}: everything that any program wrote is written out"))
            .subject(Subject { syscall: Some("sync".to_string()), ..subject })
            .measured_all(children.into_iter().chain(threads))
            .measured(count)
            .measured(Measurement::time("time", total).at_least(NOTICEABLE.or_zero() as f64))
            .cause(format!("Each call waits until the dirty data of all programs is on the disk ({longest} at most), and their own requests wait behind it."))
            .measured(longest)
            .fix("make safe what matters: fdatasync(fd) of the file; for a new name fsync of its directory, once")
            .fix("scripts: sync FILE instead of sync (coreutils 8.24 and later)")
            .fix("where all is meant (snapshot, backup): once, not for each item; keep less dirty meanwhile (vm.dirty_background_bytes)")
            .verify("bcc: syncsnoop; strace -f -T -e trace=sync,syncfs,fsync,fdatasync -p PID")
            .saving(total)
            .evidence_line(facts.capture.first_name(), shown)
            .file();
    }
}

/// The same, of the threads of each process together; the one that calls most stands for them.
#[gated]
fn by_process(facts: &Facts, by_caller: BTreeMap<Tid, Syncs>) -> Vec<Syncs> {
    let mut found: Vec<Syncs> = Vec::new();
    let (of_children, mut own): (Vec<Syncs>, Vec<Syncs>) =
        by_caller.into_values().partition(|syncs| syncs.children.is_some());
    own.sort_by_key(|syncs| (std::cmp::Reverse(syncs.total_ns), syncs.tid));
    for syncs in own {
        let process = facts.process_of_thread(syncs.tid);
        let is_its = |of: &&mut Syncs| process.is_some() && facts.process_of_thread(of.tid) == process;
        match found.iter_mut().find(is_its) {
            Some(first) => {
                first.threads += 1;
                first.count = first.count.saturating_add(syncs.count);
                first.total_ns = first.total_ns.saturating_add(syncs.total_ns);
                first.longest_ns = first.longest_ns.max(syncs.longest_ns);
                first.at_most |= syncs.at_most;
            }
            None => found.push(syncs),
        }
    }
    found.extend(of_children);
    found
}

/// The calls by who makes them. Where durations are missing, a call has at most the time up to the next one.
#[gated]
fn by_caller(facts: &Facts) -> BTreeMap<Tid, Syncs> {
    let mut by_caller: BTreeMap<Tid, Syncs> = BTreeMap::new();
    let threads = &facts.world.threads;
    let running = threads.iter().filter_map(|(id, _)| facts.accounts.of(id));
    for account in running.chain(facts.accounts.ended()) {
        let of_sync = |call: &&CallTime| matches!(facts.name_of(call.key.syscall), "sync" | "syncfs");
        let calls: Vec<&CallTime> = account.calls.iter().filter(of_sync).collect();
        let count = calls.iter().map(|call| call.calls.count).saturating_sum();
        if count == 0 {
            continue;
        }
        // A command that is started for each sync is its parent's.
        let process = threads.process(account.process);
        let parent = process.parent.filter(|_| process.started && count < MIN_SYNCS);
        let parent = parent.and_then(|parent| threads.process(parent).pid);
        let tid = parent.unwrap_or(account.tid);
        let none =
            Syncs { tid, children: None, threads: 1, count: 0, total_ns: 0, longest_ns: 0, at_most: false };
        let syncs = by_caller.entry(tid).or_insert(none);
        syncs.count = syncs.count.saturating_add(count);
        if parent.is_some() {
            *syncs.children.get_or_insert(0) += 1;
        }
        for call in calls {
            let total = call.parts.total();
            syncs.total_ns = syncs.total_ns.saturating_add(total);
            syncs.longest_ns =
                syncs.longest_ns.max(call.calls.max().get().unwrap_or(total / call.calls.count.max(1)));
            syncs.at_most |= call.is_at_most;
        }
    }
    by_caller
}
