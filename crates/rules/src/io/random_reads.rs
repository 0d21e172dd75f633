//! Small reads here and there, of the thread that waits for each: by its calls on a file, else by what it asks of a device.

use super::streams;
use super::thread_reads::{self, FROM_DEVICE};
use crate::engine::Findings;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::block_io::{DeviceFacts, ThreadReads};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{CallStats, FdKind, Measurement, Nanos};

/// Mean size of a read: with read-ahead (128 KiB) what is read in order is larger.
pub(super) const SMALL: f64 = 16_384.0;
/// Recorded requests: fewer are a burst.
pub(super) const MIN_REQUESTS: u64 = 100;
/// Of recorded reads, the part that lies beside another (bcc's biopattern: more than 70 % random).
pub(super) const IN_ORDER: f64 = 0.30;

/// A disk that turns needs no longer for a read by itself (7,200 rpm: a seek of 9 ms and half a turn, 4 ms, on average): what does
/// is slow wherever it reads, or waits in a queue.
const SEEK: Nanos = Nanos::new(15_000_000);

const FIXES: [&str; 3] = [
    "keep what is read often in memory: a larger cache of the program, more memory for the page cache",
    "sort by place before reading, read larger blocks, several at once (io_uring, more threads, prefetch)",
    "flash, or a volume with more operations per second",
];

/// Reports files whose small reads wait for a device, at places of their own; false where there is none.
#[gated]
pub(super) fn of_calls(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let mut found = Vec::new();
    for stream in streams::with_sums(facts).filter(|stream| is_scattered(stream)) {
        if each(facts, &stream.reads.calls) > SEEK {
            continue;
        }
        let calls = &stream.reads.calls;
        let share = streams::share(facts, stream, &stream.reads, calls.total(), calls.count);
        if share.value.is_some_and(|value| value >= guards::WARNING_SHARE) {
            found.push((share, stream));
        }
    }
    let worst = streams::worst(found).into_iter().next();
    let any = worst.is_some();
    if let Some((share, stream)) = worst {
        tell_calls(facts, out, share, stream);
    }
    any
}

/// True for a local file that is read in small pieces that lie here and there, each from the device.
#[gated]
pub(super) fn is_scattered(stream: &Stream) -> bool {
    let reads = &stream.reads;
    let half = reads.calls.percentile(0.5);
    stream.kind == FdKind::File
        && stream.files == 1
        && reads.calls.count >= MIN_REQUESTS
        && reads.mean_size().is_some_and(|size| size <= SMALL)
        && reads.in_sequence as f64 <= IN_ORDER * reads.succeeded() as f64
        && half.is_known()
        && half >= FROM_DEVICE
}

/// What a device takes for one of these reads, at most: half of them took so long, and of several at a time as many were done in the window.
#[gated]
fn each(facts: &Facts, reads: &CallStats) -> Nanos {
    let half = reads.percentile(0.5);
    let window = facts.window.whole().get().and_then(|window| window.checked_div(reads.count));
    window.map_or(half, |each| half.min(Nanos::new(each)))
}

fn tell_calls(facts: &Facts, out: &mut Findings<'_>, share: Share, stream: &Stream) {
    let reads = &stream.reads;
    let count = Measurement::count("own_reads", reads.calls.count).at_least(MIN_REQUESTS as f64);
    let half = Measurement::time("p50", reads.calls.percentile(0.5)).at_least(FROM_DEVICE.or_zero() as f64);
    let each = Measurement::time("time_per_read", each(facts, &reads.calls)).at_most(SEEK.or_zero() as f64);
    let size = Measurement::bytes("bytes_per_read", reads.mean_size().unwrap_or(0.0) as u64).at_most(SMALL);
    let random = 1.0 - reads.in_sequence as f64 / reads.succeeded().max(1) as f64;
    out.report(
        share,
        format!("{}: {count} reads here and there of {size} each, and half take {half} and more", stream.name),
    )
    .measured_all([count, half, each, size])
    .measured(Measurement::share("share_of_reads_at_random", random).at_least(1.0 - IN_ORDER))
    .subject(streams::subject(facts, stream, reads, "read"))
    .cause(format!(
        "The reads are small and hardly any begins where the one before ended: each waits until the device has found the place.{} If caches were just emptied (a start), look again later.",
        streams::sums_text(stream)
    ))
    .fix(FIXES[0])
    .fix(FIXES[1])
    .fix(FIXES[2])
    .verify("iostat -x 1 (rareq-sz, r/s); bcc: biopattern (share of random requests), biosnoop")
    .saving(reads.calls.total())
    .evidence_all(reads.exemplars.iter())
    .file();
}

/// Reports a thread that reads small pieces all over a device; false where there is none.
#[gated]
pub(super) fn of_thread(facts: &Facts, out: &mut Findings<'_>, device: (&str, &DeviceFacts)) -> bool {
    let scattered = |of: &ThreadReads| {
        of.part_in_order().is_some_and(|part| part <= IN_ORDER) && each(facts, &of.reads) <= SEEK
    };
    let found = thread_reads::most(facts, device, (MIN_REQUESTS, SMALL), scattered);
    // A mapped file is made to be read here and there: what is missing is the memory (page-fault-major).
    let Some(reads) = found.filter(|reads| !reads.is_by_faults(facts)) else { return false };
    let count = Measurement::count("reads", reads.of.reads.count).at_least(MIN_REQUESTS as f64);
    let half = reads.half().at_least(FROM_DEVICE.or_zero() as f64);
    let each =
        Measurement::time("time_per_read", each(facts, &reads.of.reads)).at_most(SEEK.or_zero() as f64);
    let size = reads.size().at_most(SMALL);
    let name = facts.host.device_name(device.0);
    out.report(
        reads.share.clone(),
        format!(
            "{} reads {name} here and there in pieces of {size}, and waits for each: {count} reads, half take {half} and more",
            reads.who(facts)
        ),
    )
    .measured_all([count, half, each, size])
    .measured(Measurement::share("share_of_reads_at_random", 1.0 - reads.in_order()).at_least(1.0 - IN_ORDER))
    .subject(reads.subject(facts))
    .cause(format!(
        "Of its reads {} begin where the one before ended: each waits until the device has found the place. If caches were just emptied (a start), look again later.",
        words::percent(reads.in_order())
    ))
    .fix(FIXES[0])
    .fix(FIXES[1])
    .fix(FIXES[2])
    .verify("whyslow disks -a -d 10s --by device,op,process (in order, mean size); bcc: biopattern, biosnoop")
    .saving(reads.of.reads.total())
    .evidence_line(facts.recording_at(facts.window.start), reads.line(facts))
    .file();
    true
}
