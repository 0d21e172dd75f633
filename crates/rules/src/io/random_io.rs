//! # random-io
//!
//! ## What it is
//! A disk, or a thread that waits for one, spends its time on small reads here and there.
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
//! pieces, and is no case. Of requests recorded one by one at most three in ten lie beside one of the 16 before (as
//! biopattern counts it, over 70 % are random), and of what one thread reads, of a file or of a device, three in ten behind what it read before; by figures alone, the size and the merges stand for that. It is a warning only where a recorded thread waits for such reads, or a traced one reads a file so; else a notice: how the data lies is a
//! decision, not a fault.

use super::devices::{self, SLOW};
use super::random_reads::{self, IN_ORDER, MIN_REQUESTS, SMALL};
use super::streams;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::block_io::{DeviceFacts, Op};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Metric, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "random-io",
    group: "io",
    summary: "a disk is saturated by small reads here and there",
    source: include_str!("random_io.rs"),
    needs: &[Need::Either(&[
        figures::disks(&[Metric::Reads, Metric::ReadBytes, Metric::Utilisation]),
        Need::Table("block_io"),
        Need::AnyOf(&["read", "pread64", "readv", "preadv"]),
    ])],
    check,
};

/// Reads a second: fewer fill only a device that is slow by itself.
const MIN_READS: f64 = 50.0;
/// Reads merged with their neighbours: of what is read in order, nearly all.
const MERGED: f64 = 0.10;
/// Read-ahead of a device below which the size of requests says nothing of the order.
const READ_AHEAD: f64 = 65_536.0;
/// Of a device's reads a second, the part that the traced program makes itself: they are its own.
const OWN: f64 = 0.5;
/// Recorded requests under way at a time: the device is never idle.
const FULL: f64 = 0.90;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // A recorder saw where each request lay.
    if facts.has_table("block_io") {
        let own = random_reads::of_calls(facts, out);
        for (name, device) in facts.devices.iter() {
            if !own && !random_reads::of_thread(facts, out, (name, device)) {
                of_requests(facts, out, name, device);
            }
        }
        return;
    }
    let scattered = devices::disks(facts).into_iter().filter_map(|disk| {
        let now = |metric| disk.thing.current(metric);
        let reads = now(Metric::Reads).filter(|reads| *reads >= MIN_READS)?;
        let size = now(Metric::ReadBytes)? / reads;
        let merged = now(Metric::ReadsMerged).unwrap_or(0.0) / reads;
        let ahead = now(Metric::ReadAhead).is_none_or(|bytes| bytes >= READ_AHEAD);
        let latency = now(Metric::ReadLatency).is_none_or(|ns| ns >= SLOW.or_zero() as f64);
        let mostly = reads >= disk.requests / 2.0;
        (disk.is_busy() && size <= SMALL && merged <= MERGED && ahead && latency && mostly)
            .then_some((disk, reads, size))
    });
    let mut any_own = false;
    for (disk, reads, size) in scattered {
        let now = |metric| disk.thing.current(metric);
        let own = own_reads(facts, reads);
        let reads = Measurement::per_second("reads_per_second", reads).at_least(MIN_READS);
        let size = Measurement::bytes("bytes_per_read", size as u64).at_most(SMALL);
        let busy = Measurement::share("busy", disk.utilisation.unwrap_or(f64::NAN)).at_least(devices::BUSY);
        let latency = now(Metric::ReadLatency).map(|ns| Nanos::new(ns.max(0.0) as u64));
        let latency =
            latency.map(|time| Measurement::time("time_per_read", time).at_least(SLOW.or_zero() as f64));
        let merged = now(Metric::ReadsMerged).zip(reads.value);
        let merged = merged.map(|(merged, reads)| {
            Measurement::share("share_of_reads_merged", merged / reads).at_most(MERGED)
        });
        let users = figures::most(facts, |thing| thing.current(Metric::ReadBytes));
        let who = match users.is_empty() {
            true => String::new(),
            false => format!(" Most is read by {}.", figures::named(facts, &users, Metric::ReadBytes, None)),
        };
        let turns = match disk.thing.current(Metric::Rotational) {
            Some(rotational) if rotational > 0.0 => " The kernel calls it a disk that turns.",
            _ => "",
        };
        let title = format!("disk {} is full with {reads} reads a second of {size} each", disk.name());
        let found = match own {
            None => out
                .report(Share::unknown(), title)
                .at_most(Severity::Notice)
                .subject(figures::subject(facts, disk.of)),
            Some(stream) => {
                any_own = true;
                let calls = &stream.reads.calls;
                let share = streams::share(facts, stream, &stream.reads, calls.total(), calls.count);
                let count = Measurement::count("own_reads", calls.count).at_least(MIN_REQUESTS as f64);
                let mean =
                    Measurement::time("time_per_own_read", calls.mean()).at_least(SLOW.or_zero() as f64);
                let name = &stream.name;
                out.report(share, format!("{name}: {count} reads here and there, {mean} each: {title}"))
                    .at_most(Severity::Critical)
                    .subject(streams::subject(facts, stream, &stream.reads, "read"))
                    .measured_all([count, mean])
                    .evidence_all(stream.reads.exemplars.iter())
            }
        };
        found
            .measured_all([reads, size, busy])
            .measured_all(latency)
            .measured_all(merged)
            .cause(format!("The reads are small and hardly any lies beside another: the device's time goes into finding the places.{who}{turns} If caches were just emptied (a start), look again later."))
            .fix("keep what is read often in memory: a larger cache of the program, more memory for the page cache")
            .fix("sort by place before reading, read larger blocks, several at once (io_uring, more threads, prefetch)")
            .fix("flash, or a volume with more operations per second")
            .verify(format!("iostat -x 1 {} (rareq-sz, r/s); bcc: biopattern (share of random requests), biosnoop", disk.of.name()))
            .evidence_of(disk.of, &[Metric::Reads, Metric::ReadBytes, Metric::ReadsMerged, Metric::ReadLatency, Metric::Utilisation, Metric::ReadAhead, Metric::Rotational])
            .file();
    }
    if !any_own {
        random_reads::of_calls(facts, out);
    }
}

