//! # readahead-off
//!
//! ## What it is
//! A file is read in order, and each small read goes to the device by itself: the kernel does not read ahead.
//!
//! ## Why it is slow
//! With read-ahead the kernel fetches 128 KiB and more while the program works on what it has, and one read in thirty
//! waits. Without it each read of 4 KiB waits for the device.
//!
//! ## Example
//! ```text
//! read(3, "\0\0\0"..., 4096) = 4096 <0.000412>
//! ```
//!
//! ## What to do instead
//! Turn it on: `blockdev --setra`, no `POSIX_FADV_RANDOM` or `MADV_RANDOM` for what is read in order; or read in pieces of
//! 128 KiB and more.
//!
//! ## When it is wrong
//! Reading here and there is random by nature, and read-ahead is rightly off: by a trace, and by the requests that a recorder saw of a thread
//! (those of a mapped file have no call), only what is read in order is judged. By a disk's figures alone the order is not known, so that it is a notice.

use super::devices;
use super::streams::{subject, worst};
use super::thread_reads::{self, FROM_DEVICE};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{figures, words};
use whyslow_facts::block_io::{DeviceFacts, ThreadReads};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Measurement, Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "readahead-off",
    group: "io",
    summary: "a file is read in order, and each small read goes to the device by itself",
    source: include_str!("readahead_off.rs"),
    needs: &[Need::Either(&[
        Need::AnyOf(&["read", "pread64", "readv", "preadv"]),
        Need::Table("block_io"),
        figures::disks(&[Metric::ReadAhead, Metric::Reads]),
    ])],
    check,
};

/// Reads: fewer are the beginning of a file.
const MIN_READS: u64 = 500;
/// Of these behind one another.
const IN_ORDER: f64 = 0.90;
/// Larger reads are pieces of their own.
const SMALL: u64 = 16_384;
/// Read-ahead of a device that is as good as none.
const NO_READ_AHEAD: f64 = 4_096.0;
/// Recorded requests of a thread: fewer are the beginning of a file.
const MIN_REQUESTS: u64 = 200;
/// Reads a second of a device: fewer are nobody's work.
const MIN_RATE: f64 = 100.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let found = facts.streams.iter().filter(|stream| waits_for_each(stream));
    let found = found
        .map(|stream| {
            let reads = &stream.reads;
            (guards::share_of_ns(facts, reads.only_thread(), reads.time(), reads.calls.count), stream)
        })
        .collect();
    let found = worst(found);
    let any = !found.is_empty();
    for (share, stream) in found {
        let calls = &stream.reads.calls;
        let half = Measurement::time("p50", calls.percentile(0.5)).at_least(FROM_DEVICE.or_zero() as f64);
        let each =
            Measurement::bytes("bytes_per_call", calls.bytes / calls.count.max(1)).at_most(SMALL as f64);
        let in_order = stream.reads.in_sequence as f64 / calls.count.max(1) as f64;
        out.report(share, format!("{}: {} in order of {each} each, and half take {half} and more", stream.name, words::plural(calls.count, "read")))
            .measured(Measurement::count("calls", calls.count).at_least(MIN_READS as f64))
            .measured_all([each, half])
            .measured(Measurement::share("share_of_calls_in_order", in_order).at_least(IN_ORDER))
            .subject(subject(facts, stream, &stream.reads, "read"))
            .cause("Nothing is read ahead: each read waits for the device. The descriptor or the device says so (POSIX_FADV_RANDOM, read_ahead_kb 0), the file is opened with O_DIRECT, or the file system does none.")
            .fix("see the device: cat /sys/block/DEV/queue/read_ahead_kb; echo 128 > it (blockdev --setra 256 DEV)")
            .fix("in the program: no POSIX_FADV_RANDOM for what is read in order, but POSIX_FADV_SEQUENTIAL; or reads of 128 KiB and more")
            .verify("strace -T -e trace=read,pread64 -P FILE -p PID (most take microseconds); iostat -x 1 (rareq-sz grows); bcc: readahead")
            .saving(calls.total())
            .evidence_all(stream.reads.exemplars.iter())
            .file();
    }
    // A mapped file is read by no call, and where calls are counted, each is not seen.
    if !any {
        facts.devices.iter().into_iter().for_each(|device| of_requests(facts, out, device));
    }
    for disk in devices::disks(facts).iter() {
        let now = |metric| disk.thing.current(metric);
        let (Some(ahead), Some(reads)) = (now(Metric::ReadAhead), now(Metric::Reads)) else { continue };
        let small = disk.size().filter(|size| *size <= SMALL as f64);
        let Some(size) = small.filter(|_| ahead <= NO_READ_AHEAD && reads >= MIN_RATE && disk.is_busy())
        else {
            continue;
        };
        let ahead = Measurement::bytes("read_ahead", ahead as u64).at_most(NO_READ_AHEAD);
        let reads = Measurement::per_second("reads_per_second", reads).at_least(MIN_RATE);
        let size = Measurement::bytes("bytes_per_request", size as u64).at_most(SMALL as f64);
        let busy = Measurement::share("busy", disk.utilisation.unwrap_or(f64::NAN)).at_least(devices::BUSY);
        out.report(Share::unknown(), format!("disk {} reads nothing ahead ({ahead}), and does {reads} small reads a second", disk.name()))
            .measured_all([ahead, reads, size, busy])
            .at_most(Severity::Notice)
            .confidence(0.5)
            .subject(figures::subject(facts, disk.of))
            .cause("If files on it are read in order, each of these reads could bring thirty times as much. A database that reads here and there wants it this way.")
            .fix(format!("echo 128 > /sys/block/{}/queue/read_ahead_kb, and look whether less is waited for", disk.of.name()))
            .verify(format!("iostat -x 1 {} (rareq-sz grows, r/s falls)", disk.of.name()))
            .evidence_of(disk.of, &[Metric::ReadAhead, Metric::Reads, Metric::ReadBytes, Metric::RequestSize, Metric::Utilisation])
            .file();
    }
}

