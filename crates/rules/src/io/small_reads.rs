//! # small-reads
//!
//! ## What it is
//! A file is read from front to back in pieces of 1 KiB or less, thousands of them.
//!
//! ## Why it is slow
//! Each read is a system call: about a microsecond of fixed cost, far more on a network or FUSE mount and under
//! a sandbox, whether it brings 64 bytes or 64 KiB. A library that is given an unbuffered handle (Python's
//! `buffering=0`, a Java `FileInputStream` without a `BufferedInputStream`, `setvbuf(_IONBF)`) makes one call
//! for each small piece it parses: in pexpect/ptyprocess#3 that was 26,214 reads and 93 % of the call time.
//!
//! ## Example
//! ```text
//! read(3, "\x00\x01"..., 512) = 512
//! read(3, "\x00\x02"..., 512) = 512
//! ```
//!
//! ## What to do instead
//! Put a buffer of 64 KiB between the file and the parser, read the file whole, or map it.
//!
//! ## When it is wrong
//! Random look-ups in an index or database read little on purpose: the rule asks that most reads begin where the
//! one before ended. Records on sockets and pipes are not judged here; a descriptor that nothing names is taken for neither where of
//! ten thousand reads and more hardly one waits. A table of counts (`strace -c`) shows
//! neither sizes nor files: what it says then is a suspicion, with the command that settles it.

use super::reread::is_archive;
use super::streams::{
    GOOD_BUFFER, are_many, bytes_per_call, difference, how_often, is_byte_by_byte, many, projected, share,
    subject, sums_text, with_sums, worst,
};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards;
use crate::often::CALLS;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{CallStats, FdKind, Measurement, Nanos, Severity, ShareWhole, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "small-reads",
    group: "io",
    summary: "a file is read in thousands of pieces of 1 KiB or less",
    source: include_str!("small_reads.rs"),
    needs: &[Need::Counts],
    check,
};

/// Fewer reads are over before anybody notices: 1,000 take about a millisecond.
const MIN_READS: u64 = 1_000;
/// The mean size in bytes up to which reads are small: a quarter of a page. Drishti counts requests below 1 MB
/// as small for parallel file systems; in the page cache the fixed cost wins below a few KiB.
const SMALL: f64 = 1024.0;
/// The part of the reads that begin where the one before ended, from which on the file is read in order.
const IN_ORDER: f64 = 0.5;
/// Reads a second without a tracer from which on they take a hundredth of a thread's time: one from the page cache takes a
/// microsecond at most on any machine of the last ten years.
const DEAR_PER_S: f64 = 10_000.0;
/// In a table of counts: reads from which on they can be the answer, and their part of all calls.
const MIN_READS_IN_TABLE: u64 = 5_000;
/// Nothing but reads: a copy would show as many writes, a search as many opens.
const READ_SHARE_IN_TABLE: f64 = 0.8;
/// A call of a table that takes longer than this on average may well move much: 128 KiB are copied in about 13 us.
const MAY_BE_LARGE: Nanos = Nanos::new(10_000);
/// Of a descriptor that nothing names, reads that all find what they ask for: who reads a pipe or a socket so often waits now and then.
const MANY_READS: u64 = 10_000;
/// A read that takes longer may have waited, under a tracer too; one of a thousand may have lost its CPU meanwhile.
const AT_ONCE: Nanos = Nanos::from_millis(1);
const NEARLY_ALL: f64 = 0.999;
/// Calls that read from files.
const READS: &[&str] = &["read", "pread64", "readv", "preadv", "preadv2"];

