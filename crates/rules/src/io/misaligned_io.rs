//! # misaligned-io
//!
//! ## What it is
//! A program writes pieces all over a file that begin or end within a page, and each such write first waits until that page was read.
//!
//! ## Why it is slow
//! The kernel writes whole pages of 4 KiB. Of a page of which only a part is written it needs the rest: where the page is not in memory, the write reads it from the device first,
//! and waits. A write that would take two microseconds takes as long as a random read, and the device does twice the work.
//!
//! ## Example
//! ```text
//! pwrite64(3, "…", 5000, 61235000) = 5000 <0.000310>
//! waits: ext4_block_write_begin < ext4_da_write_begin < generic_perform_write < vfs_write
//! ```
//!
//! ## What to do instead
//! Records that are a multiple of 4 KiB, at multiples of it: then nothing is read. Or collect changes and write them in order; keep the file in memory; append to a log.
//!
//! ## When it is wrong
//! Writes in order, appended logs, and pages that are in the cache cost nothing: only writes that wait are counted. With O_SYNC or after fsync each write waits
//! anyway, for the device.

use super::synced;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, WARNING_SHARE};
use crate::kernel_waits::{self, KernelWait};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::page_parts::{PageParts, PartWrites};
use whyslow_model::{Measurement, Nanos, SampleKind, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "misaligned-io",
    group: "io",
    summary: "writes of parts of pages wait until these were read",
    source: include_str!("misaligned_io.rs"),
    needs: &[Need::Calls, Need::Durations, Need::Descriptors],
    check,
};

/// Fewer writes are no habit.
const MIN_WRITES: u64 = 100;
/// What a write into the page cache never takes on average: two copies of a page and a look at the tree take some microseconds. A tracer's stop comes on top.
const WAITED: Nanos = Nanos::new(30_000);
/// Where a write waits for the page that it changes a part of (fs/ext4/inode.c, fs/buffer.c, fs/iomap/buffered-io.c, fs/btrfs/file.c, fs/f2fs/data.c).
const READING_FIRST: &[&str] = &[
    "ext4_block_write_begin",
    "ext4_read_bh_lock",
    "__block_write_begin",
    "block_write_begin",
    "iomap_write_begin",
    "__iomap_write_begin",
    "iomap_read_folio_sync",
    "prepare_uptodate_page",
    "prepare_uptodate_folio",
    "f2fs_write_begin",
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rows: Vec<&PartWrites> =
        facts.page_parts.by_time().into_iter().filter(|row| is_slow(facts, row)).collect();
    // A recorder's stacks tell what the writes waited for; of waits too short for a stack, how they are begun and ended on the CPU.
    let known = !facts.samples.is_empty(SampleKind::OffCpu);
    let spent = kernel_waits::in_functions(facts, READING_FIRST, true);
    let waits =
        kernel_waits::every(facts, 0.0, spent, |time| time.call.is_some_and(|call| call.contains("write")));
    for row in rows {
        let wait = waits.iter().find(|wait| row.only_thread().is_none_or(|tid| tid == wait.tid));
        if wait.is_some() || !known {
            report(facts, out, row, wait);
        }
    }
}

#[gated]
fn is_slow(facts: &Facts, row: &PartWrites) -> bool {
    let stop = facts.pace.stop.or_zero();
    let least = WAITED.or_zero().saturating_add(stop);
    // Each write of such a file waits for the device, aligned or not.
    let is_synced = facts.world.files.find(&row.path).is_some_and(|file| {
        file.sync_opens * 2 >= file.opens.max(1) || file.syncs.count >= synced::MIN_WRITES
    });
    row.calls.count >= MIN_WRITES && row.calls.mean().get().is_some_and(|mean| mean >= least) && !is_synced
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &PartWrites, wait: Option<&KernelWait<'_>>) {
    let calls = &row.calls;
    let share = guards::share_of_ns(facts, row.only_thread(), calls.total(), calls.count);
    if share.value.is_none_or(|value| value < WARNING_SHARE) {
        return;
    }
    let count = Measurement::count("writes", calls.count).at_least(MIN_WRITES as f64);
    let mean = Measurement::time("time_per_write", calls.mean()).at_least(WAITED.or_zero() as f64);
    let each = Measurement::bytes("bytes_per_write", calls.bytes / calls.count.max(1));
    let waited = wait.map(|wait| Measurement::time("time_reading_first", wait.time));
    let proof = match &waited {
        Some(waited) => {
            format!(" The stacks of the longer waits show it: {waited} in the reading of such pages.")
        }
        None => String::new(),
    };
    let at = wait.map_or(String::new(), KernelWait::at);
    let subject = match wait {
        Some(wait) => wait.subject(),
        None => Subjects::thread(facts, row.tid),
    };
    let line = wait.map(|wait| {
        let waits = words::plural(wait.waits, "wait");
        (
            facts.recording_at(facts.window.start),
            format!("thread {}: {waits} in the reading of pages to be written, {}", wait.tid, wait.time),
        )
    });
    let report = out
        .report(
            share,
            format!(
                "{}: {count} writes of {each} begin or end within a page{at}: {mean} each, as the page is read first",
                row.path
            ),
        )
        .at_most(if wait.is_some() { Severity::Critical } else { Severity::Warning })
        .confidence(if wait.is_some() { 0.9 } else { 0.5 })
        .subject(Subject { path: Some(row.path.to_string()), ..subject })
        .cause(format!(
            "The writes are out of order, and their offsets or sizes are no multiples of {} bytes. Of a page that is not in memory the rest has to be read before a part of it is written.{proof}",
            PageParts::PAGE
        ))
        .measured_all([count, mean, each])
        .measured_all(waited)
        .fix("code: records of a multiple of 4,096 bytes at multiples of it (pad them), so that whole pages are written")
        .fix("or collect changes in memory and write them in order; or append to a log and rebuild; or keep the file in memory (more memory, posix_fadvise WILLNEED before)")
        .fix("O_DIRECT: offset, size and buffer have to be multiples of the device's block (blockdev --getss, --getpbsz); file system and partition aligned to it too")
        .verify("iostat -x 1 (reads beside the writes go away); bpftrace -e 'kprobe:submit_bio { @[kstack(6)] = count(); }'")
        .saving(calls.total())
        .evidence_all(row.exemplars.iter());
    match line {
        Some((place, text)) => report.evidence_line(place, text).file(),
        None => report.file(),
    }
}
