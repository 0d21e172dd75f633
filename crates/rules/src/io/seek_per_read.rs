//! # seek-per-read
//!
//! ## What it is
//! Almost every read of a file is preceded by an `lseek` on the same descriptor.
//!
//! ## Why it is slow
//! Two system calls do the work of one: `pread` takes the offset as an argument. Threads that share the
//! descriptor must hold a lock from the seek to the read, since the offset is shared. And a seek throws a stdio
//! buffer away, so what was read ahead is read again.
//!
//! ## Example
//! ```text
//! lseek(5, 30720, SEEK_SET) = 30720
//! read(5, "\x50\x4b"..., 512) = 512
//! ```
//!
//! ## What to do instead
//! `pread(fd, buf, n, offset)`: `os.pread`, `FileChannel.read(buf, position)`, `ReadAt`, `read_at`. Seek only
//! where the next read does not follow the last one. Order look-ups by offset. Or map the file.
//!
//! ## When it is wrong
//! A few hundred seeks (an index, a file format's header) cost nothing. Databases that use `pread` make none.

use super::streams::{how_often, subject, worst};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::often::SEEKS;
use crate::sums;
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Measurement, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "seek-per-read",
    group: "io",
    summary: "each read of a file is preceded by a seek",
    source: include_str!("seek_per_read.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Sums]),
        Need::Either(&[Need::AnyOf(&["lseek", "_llseek"]), Need::Sums]),
    ],
    check,
};

/// Fewer reads are over before anybody notices.
const MIN_READS: u64 = 1_000;
/// The part of the reads that come right behind a seek.
const SEEK_SHARE: f64 = 0.8;
/// The part of the reads in order from which on the seeks are needless.
const NEEDLESS: f64 = 0.5;
/// In sums: seeks for each read at most. With more of them the thread asks for positions, too, and which seek is for a read is not known.
const SEEKS_PER_READ: f64 = 1.25;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    check_sums(facts, out);
    let seeking = facts.streams.iter().filter(|stream| seeks_for_each_read(stream));
    let found = seeking
        .map(|stream| {
            let share = guards::share_of_storm(
                facts,
                stream.reads.only_thread(),
                stream.seeks.total(),
                stream.seeks.count,
            );
            (share, stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let reads = &stream.reads;
        let seeks = Measurement::count("seeks", stream.seeks.count);
        let count = Measurement::count("reads", reads.calls.count).at_least(MIN_READS as f64);
        let often = how_often(facts, &SEEKS, stream.seeks.count);
        let title = format!("{}: {seeks} seeks for {count} reads{}", stream.name, often.behind_comma());
        let after_seek = reads.after_seek as f64 / reads.calls.count.max(1) as f64;
        let after_seek = Measurement::share("share_of_reads_behind_a_seek", after_seek).at_least(SEEK_SHARE);
        let in_order = reads.in_sequence as f64 / reads.succeeded().max(1) as f64;
        let in_order =
            crate::guards::passed(Measurement::share("share_of_reads_in_order", in_order), NEEDLESS);
        let needless = match in_order.threshold {
            Some(_) => format!(
                " {in_order} of the reads begin where the one before ended: these seeks move nothing."
            ),
            None => String::new(),
        };
        out.report(share, title)
            .subject(subject(facts, stream, reads, "lseek"))
            .cause(format!(
                "{after_seek} of the reads come right behind an lseek on the same descriptor, though pread does both in one \
                 call.{needless}",
            ))
            .measured_all([seeks, count])
            .measured_all(often.figures())
            .measured_all([after_seek, in_order])
            .fix(PREAD)
            .fix(ORDER)
            .fix("or map the file (mmap): then there is no call at all")
            .verify(VERIFY)
            .saving(stream.seeks.total())
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

/// Sums of calls: as many seeks as reads, in one thread.
#[gated]
fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    if facts.streams.iter().any(seeks_for_each_read) {
        return;
    }
    let mut found: Vec<_> = sums::by_thread(facts)
        .filter_map(|sums| {
            let seeks = sums.of(&[Syscall::LSEEK, Syscall::LLSEEK]);
            let reads = sums.of(&[Syscall::READ, Syscall::READV]);
            let for_each = seeks.count as f64 / reads.count.max(1) as f64;
            let share = sums.share(seeks.total());
            let pairs = reads.count >= MIN_READS && (SEEK_SHARE..=SEEKS_PER_READ).contains(&for_each);
            (pairs && sums::is_cause(&share)).then_some((sums, seeks, reads, for_each, share))
        })
        .collect();
    found.sort_by_key(|(_, seeks, ..)| std::cmp::Reverse((seeks.total_ns, seeks.count)));
    for (sums, seeks, reads, for_each, share) in found {
        let tid = sums.thread.tid;
        let count = Measurement::count("seeks", seeks.count);
        let of_reads = Measurement::count("reads", reads.count).at_least(MIN_READS as f64);
        let rate = Measurement::per_second("seeks_per_second", sums.per_second(seeks.count));
        let for_each = Measurement::number("seeks_per_read", for_each).at_least(SEEK_SHARE);
        let title = format!("thread {tid}: {count} seeks for {of_reads} reads, {rate} per second");
        out.report(share, title)
            .subject(Subject { syscall: Some("lseek".to_string()), ..Subjects::thread(facts, tid) })
            .cause(format!(
                "There are as many seeks as reads, though pread does both in one call. The seeks took {}, the reads {}. Calls were only counted: \
                 the file is not recorded.",
                seeks.total(),
                reads.total()
            ))
            .measured_all([count, of_reads, rate, for_each])
            .measured(Measurement::time("seek_time", seeks.total()))
            .measured(Measurement::time("read_time", reads.total()))
            .fix(PREAD)
            .fix(ORDER)
            .verify(VERIFY)
            .saving(seeks.total())
            .evidence_line(
                facts.capture.first_name(),
                format!("thread {tid}: {} lseek in {}, {} read in {}", words::count(seeks.count), seeks.total(), words::count(reads.count), reads.total()),
            )
            .file();
    }
}

/// The remedies.
const PREAD: &str = "code: pread(fd, buf, n, offset); Python os.pread(fd, n, offset); Java FileChannel.read(buf, position); Go f.ReadAt; Rust FileExt::read_at";
const ORDER: &str = "leave out the seek where the next read follows the last one; order look-ups by offset";
/// The check.
const VERIFY: &str = "strace -f -c -e trace=lseek,read,pread64 -p PID   (after: no lseek, or pread64 alone)";

#[gated]
fn seeks_for_each_read(stream: &Stream) -> bool {
    let reads = &stream.reads;
    matches!(stream.kind, FdKind::File | FdKind::Unknown | FdKind::Device)
        && reads.calls.count >= MIN_READS
        && reads.after_seek as f64 >= SEEK_SHARE * reads.calls.count as f64
}