/// True for reads that cannot be those of a pipe or a socket: of very many hardly one waits, and none finds nothing.
#[gated]
fn never_waits(stream: &Stream) -> bool {
    let reads = &stream.reads;
    stream.kind == FdKind::Unknown
        && reads.calls.count >= MANY_READS
        && reads.again == 0
        && reads.calls.percentile(NEARLY_ALL).is_known()
        && reads.calls.percentile(NEARLY_ALL) <= AT_ONCE
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 && facts.summed.is_empty() {
        return check_table(facts, out);
    }
    if facts.world.calls > 0 && facts.hides(READS) {
        return out.not_judged("read calls", facts.capture.retake());
    }
    let small: Vec<&Stream> = with_sums(facts).filter(|stream| is_small(facts, stream)).collect();
    let known = small
        .iter()
        .filter(|stream| stream.kind == FdKind::File && !is_archive(stream) || never_waits(stream));
    let found = known
        .map(|stream| {
            let reads = &stream.reads;
            let share = share(facts, stream, reads, reads.time(), reads.calls.count);
            (share, *stream)
        })
        .collect();
    let found = worst(found);
    if found.is_empty()
        && let Some(unknown) = small.iter().find(|stream| stream.kind == FdKind::Unknown)
    {
        out.not_judged(
            format!("what {} leads to (a file, a pipe or a socket)", unknown.name),
            "lsof -nP -p PID > trace.lsof   (or strace with -y)",
        );
    }
    for (share, stream) in found {
        let reads = &stream.reads;
        let count = reads.calls.count;
        let calls = many(count, MIN_READS);
        let mean = bytes_per_call(reads).map(|mean| mean.at_most(SMALL));
        let pieces = mean.as_ref().map_or(String::new(), |mean| format!(" of {mean}"));
        let total = Measurement::bytes("bytes", reads.calls.bytes);
        let often = how_often(facts, &CALLS, count);
        let title = format!(
            "{}: read in {calls} pieces{pieces} ({total} in all{})",
            stream.name,
            often.behind_comma()
        );
        let in_order = reads.in_sequence as f64 / reads.succeeded().max(1) as f64;
        let in_order = Measurement::share("share_of_calls_in_order", in_order).at_least(IN_ORDER);
        let at_64k = Measurement::count("projected_calls", reads.calls.bytes.div_ceil(GOOD_BUFFER).max(1));
        let projected = projected(reads, &CallStats::default());
        let time = match (reads.time().is_known(), projected.is_known()) {
            (true, true) => {
                format!(" They took {}; {at_64k} reads of 64 KiB would take about {projected}.", reads.time())
            }
            _ => format!(" {at_64k} reads of 64 KiB would bring the same."),
        };
        // Under a tracer the share is one of calls: at a leisurely rate the calls themselves cost next to nothing.
        let rate = facts.pace.untraced(facts.window.per_second(count));
        let dear = share.whole != ShareWhole::Calls || rate.is_none_or(|rate| rate >= DEAR_PER_S);
        out.report(share, title)
            .at_most(if dear { Severity::Critical } else { Severity::Notice })
            .subject(subject(facts, stream, reads, "read"))
            .cause(format!(
                "It is read in order, but without a buffer between it and the code that parses it, so each \
                 piece costs a system call.{time}{}",
                sums_text(stream),
            ))
            .measured(calls)
            .measured_all(mean)
            .measured(total)
            .measured_all(often.figures())
            .measured(in_order)
            .measured(Measurement::time("time", reads.time()))
            .measured(at_64k)
            .measured(Measurement::time("projected_time", projected))
            .fix("Python: open(path, 'rb', buffering=1<<16), not buffering=0 or os.read; Java: new BufferedInputStream(in, 65536); Go: bufio.NewReaderSize(f, 65536); Rust: BufReader::with_capacity(65536, f); C: setvbuf(f, NULL, _IOFBF, 65536)")
            .fix("read a file of this size whole, or map it (mmap)")
            .verify("strace -f -y -e trace=read,pread64 -p PID   (after: sizes of 65536)")
            .saving(difference(reads.time(), projected))
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

#[gated]
fn is_small(facts: &Facts, stream: &Stream) -> bool {
    let reads = &stream.reads;
    !is_byte_by_byte(reads)
        && are_many(facts, reads.calls.count, MIN_READS)
        && reads.mean_size().is_some_and(|mean| mean <= SMALL)
        && reads.in_sequence as f64 >= IN_ORDER * reads.succeeded() as f64
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let all = facts.syscalls();
    let Some((name, stats)) =
        all.iter().filter(|(name, _)| READS.contains(&name.as_str())).max_by_key(|(_, stats)| stats.count)
    else {
        return;
    };
    // A read that fails brings nothing, small or large: a descriptor that is not ready is another cause.
    let brought = stats.count.saturating_sub(stats.errors);
    let share = guards::share_of_calls(facts, brought);
    if brought < MIN_READS_IN_TABLE || share.value.is_none_or(|share| share < READ_SHARE_IN_TABLE) {
        return;
    }
    let mean = stats.mean();
    let severity = if mean.is_known() && mean >= MAY_BE_LARGE { Severity::Notice } else { Severity::Warning };
    let each = if mean.is_known() { format!(", {mean} each") } else { String::new() };
    let row = facts
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .find(|(_, row)| row.name == *name);
    let calls = Measurement::count("calls", stats.count).at_least(MIN_READS_IN_TABLE as f64);
    let all = Measurement::count("all_calls", facts.total_calls());
    let part =
        Measurement::share("share_of_calls", share.value.unwrap_or(f64::NAN)).at_least(READ_SHARE_IN_TABLE);
    let mut report = out
        .report(share, format!("{calls} of {all} calls are {name}{each}: probably small pieces of a file"))
        .measured_all([calls, all, part])
        .measured(Measurement::time("time_per_call", mean))
        .at_most(severity)
        .confidence(0.4)
        .subject(Subject { syscall: Some(name.clone()), ..Subject::default() })
        .cause(
            "Almost all that the program asks of the kernel is reads, as happens where a file is read in small \
             pieces or again and again. A table of counts shows neither the file nor the sizes: the command below does.",
        )
        .fix("see which file and which sizes first: the command below")
        .fix("then put a buffer of 64 KiB before the parser, or read the file once and keep it")
        .verify(format!("strace -f -y -T -e trace={name} -o reads.st COMMAND   (then: whyslow diagnose reads.st)"));
    if let Some((table, row)) = row {
        report = report.evidence_line(
            format!("{}:{}", facts.capture.source_name(table.source), row.line),
            row.raw.clone(),
        );
    }
    report.file();
}
