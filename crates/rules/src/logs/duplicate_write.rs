//! # duplicate-write
//!
//! ## What it is
//! The same bytes are written twice, to two descriptors of one process, within a millisecond.
//!
//! ## Why it is slow
//! A logger with two appenders (console and file) formats and writes each line twice, mostly under one lock that
//! all threads wait for. Often nobody reads one of the copies: in one Spring Cloud service each line went to
//! fd 23, the log file, and to fd 1, which was `/dev/null`.
//!
//! ## Example
//! ```text
//! write(1, "2018-11-29 07:43:23.009 INFO 1 --- [exec-7] c.x.Feed : get\n", 58) = 58
//! write(23, "2018-11-29 07:43:23.009 INFO 1 --- [exec-7] c.x.Feed : get\n", 58) = 58
//! ```
//!
//! ## What to do instead
//! Keep one appender. In a container that is the one on standard output; on a host, the file.
//!
//! ## When it is wrong
//! An audit log beside an application log is policy, `tee` is made for it, and a message to many clients is no
//! duplicate: sockets are not counted (nor what is written and read, where the capture does not tell what it is), and what
//! costs little is a notice. A capture cut at 32 bytes (`strace`
//! without `-s`) compares heads and lengths only.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::duplicates::{Copy, DuplicatePair};
use whyslow_model::{FdKind, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "duplicate-write",
    group: "logs",
    summary: "the same bytes are written to two descriptors",
    source: include_str!("duplicate_write.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["write", "writev"])],
    check,
};

/// Fewer equal payloads are a coincidence or a banner.
const MIN_PAIRS: u64 = 20;
/// The part of the process's writes that are one of the pair, below which a few equal lines are normal.
const MIN_PART: f64 = 0.05;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let writes = facts.calls_of(&["write", "writev"]);
    let pairs = facts.duplicates.pairs();
    let pairs = pairs.into_iter().filter(|pair| {
        pair.count >= MIN_PAIRS
            && (2 * pair.count) as f64 >= MIN_PART * writes as f64
            && !is_tee(facts, pair)
            && !pair.copies.iter().any(|copy| is_conversation(facts, pair, copy))
    });
    for pair in pairs {
        let (needless, kept) = needless_and_kept(pair);
        let total = if pair.timed > 0 { Nanos::new(needless.total_ns) } else { Nanos::UNKNOWN };
        let tid = (!pair.shared && pair.tid != 0).then_some(pair.tid);
        let share = guards::share_of_storm(facts, tid, total, pair.count);
        let rate = facts.window.per_second(pair.count);
        let rate = rate.map(|rate| Measurement::per_second("duplicates_per_second", rate));
        let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
        let each = Measurement::bytes("bytes_per_call", pair.bytes / pair.count.max(1));
        let of_writes = ((2 * pair.count) as f64 / writes.max(1) as f64).min(1.0);
        let title = format!(
            "The same {} are written to {} and to {}: {} times{often}",
            each,
            name(&pair.copies[0]),
            name(&pair.copies[1]),
            words::count(pair.count)
        );
        // One end of a pipe is somebody's: whether it is read, the capture does not show.
        let piped = pair.copies.iter().any(|copy| copy.kind == FdKind::Pipe);
        let nowhere = if needless.kind == FdKind::DevNull {
            " One copy goes to /dev/null, where nobody reads it."
        } else {
            ""
        };
        let cost =
            if total.is_known() { format!(" The needless copy takes {total}.") } else { String::new() };
        let mut subject = Subjects::thread(facts, pair.tid);
        if pair.shared {
            subject.tid = None;
        }
        let line = &pair.exemplar;
        out.report(share, title)
            .at_most(if piped { Severity::Notice } else { Severity::Warning })
            .measured(each)
            .measured(Measurement::count("duplicates", pair.count).at_least(MIN_PAIRS as f64))
            .measured_all(rate)
            .measured(Measurement::share("share_of_writes", of_writes).at_least(MIN_PART))
            .measured(Measurement::time("time", total))
            .subject(Subject {
                fd: Some(needless.fd),
                path: needless.target.clone(),
                syscall: Some("write".to_string()),
                ..subject
            })
            .cause(format!(
                "Two appenders (or handlers) of the logger write each line: one to {}, one to {}.{nowhere}{cost}",
                name(kept),
                name(needless)
            ))
            .fix("logback, log4j2: remove one appender-ref from the root logger (in production the console one); Spring Boot: logging.config with the file appender only")
            .fix("Python: logging.getLogger().handlers shows both; remove one, or set propagate=False on the child logger")
            .fix(if needless.kind == FdKind::DevNull { "or keep the console appender and let its output go somewhere (drop >/dev/null), without the file" } else { "two files by policy (audit): send the lines that audit needs there, not all" })
            .verify(format!("strace -f -y -s 64 -e trace=write -P {} -p PID   (after: one write a line)", needless.target.as_deref().unwrap_or("FILE")))
            .saving(total)
            .evidence_line(format!("{}:{},{}", facts.capture.source_name(line.source), pair.first_line, line.line), line.text.to_string())
            .file();
    }
}

/// The copy to drop: the one nobody reads, else a terminal's or a pipe's, else the second.
#[gated]
fn needless_and_kept(pair: &DuplicatePair) -> (&Copy, &Copy) {
    let [one, two] = &pair.copies;
    let rank = |copy: &Copy| match copy.kind {
        FdKind::DevNull => 3,
        FdKind::Terminal => 2,
        FdKind::Pipe => 1,
        _ => 0,
    };
    if rank(one) > rank(two) { (one, two) } else { (two, one) }
}

fn name(copy: &Copy) -> String {
    match &copy.target {
        Some(target) => format!("{target} (fd {})", copy.fd),
        None if copy.kind == FdKind::DevNull => format!("/dev/null (fd {})", copy.fd),
        None if copy.kind != FdKind::Unknown => format!("fd {} (a {})", copy.fd, copy.kind.word()),
        None => format!("fd {}", copy.fd),
    }
}

/// True for a descriptor of which the capture does not tell where it leads, but which is read as well as written: what is sent
/// to a peer and then noted by whoever receives it is no second appender.
#[gated]
fn is_conversation(facts: &Facts, pair: &DuplicatePair, copy: &Copy) -> bool {
    let life = facts.world.life_of(pair.process, copy.fd).filter(|_| copy.kind == FdKind::Unknown);
    life.is_some_and(|life| {
        life.seeks.count == 0 && life.reads.as_ref().is_some_and(|reads| reads.calls.count > 0)
    })
}

/// `tee` copies its input to its output and to files: that is its job.
fn is_tee(facts: &Facts, pair: &DuplicatePair) -> bool {
    let name = facts.world.threads.process(pair.process).program();
    name.is_some_and(|name| name.rsplit('/').next() == Some("tee"))
}