/// A thread that reads small pieces of a device one behind the other, and waits for each.
#[gated]
fn of_requests(facts: &Facts, out: &mut Findings<'_>, device: (&str, &DeviceFacts)) {
    let in_order = |of: &ThreadReads| of.part_in_order().is_some_and(|part| part >= IN_ORDER);
    let small = (MIN_REQUESTS, SMALL as f64);
    let Some(reads) = thread_reads::most(facts, device, small, in_order) else { return };
    let count = Measurement::count("reads", reads.of.reads.count).at_least(MIN_REQUESTS as f64);
    let half = reads.half().at_least(FROM_DEVICE.or_zero() as f64);
    let size = reads.size().at_most(SMALL as f64);
    let name = facts.host.device_name(device.0);
    out.report(
        reads.share.clone(),
        format!("{} reads {name} in order in pieces of {size}, and waits for each: {count} reads, half take {half} and more", reads.who(facts)),
    )
    .measured_all([count, half, size])
    .measured(Measurement::share("share_of_reads_in_order", reads.in_order()).at_least(IN_ORDER))
    .subject(reads.subject(facts))
    .cause("Nothing is read ahead: each page waits for the device. The mapping or the descriptor says so (MADV_RANDOM, POSIX_FADV_RANDOM), the device does (read_ahead_kb 0), the file is opened with O_DIRECT, or the file system does none.")
    .fix("in the program: no MADV_RANDOM or POSIX_FADV_RANDOM for what is read in order, but MADV_SEQUENTIAL; or reads of 128 KiB and more")
    .fix("see the device: cat /sys/block/DEV/queue/read_ahead_kb; echo 128 > it (blockdev --setra 256 DEV)")
    .verify("whyslow disks -d 10s --by device,op,process (reads become readahead, their mean size grows)")
    .saving(reads.of.reads.total())
    .evidence_line(facts.recording_at(facts.window.start), reads.line(facts))
    .file();
}

/// True for a local file that is read in order, each piece from the device.
#[gated]
fn waits_for_each(stream: &Stream) -> bool {
    let (reads, calls) = (&stream.reads, &stream.reads.calls);
    let half = calls.percentile(0.5);
    stream.kind == FdKind::File
        && calls.count >= MIN_READS
        && reads.in_sequence as f64 >= IN_ORDER * calls.count as f64
        && calls.bytes / calls.count.max(1) <= SMALL
        && half.is_known()
        && half >= FROM_DEVICE
}