/// The file that the traced program reads in small pieces at places of its own, each of which waits for a device, and about as often as
/// that one is read a second.
#[gated]
fn own_reads(facts: &Facts, reads_per_s: f64) -> Option<&Stream> {
    let is_it = |stream: &&Stream| {
        let rate = facts.window.per_second(stream.reads.calls.count);
        random_reads::is_scattered(stream)
            && rate.is_some_and(|rate| rate >= OWN * reads_per_s)
            && stream.reads.calls.mean() >= SLOW
    };
    facts.streams.iter().filter(is_it).max_by_key(|stream| stream.reads.calls.count)
}

#[gated]
fn of_requests(facts: &Facts, out: &mut Findings<'_>, name: &str, device: &DeviceFacts) {
    let window = facts.window.whole();
    let (reads, all) = (device.sum(Op::reads), device.all());
    let Some(seconds) = window.as_secs_f64().filter(|seconds| *seconds > 0.0) else { return };
    let (rate, half) = (reads.device.count as f64 / seconds, reads.device.percentile(0.5));
    let Some((size, in_order)) = reads.mean_size().zip(reads.in_order()) else { return };
    let many =
        reads.device.timed >= MIN_REQUESTS && rate >= MIN_READS && reads.device.count * 2 >= all.device.count;
    let under_way = all.mean_in_flight(window);
    let full = under_way.is_some_and(|number| number >= FULL);
    let scattered = size as f64 <= SMALL && in_order <= IN_ORDER;
    if !(many && full && scattered && half.is_known() && half >= SLOW) {
        return;
    }
    let shown = facts.host.device_name(name);
    let random = Measurement::share("share_of_reads_at_random", 1.0 - in_order).at_least(1.0 - IN_ORDER);
    let who = devices::askers(facts, device, Op::reads);
    let ops = Measurement::per_second("reads_per_second", rate).at_least(MIN_READS);
    let size = Measurement::bytes("bytes_per_read", size).at_most(SMALL);
    let half = Measurement::time("p50", half).at_least(SLOW.or_zero() as f64);
    let under_way = Measurement::number("requests_under_way", under_way.unwrap_or(f64::NAN)).at_least(FULL);
    let count = Measurement::count("reads", reads.device.count).at_least(MIN_REQUESTS as f64);
    let waits = devices::blocked_most(facts).filter(|_| devices::is_asked_by_recorded(device));
    let subject = waits.map_or(Subject::default(), |(_, tid, _)| Subjects::thread(facts, tid));
    out.report(devices::share_of_blocked(waits), format!("disk {shown} is full with {ops} reads a second of {size} each, {random} of them here and there"))
        .at_most(if waits.is_some() { Severity::Warning } else { Severity::Notice })
        .subject(Subject { device: Some(name.to_string()), ..subject })
        .cause(format!("Half of the reads take {half} and more, are small, and {random} lie beside none of the 16 before: the device's time goes into finding the places.{who} If caches were just emptied (a start), look again later."))
        .measured_all([ops, size, random, half, under_way, count])
        .fix("keep what is read often in memory: a larger cache of the program, more memory for the page cache")
        .fix("sort by place before reading, read larger blocks, several at once (io_uring, more threads, prefetch)")
        .fix("flash, or a volume with more operations per second")
        .verify("whyslow disks -a -d 10s --by device,op,process (in order, mean size); bcc: biopattern, biosnoop")
        .evidence_line(facts.recording_at(facts.window.start), devices::told(&shown, &reads, window))
        .file();
}
