//! # overwrite-same-bytes
//!
//! ## What it is
//! A file is written over from its begin to its end again and again, though little of it can have changed since the time before.
//!
//! ## Why it is slow
//! Each pass copies the whole file into the page cache, marks all of its pages to be written back, and makes the work of the disk as
//! large: for a table of 400 KiB a tenth of a millisecond each time, and the same bytes a thousand times over.
//!
//! ## Example
//! ```text
//! lseek(3, 0, SEEK_SET) = 0 <0.000002>
//! write(3, "\0\0\0\0"..., 386560) = 386560 <0.000104>
//! ```
//!
//! ## What to do instead
//! Write what changed, at its place (pwrite), or append it to a journal; write the whole table now and then, from a timer. A map (mmap)
//! writes back the pages that were touched.
//!
//! ## When it is wrong
//! What the bytes are is mostly not in the capture: a frame buffer or a ring holds others each time. Then it is the size that is to be
//! questioned. A save every few seconds is quiet.

use super::streams::{how_often, subject, with_sums, worst};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::often::PASSES;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Measurement, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "overwrite-same-bytes",
    group: "io",
    summary: "a file is written over as a whole, again and again",
    source: include_str!("overwrite_same_bytes.rs"),
    needs: &[Need::AnyOf(&["write", "pwrite64", "writev", "pwritev"]), Need::Descriptors],
    check,
};

/// Passes from which on it is no save.
const MIN_PASSES: f64 = 50.0;
/// Passes a second, without a tracer.
const PASSES_PER_S: f64 = 5.0;
/// A smaller file is a status line or a counter.
const MIN_SIZE: u64 = 16 * 1024;
/// A write that covers that part of the file is one of the whole.
const WHOLE: f64 = 0.5;
/// Seeks for each pass, at least, where a pass has several writes.
const SEEKS_PER_PASS: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let found = with_sums(facts).filter(|stream| is_written_over(facts, stream));
    let found: Vec<(Share, &Stream)> = found
        .map(|stream| {
            let writes = &stream.writes;
            (guards::share_of_ns(facts, writes.only_thread(), writes.time(), writes.calls.count), stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let Some((size, count)) = passes(stream) else { continue };
        let bytes = Measurement::bytes("bytes", stream.writes.calls.bytes);
        let passes = Measurement::number("passes", count).at_least(MIN_PASSES);
        let size = Measurement::bytes("size", size).at_least(MIN_SIZE as f64);
        let often = how_often(facts, &PASSES, count as u64);
        let title = format!(
            "{}: its {size} are written over {passes} times ({bytes} in all{})",
            stream.name,
            often.behind_comma()
        );
        out.report(share, title)
            .at_most(Severity::Critical)
            .subject(subject(facts, stream, &stream.writes, "write"))
            .cause("The file keeps its size, and each pass writes all of it: between two passes only a part can have changed.")
            .measured_all([passes, size, bytes])
            .measured_all(often.figures())
            .measured(Measurement::time("time", stream.writes.time()))
            .fix("code: write what changed at its place (pwrite of the row, mmap), or append it to a journal")
            .fix("code: write the whole now and then, from a timer or at the end of a batch")
            .verify("strace -f -c -e trace=write,pwrite64,lseek -p PID; pidstat -d -p PID 1 (kB_wr/s falls)")
            .saving(stream.writes.time())
            .evidence_all(stream.writes.exemplars.iter())
            .file();
    }
}

/// The size of the file, and how often as much was written; `None` where the size is not known.
fn passes(stream: &Stream) -> Option<(u64, f64)> {
    let size = stream.size.filter(|size| *size > 0)?;
    Some((size, stream.writes.calls.bytes as f64 / size as f64))
}

#[gated]
fn is_written_over(facts: &Facts, stream: &Stream) -> bool {
    let Some((size, count)) = passes(stream) else { return false };
    let rate = facts.window.per_second(count as u64);
    let often = facts.pace.untraced(rate).is_none_or(|rate| rate >= PASSES_PER_S);
    let mean = stream.writes.mean_size().unwrap_or(0.0);
    // Opened for each pass it is made anew, which is another matter; what is synced waits for the device.
    let is_kept = (stream.opens as f64) < SEEKS_PER_PASS * count;
    let is_whole = mean >= WHOLE * size as f64 || stream.seeks.count as f64 >= SEEKS_PER_PASS * count;
    stream.kind == FdKind::File
        && stream.files == 1
        && size >= MIN_SIZE
        && count >= MIN_PASSES
        && stream.syncs.count == 0
        && often
        && is_kept
        && is_whole
}
