//! # random-io
//!
//! ## What it is
//! A disk spends its time on small reads here and there.
//!
//! ## Why it is slow
//! A disk that turns does a hundred of them a second, 0.4 MB/s in pieces of 4 KiB; in order it would do a hundred times as
//! much. Flash loses less, but a cloud volume counts operations.
//!
//! ## Example
//! ```text
//! disk sdb is full with 180 reads a second of 4.1 kB each
//! ```
//!
//! ## What to do instead
//! Sort what is wanted by its place, read larger pieces, keep an index or the hot part in memory, prefetch several at
//! once. Then flash.
//!
//! ## When it is wrong
//! After a start caches are cold, and the same reads are gone an hour later. A store that merges its files reads in large
//! pieces, and is no case. It is a notice: how the data lies is a decision, not a fault.

use super::devices::{self, SLOW};
use crate::engine::{Findings, Rule};
use crate::facts::Facts;
use crate::figures;
use crate::words;
use whyslow_model::{Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "random-io",
    group: "io",
    summary: "a disk is full with small reads here and there",
    source: include_str!("random_io.rs"),
    needs: &[figures::disks(&[Metric::Reads, Metric::ReadBytes, Metric::Utilisation])],
    check,
};

/// Reads a second: fewer fill only a device that is slow by itself.
const MIN_READS: f64 = 50.0;
/// Mean size of a read: with read-ahead (128 KiB) what is read in order is larger.
const SMALL: f64 = 16_384.0;
/// Reads merged with their neighbours: of what is read in order, nearly all.
const MERGED: f64 = 0.10;
/// Read-ahead of a device below which the size of requests says nothing of the order.
const READ_AHEAD: f64 = 65_536.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let scattered = devices::disks(facts).into_iter().filter_map(|disk| {
        let now = |metric| figures::now(disk.thing, metric);
        let reads = now(Metric::Reads).filter(|reads| *reads >= MIN_READS)?;
        let size = now(Metric::ReadBytes)? / reads;
        let merged = now(Metric::ReadsMerged).unwrap_or(0.0) / reads;
        let ahead = now(Metric::ReadAhead).is_none_or(|bytes| bytes >= READ_AHEAD);
        let latency = now(Metric::ReadLatency).is_none_or(|ns| ns >= SLOW.or_zero() as f64);
        let mostly = reads >= disk.requests / 2.0;
        (disk.is_busy() && size <= SMALL && merged <= MERGED && ahead && latency && mostly)
            .then_some((disk, reads, size))
    });
    for (disk, reads, size) in scattered.take(MOST) {
        let users = figures::most(facts, |thing| figures::now(thing, Metric::ReadBytes));
        let who = match users.is_empty() {
            true => String::new(),
            false => format!(" Most is read by {}.", figures::named(facts, &users, Metric::ReadBytes, None)),
        };
        let turns = match figures::now(disk.thing, Metric::Rotational) {
            Some(rotational) if rotational > 0.0 => " The kernel calls it a disk that turns.",
            _ => "",
        };
        out.report(figures::no_share(), format!("disk {} is full with {} reads a second of {} each", disk.name(), words::quantity(reads), words::bytes(size as u64)))
            .at_most(Severity::Notice)
            .confidence(0.6)
            .subject(figures::subject(facts, disk.of))
            .cause(format!("The reads are small and hardly any lies beside another: the device's time goes into finding the places.{who}{turns} If caches were just emptied (a start), look again later."))
            .fix("keep what is read often in memory: a larger cache of the program, more memory for the page cache")
            .fix("sort by place before reading, read larger blocks, several at once (io_uring, more threads, prefetch)")
            .fix("flash, or a volume with more operations a second")
            .verify(format!("iostat -x 1 {} (rareq-sz, r/s); bcc: biopattern (share of random requests), biosnoop", disk.of.name()))
            .evidence_of(disk.of, &[Metric::Reads, Metric::ReadBytes, Metric::ReadsMerged, Metric::ReadLatency, Metric::Utilisation, Metric::ReadAhead, Metric::Rotational])
            .file();
    }
}
