//! # small-writes
//!
//! ## What it is
//! A file, pipe or socket is written one small piece after the other, or sent small datagrams: thousands of writes of 256 bytes or less
//! with nothing in between.
//!
//! ## Why it is slow
//! Each write is a system call, and on a file also a lock, a change of the inode's times and perhaps a journal
//! entry. On a socket each may become a packet. One write of 64 KiB costs about as much as two of 100 bytes.
//!
//! ## Example
//! ```text
//! write(3, "17,42\n", 6) = 6
//! write(3, "18,44\n", 6) = 6
//! ```
//!
//! ## What to do instead
//! Collect the pieces: `BufferedWriter`, `bufio.Writer`, `BufWriter`, stdio with full buffering; flush at the
//! end of a record or a few times a second. Where the pieces are at hand, hand them over together (`writev`).
//!
//! ## When it is wrong
//! A terminal and a log of a few lines a second must show each line at once. A server that answers each request
//! with a few bytes writes as often as it is asked: the rule only counts writes that follow a write. A line of
//! access log a request is a notice at most, and so are writes that each wait for the device (`sync-open`): their size is not
//! what they cost. Logs are left to `log-flood`.

use super::streams::{
    are_many, bytes_per_call, difference, how_often, is_byte_by_byte, many, projected, share, subject,
    sums_text, with_sums, worst,
};
use super::synced::waits_for_device;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::often::CALLS;
use whyslow_facts::{Facts, Stream};
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Measurement, SaturatingSum, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "small-writes",
    group: "io",
    summary: "a file, pipe or socket is written in thousands of pieces of 256 bytes or less",
    source: include_str!("small_writes.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Table("files")]),
        Need::Either(&[Need::AnyOf(WRITES), Need::Table("files")]),
    ],
    check,
};

const WRITES: &[&str] = &["write", "writev", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg"];
/// Fewer writes are over before anybody notices: 1,000 take about a millisecond.
const MIN_WRITES: u64 = 1_000;
/// The mean size in bytes up to which writes are small: about two lines of text.
const SMALL: f64 = 256.0;
/// The part of the writes that follow a write, from which on they could be one.
const IN_A_ROW: f64 = 0.8;
/// Writes a second up to which a log may be written line by line.
const LINE_LOG_PER_S: f64 = 100.0;
/// Reads of the writing thread for each write from which on it passes on what arrives.
const READS_PER_WRITE: f64 = 0.8;
/// Writes a request up to which a file is a request log.
const LOG_LINES_PER_REQUEST: f64 = 2.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let small = with_sums(facts).filter(|stream| is_small(facts, stream) && !facts.log_levels.is_log(stream));
    let often = small.filter(|stream| {
        let rate = facts.pace.untraced(facts.window.per_second(stream.writes.calls.count));
        rate.is_none_or(|rate| rate > LINE_LOG_PER_S)
    });
    let found = often
        .map(|stream| {
            let writes = &stream.writes;
            let time = writes.time_of_work(stream.kind);
            (share(facts, stream, writes, time, writes.calls.count), stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let writes = &stream.writes;
        let count = writes.calls.count;
        let requests = facts.work.requests as f64;
        let request_log = requests > 0.0 && count as f64 <= LOG_LINES_PER_REQUEST * requests;
        let calls = many(count, MIN_WRITES);
        let mean = bytes_per_call(writes).map(|mean| mean.at_most(SMALL));
        let pieces = mean.as_ref().map_or(String::new(), |mean| format!(" of {mean}"));
        let total = Measurement::bytes("bytes", writes.calls.bytes);
        let often = how_often(facts, &CALLS, count).per_second_from(facts, LINE_LOG_PER_S);
        let title = format!(
            "{}: written in {calls} pieces{pieces} ({total} in all{})",
            stream.name,
            often.behind_comma()
        );
        let in_a_row = writes.in_sequence as f64 / writes.succeeded().max(1) as f64;
        let in_a_row = Measurement::share("share_of_calls_in_a_row", in_a_row).at_least(IN_A_ROW);
        let at_64k = writes.calls.bytes.div_ceil(super::streams::GOOD_BUFFER).max(1);
        let at_64k = Measurement::count("projected_calls", at_64k);
        let time = writes.time_of_work(stream.kind);
        out.report(share, title)
            .at_most(match request_log || is_driven_by_input(facts, stream) || waits_for_device(facts, stream) {
                true => Severity::Notice,
                false => Severity::Critical,
            })
            .subject(subject(facts, stream, writes, "write"))
            .cause(format!(
                "One piece is written behind the other without a buffer that collects them, so each costs a system \
                 call. {at_64k} writes of 64 KiB would carry the same.{}",
                sums_text(stream),
            ))
            .measured(calls)
            .measured_all(mean)
            .measured(total)
            .measured_all(often.figures())
            .measured_all([in_a_row, at_64k])
            .fix("collect the pieces: Python open(path, 'w', buffering=1<<16) and no flush=True; Java BufferedOutputStream(out, 65536); Go bufio.NewWriterSize(f, 65536); Rust BufWriter::with_capacity(65536, f); C setvbuf(f, NULL, _IOFBF, 65536)")
            .fix("not from the program's own code: stdbuf -o64K COMMAND (stdio programs), PYTHONUNBUFFERED unset; a logger: immediateFlush=false (log4j2, logback) or an asynchronous appender")
            .fix("pieces that are at hand together: one writev; datagrams, such as metrics of statsd: several in one, up to the MTU")
            .verify("strace -f -y -e trace=write,writev -p PID   (after: fewer and larger)")
            .saving(difference(time, projected(writes, &CallStats::default())))
            .evidence_all(writes.exemplars.iter())
            .file();
    }
}

/// True where the thread that writes reads about as often: a filter or a server that passes on what arrives,
/// piece by piece.
#[gated]
fn is_driven_by_input(facts: &Facts, stream: &Stream) -> bool {
    let mut threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let writer = threads.find(|thread| thread.tid == stream.writes.tid);
    let reads: u64 = writer.map_or(0, |writer| {
        let table = writer.by_syscall.iter();
        table
            .filter(|(syscall, _)| syscall.info().moves == Moves::Read)
            .map(|(_, stats)| stats.count)
            .saturating_sum()
    });
    reads as f64 >= READS_PER_WRITE * stream.writes.calls.count as f64
}

#[gated]
fn is_small(facts: &Facts, stream: &Stream) -> bool {
    let writes = &stream.writes;
    let kind = matches!(
        stream.kind,
        FdKind::File
            | FdKind::Pipe
            | FdKind::Tcp
            | FdKind::Udp
            | FdKind::Unix
            | FdKind::Socket
            | FdKind::Unknown
    );
    kind && !is_byte_by_byte(writes)
        && are_many(facts, writes.calls.count, MIN_WRITES)
        && writes.mean_size().is_some_and(|mean| mean <= SMALL)
        && writes.in_sequence as f64 >= IN_A_ROW * writes.succeeded() as f64
}
