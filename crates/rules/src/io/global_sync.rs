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
//! At a shutdown, before a snapshot of the disk or a stick is pulled out, all of it is meant: a single one is not judged.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::{guards, words};
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{CallStats, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "global-sync",
    group: "io",
    summary: "sync or syncfs writes out what all programs have written",
    source: include_str!("global_sync.rs"),
    needs: &[Need::Calls, Need::Durations, Need::AnyOf(&["sync", "syncfs", "fsync", "fdatasync"])],
    check,
};

/// A single one belongs to a shutdown or a snapshot.
const MIN_SYNCS: u64 = 2;
/// Less in all is nothing that a person would notice (response-time limit of 0.1 s: Nielsen, Usability Engineering, 1993).
const NOTICEABLE: Nanos = Nanos::from_millis(100);
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let syncs = |thread: &ThreadFacts| -> CallStats {
        let mut sum = CallStats::default();
        let of = thread
            .by_syscall
            .iter()
            .filter(|(syscall, _)| matches!(facts.name_of(*syscall), "sync" | "syncfs"));
        of.for_each(|(_, stats)| sum.merge(stats));
        sum
    };
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let mut found: Vec<(CallStats, &ThreadFacts)> = threads
        .map(|thread| (syncs(thread), thread))
        .filter(|(stats, _)| {
            stats.count >= MIN_SYNCS && stats.total().is_known() && stats.total() >= NOTICEABLE
        })
        .collect();
    found.sort_by_key(|(stats, thread)| (std::cmp::Reverse(stats.total_ns), thread.tid));
    for (stats, thread) in found.into_iter().take(MOST) {
        let subject = Subjects::thread(facts, thread.tid);
        let who = Subjects::words(&subject);
        let count = words::count(stats.count);
        out.report(guards::share_of_time(facts, Some(thread.tid), &stats), format!("{who} calls sync {count} times, {} in all: everything that any program wrote is written out", stats.total()))
            .confidence(0.8)
            .subject(Subject { syscall: Some("sync".to_string()), ..subject })
            .cause(format!("Each call waits until the dirty data of all programs is on the disk ({} at most), and their own requests wait behind it.", stats.max()))
            .fix("make safe what matters: fdatasync(fd) of the file; for a new name fsync of its directory, once")
            .fix("scripts: sync FILE instead of sync (coreutils 8.24 and later)")
            .fix("where all is meant (snapshot, backup): once, not for each item; keep less dirty meanwhile (vm.dirty_background_bytes)")
            .verify("bcc: syncsnoop; strace -f -T -e trace=sync,syncfs,fsync,fdatasync -p PID")
            .saving(stats.total())
            .evidence_line(facts.capture.first_name(), format!("{who}: {count} sync and syncfs, {} in all, {} at most", stats.total(), stats.max()))
            .file();
    }
}
