//! # mid-connection
//!
//! ## What it is
//! Much of the reading and writing is done on descriptors that were open before the capture began, and nothing in it
//! tells what they lead to.
//!
//! ## Why it is slow
//! It is not: but whether a slow read waits for a disk, a pipe or a server cannot be told without it.
//!
//! ## Example
//! ```text
//! 21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\nHMGET\r\n…", 89, 0, NULL, 0) = 89 <0.000051>
//! ```
//!
//! ## What to do instead
//! `lsof -nP -p PID > trace.lsof` while the program runs, and give it to whyslow beside the trace; or take the trace
//! with `-yy`, which shows paths and addresses with each call.
//!
//! ## When it is wrong
//! Standard input, output and error are always older than the capture and do not count.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::{Facts, FdLife, Origin};
use whyslow_model::syscall::Moves;
use whyslow_model::{Measurement, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "mid-connection",
    group: "capture",
    summary: "descriptors in use were open before the capture, and nothing names them",
    source: include_str!("mid_connection.rs"),
    needs: &[Need::Calls],
    check,
};

/// From this part of all reads and writes on, the answer may lie there.
const IO_SHARE: f64 = 0.10;
/// Fewer reads and writes are a remark on a single line.
const MIN_CALLS: u64 = 3;
/// Standard input, output and error.
const STANDARD_FDS: std::ops::RangeInclusive<i32> = 0..=2;
/// Descriptors listed.
const NAMED: usize = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut unnamed: Vec<&FdLife> =
        facts.world.fds.iter().map(|(_, life)| life).filter(|life| is_unnamed(facts, life)).collect();
    let calls: u64 = unnamed.iter().map(|life| life.io_calls()).sum();
    let all: u64 = facts
        .world
        .threads
        .iter()
        .flat_map(|(_, thread)| thread.by_syscall.iter())
        .filter(|(syscall, _)| syscall.info().moves != Moves::None)
        .map(|(_, stats)| stats.count)
        .sum();
    if calls < MIN_CALLS || (calls as f64) < IO_SHARE * all as f64 {
        return;
    }
    unnamed.sort_by_key(|life| (std::cmp::Reverse(life.io_calls()), life.fd));
    let share =
        Measurement::share("share_of_reads_and_writes", calls as f64 / all.max(1) as f64).at_least(IO_SHARE);
    let busiest: Vec<String> = unnamed
        .iter()
        .take(NAMED)
        .map(|life| format!("fd {} ({})", life.fd, words::plural(life.io_calls(), "call")))
        .collect();
    let lines = unnamed.iter().take(NAMED).filter_map(|life| {
        [&life.reads, &life.writes].into_iter().flatten().find_map(|io| io.exemplars.first.as_deref())
    });
    let pid = unnamed
        .first()
        .and_then(|life| facts.world.threads.process(life.process).pid)
        .map_or("PID".to_string(), |pid| pid.to_string());
    let mut found = out
        .capture(format!(
            "{share} of the reads and writes use {} of which the capture does not tell where they lead",
            words::plural(unnamed.len() as u64, "descriptor"),
        ))
        .measured(share)
        .measured(Measurement::count("descriptors", unnamed.len() as u64))
        .measured(Measurement::count("calls", calls).at_least(MIN_CALLS as f64))
        .subject(Subject { fd: unnamed.first().map(|life| life.fd), ..Subject::default() })
        .cause(format!(
            "They were open before the capture began, and nothing names them. The busiest: {}.",
            busiest.join(", ")
        ));
    found = if facts.capture.is_recording() {
        found.fix("record as root: only then are the descriptors of other users' processes read")
    } else {
        found.fix(format!("while the program still runs: lsof -nP -p {pid} > trace.lsof, then: whyslow diagnose trace.st trace.lsof"))
            .fix("or take the trace with -yy (strace 4.7 or later): strace -f -ttT -yy -s 256 -o trace.st -p PID")
    };
    found.evidence_all(lines).verify(format!("ls -l /proc/{pid}/fd")).file();
}

#[gated]
fn is_unnamed(facts: &Facts, life: &FdLife) -> bool {
    life.origin == Origin::BeforeCapture
        && life.io_calls() > 0
        && !STANDARD_FDS.contains(&life.fd)
        && (life.kind.is_socket()
            || life.kind == whyslow_model::FdKind::Unknown
            || life.kind == whyslow_model::FdKind::File)
        && life.target(&facts.world).is_none()
}
