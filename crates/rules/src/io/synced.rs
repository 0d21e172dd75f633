//! Files whose writes each wait for the device.

use crate::gate::gated;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Nanos};

/// Fewer writes are a save.
pub(super) const MIN_WRITES: u64 = 20;
/// Larger pieces take a tenth of a millisecond and more to copy: that they take long tells nothing (1 GB/s, as any machine of the
/// last ten years reaches).
const SMALL: f64 = 64.0 * 1024.0;
/// Of a descriptor whose flags are not known: nine writes of ten wait for the device. A write into the page cache that waits is
/// the exception: for room, for the journal.
const NEARLY_ALL: f64 = 0.10;
/// What a tenth of them takes at least: half of what all take on average. A tracer's stops come on top.
const EACH: Nanos = Nanos::new(100_000);
/// A mean below is a device with a protected write cache, or no device at all (tmpfs).
pub(super) const DEVICE_LATENCY: Nanos = Nanos::new(200_000);

/// True where each write waits for the device: by the flags of the descriptor, or by what the writes take.
pub(crate) fn waits_for_device(facts: &Facts, stream: &Stream) -> bool {
    has_waited(stream) && (is_synced(stream) || was_opened_before(stream) && each_waits(facts, stream))
}

#[gated]
fn has_waited(stream: &Stream) -> bool {
    let writes = &stream.writes;
    writes.calls.count >= MIN_WRITES
        && writes.calls.mean().is_known()
        && writes.calls.mean() >= DEVICE_LATENCY
}

/// Most of its opens have the flag: one tool that saves with O_SYNC does not make the others' writes slow.
#[gated]
pub(super) fn is_synced(stream: &Stream) -> bool {
    stream.sync_opens > 0 && stream.sync_opens * 2 >= stream.opens.max(1)
}

/// True where its flags are not known: a file, or what may be one, of which no open was seen.
fn was_opened_before(stream: &Stream) -> bool {
    let opens = if stream.fd.is_some() { 0 } else { stream.opens };
    let may_be_file = match stream.kind {
        FdKind::File => true,
        // What is written and never read is a log or a journal, more likely than a pipe that is always full.
        FdKind::Unknown => stream.reads.calls.count == 0,
        _ => false,
    };
    opens == 0 && may_be_file && stream.syncs.count == 0
}

#[gated]
fn each_waits(facts: &Facts, stream: &Stream) -> bool {
    let writes = &stream.writes;
    let stop = facts.pace.stop.or_zero();
    writes.mean_size().is_some_and(|mean| mean <= SMALL)
        && writes.calls.percentile(NEARLY_ALL).or_zero() >= EACH.or_zero().saturating_add(stop)
}
