//! # fsync-per-write
//!
//! ## What it is
//! A program calls `fsync` or `fdatasync` after each small write, one behind the other.
//!
//! ## Why it is slow
//! Each fsync waits until the device has the data for good: about 10 ms on a disk, 0.5 to 5 ms on a consumer
//! SSD or a cloud volume, tens of microseconds only where the device's cache outlives a power cut. It also waits
//! for the file system's journal, and so for everybody else's writes. One record a fsync limits a program to a
//! hundred records a second on a disk. tendermint/tendermint#1589 fell behind for that reason.
//!
//! ## Example
//! ```text
//! write(5, "{\"height\":1}\n", 13) = 13
//! fdatasync(5) = 0 <0.011204>
//! ```
//!
//! ## What to do instead
//! Commit in groups: one fsync for all records of a batch, of a few milliseconds, of a transaction. A database
//! does that when the inserts stand in one transaction.
//!
//! ## When it is wrong
//! Data that must not be lost needs the fsync: batching delays the answer but keeps the promise, dropping the
//! fsync breaks it. On a device with a protected cache it costs little, and the rule says little.

use super::streams::{subject, with_sums, worst};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "fsync-per-write",
    group: "io",
    summary: "each small write is followed by an fsync",
    source: include_str!("fsync_per_write.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Table("files")]),
        Need::Either(&[Need::AnyOf(&["fsync", "fdatasync"]), Need::Table("files")]),
    ],
    check,
};

/// Fewer are a save, an installation, a shutdown.
const MIN_SYNCS: u64 = 20;
/// Writes that one fsync covers: a record with its header and index is a few, a batch is many.
const WRITES_PER_SYNC: u64 = 8;
/// Bytes that one fsync covers: from there on the device's throughput counts, not its latency.
const BYTES_PER_SYNC: u64 = 256 * 1024;
/// A mean below is a device with a protected write cache, or no device at all (tmpfs).
const PROTECTED_CACHE: Nanos = Nanos::new(200_000);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let synced = with_sums(facts).filter(|stream| is_synced_by_piece(stream));
    let found = synced
        .map(|stream| {
            let tid = stream.writes.only_thread();
            (guards::share_of_ns(facts, tid, stream.syncs.total(), stream.syncs.count), stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let syncs = &stream.syncs;
        let (mean, longest) = (syncs.mean(), syncs.max());
        let latency = if mean.is_known() { format!(", {mean} each") } else { String::new() };
        let rate = facts.window.per_second(syncs.count);
        let rate = rate.map(|rate| Measurement::per_second("fsyncs_per_second", rate));
        let per_s = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
        let count = Measurement::count("fsyncs", syncs.count).at_least(MIN_SYNCS as f64);
        let writes = Measurement::count("writes", stream.writes.calls.count);
        let per_sync = stream.writes.calls.count as f64 / syncs.count.max(1) as f64;
        let per_sync = Measurement::number("writes_per_fsync", per_sync).at_most(WRITES_PER_SYNC as f64);
        let title = format!("{}: {count} fsyncs for {writes} writes{latency}{per_s}", stream.name);
        let each = stream.writes.calls.bytes / syncs.count.max(1);
        let each = Measurement::bytes("bytes_per_fsync", each).at_most(BYTES_PER_SYNC as f64);
        let cost = match (mean.is_known(), longest.is_known()) {
            (true, true) if mean < PROTECTED_CACHE => format!(
                " {mean} on average is what a protected write cache takes: cheap here, dear elsewhere."
            ),
            (true, true) => format!(
                " The device takes {mean} on average and {longest} at worst, and nothing else is done meanwhile."
            ),
            _ => " The capture shows no durations: their cost is unknown.".to_string(),
        };
        let most = if mean.is_known() { Severity::Critical } else { Severity::Warning };
        out.report(share, title)
            .at_most(most)
            .subject(subject(facts, stream, &stream.writes, "fsync"))
            .cause(format!("Each fsync makes only {each} durable, so the program goes at the pace of the device's latency.{cost}"))
            .measured_all([count, writes, per_sync, each])
            .measured_all((stream.files > 1).then(|| Measurement::count("files", stream.files)))
            .measured(Measurement::time("time_per_fsync", mean))
            .measured(Measurement::time("longest", longest))
            .measured_all(rate)
            .fix("commit in groups: one fsync for a batch, or for what gathers in 5 to 10 ms; answer the waiting ones together")
            .fix("SQL: put the inserts into one transaction; SQLite: PRAGMA journal_mode=WAL, synchronous=NORMAL; PostgreSQL: commit_delay, or synchronous_commit=off where the last moments may be lost; MySQL: innodb_flush_log_at_trx_commit=2 likewise")
            .fix("fdatasync instead of fsync, into a preallocated file (fallocate): the inode need not be written each time")
            .fix("many files: write all, then fsync each, then the directory once; or syncfs once")
            .verify("strace -f -y -T -e trace=fsync,fdatasync -p PID   (or bcc's ext4slower, biolatency)")
            .saving(syncs.total())
            .evidence_all(stream.sync_exemplars.iter())
            .evidence(stream.writes.exemplars.first.as_deref())
            .file();
    }
}

#[gated]
fn is_synced_by_piece(stream: &Stream) -> bool {
    let (syncs, writes) = (stream.syncs.count, &stream.writes.calls);
    syncs >= MIN_SYNCS
        && writes.count > 0
        && writes.count <= WRITES_PER_SYNC * syncs
        && writes.bytes <= BYTES_PER_SYNC * syncs
}
