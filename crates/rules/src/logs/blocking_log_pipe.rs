//! # blocking-log-pipe
//!
//! ## What it is
//! What a program prints (its standard output or error, or log lines) goes to a pipe whose reader is slower: the program stands still in
//! its own prints.
//!
//! ## Why it is slow
//! A pipe holds 64 KiB. Once it is full, each print waits until the other end has read: a log shipper, `tee`, a container's runtime, a
//! terminal multiplexer. Whoever prints under a lock makes the others wait, too.
//!
//! ## Example
//! ```text
//! write(1, "2026-11-24 INFO tour 17 planned "..., 154) = 154 <0.044230>
//! ```
//!
//! ## What to do instead
//! Print less (levels, sampling). Hand lines to a thread of its own with a bounded queue that drops rather than waits (log4j2
//! AsyncAppender with blocking=false, Docker's `mode=non-blocking`), or to a file or journald. Make the reader faster.
//!
//! ## When it is wrong
//! Two programs of a pipeline are as fast as the slower one, by design: only what is printed to descriptors 1 and 2, or looks like a
//! log, counts, and no blocks of 4 KiB and more, which are data. What a filter prints goes there, too: a program that reads about as often
//! as it prints is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, sums, words};
use whyslow_facts::{Exemplar, Facts, Stream};
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "blocking-log-pipe",
    group: "logs",
    summary: "a program waits in its own prints, as the reader of the pipe is slower",
    source: include_str!("blocking_log_pipe.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["write", "writev", "sendto"])],
    check,
};

/// A print that waits: into a pipe with room it takes microseconds.
const WAITS: Nanos = Nanos::from_millis(1);
/// Prints that waited, at least.
const MIN_WAITS: u64 = 3;
/// Bytes of a print, at most: lines of a log are below it so as not to be mixed (PIPE_BUF, pipe(7)), and data comes in blocks of it and more
/// (st_blksize of a pipe).
const LINE: f64 = 4096.0;
/// Reads for each print from which on the program hands on what it reads.
const READS_PER_PRINT: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let prints = facts.streams.iter().filter(|stream| is_print(facts, stream));
    let mut found: Vec<(u64, Nanos, &Stream)> = prints
        .map(|stream| {
            let (count, ns) = waited(stream);
            (count, ns, stream)
        })
        .filter(|(count, ..)| *count >= MIN_WAITS)
        .collect();
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.2.name.cmp(&b.2.name)));
    for (count, time, stream) in found {
        let writes = &stream.writes;
        // Waits are kept one by one all along, also where other calls are not.
        let of_life = writes.only_thread().and_then(|tid| sums::share_of(facts, tid, time));
        let share = of_life.unwrap_or_else(|| guards::share_of_ns(facts, writes.only_thread(), time, count));
        let saving = time;
        if share.value.is_none_or(|value| value < guards::WARNING_SHARE) {
            continue;
        }
        let time = Measurement::time("time", time);
        let waits = Measurement::count("prints_that_waited", count).at_least(MIN_WAITS as f64);
        let longest = Measurement::time("longest", writes.calls.max()).at_least(WAITS.or_zero() as f64);
        let hands_on = hands_on(facts, stream);
        out.report(
            share.clone(),
            format!(
                "prints to {} wait for its reader: {waits} of {} took {time}, up to {longest} each",
                stream.name,
                words::count(writes.calls.count),
            ),
        )
        .at_most(match (hands_on, is_unknown(stream)) {
            (true, _) => Severity::Notice,
            (false, true) => Severity::Warning,
            (false, false) => Severity::Critical,
        })
        .subject(Subject {
            path: stream.path.clone(),
            fd: stream.fd,
            syscall: Some("write".to_string()),
            ..Subjects::thread(facts, writes.tid)
        })
        .cause("The pipe is full: whoever reads it (a log shipper, tee, the container's runtime, a terminal) takes longer for a line than the program for the work behind it. Each print waits until there is room.")
        .measured(waits)
        .measured(time)
        .measured(longest)
        .measured(Measurement::count("prints", writes.calls.count))
        .measured(share.figure().at_least(guards::WARNING_SHARE))
        .fix("print less: the level, one line for a unit of work instead of one for each step, sampling")
        .fix("hand lines to a thread with a bounded queue that drops rather than waits (log4j2 AsyncAppender blocking=false, Python QueueHandler, Docker log-opt mode=non-blocking), or write to a file or journald")
        .fix("find the reader (lsof -E, whyslow fds) and see what it does for each line; a larger pipe (F_SETPIPE_SZ) helps with bursts alone")
        .verify("strace -f -T -e trace=write,writev -e write=1,2 -p PID   (no more of milliseconds)")
        .saving(saving)
        .evidence_all(writes.exemplars.iter())
        .file();
    }
}

/// True for a pipe, or what may be one, to which log lines or the standard output go.
#[gated]
fn is_print(facts: &Facts, stream: &Stream) -> bool {
    let is_standard = matches!(stream.fd, Some(1 | 2)) || stream.writes.exemplars.iter().any(is_to_standard);
    if stream.writes.mean_size().is_some_and(|mean| mean >= LINE) {
        return false;
    }
    let is_pipe = stream.kind == FdKind::Pipe;
    // What is inherited and has no name may be anything.
    let may_be = is_unknown(stream) && is_standard && stream.syncs.count == 0 && stream.seeks.count == 0;
    is_pipe && (is_standard || facts.log_levels.is_log(stream)) || may_be
}

fn is_unknown(stream: &Stream) -> bool {
    stream.kind == FdKind::Unknown && stream.reads.calls.count == 0
}

/// `write(1, …`, `writev(2</run/log>, …`.
fn is_to_standard(line: &Exemplar) -> bool {
    ["write(1,", "write(1<", "write(2,", "write(2<", "writev(1,", "writev(1<", "writev(2,", "writev(2<"]
        .iter()
        .any(|head| line.text.contains(head))
}

/// Writes that waited, and their time.
#[gated]
fn waited(stream: &Stream) -> (u64, Nanos) {
    let times = stream.writes.calls.histogram.durations();
    let long = || times.iter().filter(|(dur, _)| *dur >= WAITS);
    let ns = long().map(|(dur, count)| dur.or_zero().saturating_mul(u64::from(*count))).saturating_sum();
    let most = stream.writes.calls.total_ns;
    (long().map(|(_, count)| u64::from(*count)).saturating_sum(), Nanos::new(ns.min(most)))
}

/// True where the threads of the process read about as often as they print: a filter.
#[gated]
fn hands_on(facts: &Facts, stream: &Stream) -> bool {
    let Some(writer) = facts.world.threads.thread_of(stream.writes.tid) else { return false };
    let own = facts.world.threads.iter().map(|(_, thread)| thread);
    let own = own.filter(|thread| thread.process == writer.process);
    let calls = own.flat_map(|thread| thread.all_calls());
    let reads = calls.filter(|(call, _)| call.info().moves == Moves::Read).map(|(_, calls)| calls.count);
    reads.saturating_sum() as f64 >= READS_PER_PRINT * stream.writes.calls.count as f64
}
