//! # file-reread
//!
//! ## What it is
//! A program reads more than three times as many bytes from a file as the file holds.
//!
//! ## Why it is slow
//! Even from the page cache each pass copies all bytes and parses them again (the time up to the next call elsewhere
//! counts as the pass's); where the file is larger than the
//! free memory, on a network mount, or opened with O_DIRECT, each pass goes to the device. kmod-project/kmod#11:
//! `depmod` read module data again and again, 293,336 reads and 99 % of its time, until it kept them.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/data/model.bin", O_RDONLY) = 3
//! read(3, ""..., 65536) = 65536
//! lseek(3, 0, SEEK_SET) = 0
//! read(3, ""..., 65536) = 65536
//! ```
//!
//! ## What to do instead
//! Read it once and keep what was parsed. Do in one pass what is done in several. Map it, so that all passes
//! share the page cache without copying.
//!
//! ## When it is wrong
//! Small files are read again for good reasons (a configuration, a status); the rule wants 64 KiB and more. A
//! database reads its file many times over because it does not fit: then its cache is what to look at, and it is a notice
//! where the reads jump about in a file that stays open.

use super::reread::{self, is_archive, is_read_over};
use super::streams::{how_often, share, subject, with_sums, with_work, worst};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::often::CALLS;
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "file-reread",
    group: "io",
    summary: "a file is read several times over",
    source: include_str!("file_reread.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["read", "pread64", "readv", "preadv"]), Need::Table("files")]),
        Need::Either(&[Need::Descriptors, Need::Table("files")]),
    ],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let again = with_sums(facts).filter(|stream| is_reread(stream));
    let found = again
        .map(|stream| {
            let reads = &stream.reads;
            let time = with_work(facts, stream, reads.time());
            let share = match stream.of_sums {
                true => share(facts, stream, reads, time, reads.calls.count),
                false => guards::share_of_ns(facts, reads.only_thread(), time, reads.calls.count),
            };
            (share, stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let reads = &stream.reads;
        let size = stream.size.unwrap_or(0);
        let passes = reads.calls.bytes as f64 / size.max(1) as f64;
        let often = how_often(facts, &CALLS, reads.calls.count);
        let title = format!(
            "{}: read {} times over ({} read, {} large{})",
            stream.name,
            words::quantity(passes),
            words::bytes(reads.calls.bytes),
            words::bytes(size),
            often.behind_comma()
        );
        // One pass remains.
        let time = with_work(facts, stream, reads.time());
        let saved =
            time.get().map_or(Nanos::UNKNOWN, |ns| Nanos::new((ns as f64 * (1.0 - 1.0 / passes)) as u64));
        let opens = (stream.opens > 1).then(|| Measurement::count("opens", stream.opens));
        let opened = opens.as_ref().map_or(String::new(), |opens| format!(", opened {opens} times"));
        let calls = Measurement::count("calls", reads.calls.count);
        let inferred = if stream.size_stated {
            ""
        } else {
            " (its size is taken from the highest offset that was read)"
        };
        // Reads may be large: their part of the calls tells less than their time.
        let most = if reads.time().is_known() && !is_looked_up(stream) {
            Severity::Critical
        } else {
            Severity::Notice
        };
        out.report(share, title)
            .at_most(most)
            .subject(subject(facts, stream, reads, "read"))
            .cause(format!(
                "The same bytes are read again{opened}, in {calls} reads{inferred}: what was read or parsed is not kept.",
            ))
            .measured_all(reread::figures(stream))
            .measured(calls)
            .measured_all(often.figures())
            .measured_all(opens)
            .fix("keep what was parsed (or the bytes) in memory; look at the file's mtime before reading it again")
            .fix("do in one pass what several passes do; where passes are needed, map the file (mmap)")
            .fix("a database or index that does not fit: a larger cache of its own (SQLite: PRAGMA cache_size, mmap_size)")
            .verify("strace -f -y -e trace=openat,read,pread64,lseek -p PID   (after: one pass)")
            .saving(saved)
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

/// True where single records are fetched from a file that stays open, as databases do: that they add up to several times its size
/// is no reading over again.
#[gated]
fn is_looked_up(stream: &Stream) -> bool {
    stream.opens <= 1 && stream.reads.in_sequence * 2 < stream.reads.succeeded()
}

fn is_reread(stream: &Stream) -> bool {
    !is_archive(stream) && is_read_over(stream)
}
