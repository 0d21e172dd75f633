//! # close-range-loop
//!
//! ## What it is
//! Before it starts a program, a process closes every descriptor number up to its limit, one call each, though
//! almost none of them is open.
//!
//! ## Why it is slow
//! The cost grows with the limit (`ulimit -n`), not with what is open. With the 1,048,576 or more that containers
//! and systemd set, each start of a child takes a million calls: tenths of a second, or seconds under a tracer.
//!
//! ## Example
//! ```text
//! close(1021) = -1 EBADF (Bad file descriptor)
//! close(1022) = -1 EBADF (Bad file descriptor)
//! close(1023) = -1 EBADF (Bad file descriptor)
//! ```
//!
//! ## What to do instead
//! Call `close_range(3, ~0U, 0)` (Linux 5.9, glibc 2.34) or glibc's `closefrom(3)`; or open everything with
//! O_CLOEXEC and close nothing; or read /proc/self/fd and close what is there. Or lower the limit of the service.
//!
//! ## When it is wrong
//! With the default limit of 1,024 one loop is over in a millisecond; only many of them, or long ones, are reported.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "close-range-loop",
    group: "process",
    summary: "every descriptor number up to the limit is closed, though almost none is open",
    source: include_str!("close_range_loop.rs"),
    needs: &[Need::Counts],
    check,
};

/// Closes in vain from which on they are worth a word: at half a microsecond each, 10,000 take 5 ms.
const MIN_CLOSES: u64 = 10_000;
/// In a table: the part of the close calls that fail. Double closes make up a small part.
const FAILED_SHARE: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 {
        return check_table(facts, out);
    }
    let loops = &facts.close_loops;
    let closes = loops.closes.count;
    if closes < MIN_CLOSES {
        if facts.hides(&["close"]) {
            out.not_judged("close calls", facts.capture.retake());
        }
        return;
    }
    let share = guards::share_of_cheap(facts, None, loops.closes.total(), loops.closes.count);
    let time = Measurement::time("time", loops.closes.total());
    let took = time.value.map_or(String::new(), |_| format!(", {time}"));
    let closes = Measurement::count("failed_closes", closes).at_least(MIN_CLOSES as f64);
    let highest = Measurement::count("highest_descriptor", loops.highest.max(0) as u64);
    let program = loops.favourite().map(|file| facts.world.files.get(file).path.to_string());
    let before = program.as_ref().map_or(String::new(), |program| format!(" before {program} starts"));
    let report = out
        .report(
            share,
            format!(
                "{closes} close calls on numbers that are not open, up to {highest}, in {}{before}{took}",
                words::plural(loops.loops, "loop"),
            ),
        )
        .subject(Subject {
            syscall: Some("close".to_string()),
            path: program,
            ..Subjects::thread(facts, loops.tid)
        })
        .cause(
            "To give a child no descriptors it should not have, the program closes every number up to its limit of open files, \
             one call each. The limit is high, so nearly all of the calls find nothing (EBADF).",
        )
        .measured_all([closes, highest, Measurement::count("loops", loops.loops), time])
        .saving(loops.closes.total())
        .evidence_all(loops.exemplars.iter());
    finish(report);
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts
        .tables
        .iter()
        .filter(|table| !table.library)
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let Some((table, row)) = rows.filter(|(_, row)| row.name == "close").max_by_key(|(_, row)| row.errors)
    else {
        return;
    };
    let (calls, failed) = (row.calls.unwrap_or(0), row.errors.unwrap_or(0));
    if failed < MIN_CLOSES || (failed as f64) < FAILED_SHARE * calls as f64 {
        return;
    }
    let source = facts.capture.source_name(table.source);
    let part = Measurement::share("share_failed", failed as f64 / calls as f64).at_least(FAILED_SHARE);
    let closes = Measurement::count("failed_closes", failed).at_least(MIN_CLOSES as f64);
    let calls = Measurement::count("calls", calls);
    let report = out
        .report(
            guards::share_of_calls(facts, failed),
            format!("{closes} of {calls} close calls failed"),
        )
        .measured_all([closes, calls, part])
        .subject(Subject { syscall: Some("close".to_string()), ..Subject::default() })
        .cause(
            "So many failures come from a loop that closes every number up to the limit of open files before it starts a child. \
             The table shows neither the numbers nor the error: strace -f -e trace=close -Z does.",
        )
        .evidence_line(format!("{source}:{}", row.line), row.raw.trim())
        .at_most(Severity::Warning);
    finish(report);
}

fn finish(report: crate::engine::Report<'_, '_>) {
    report
        .fix("code: close_range(3, ~0U, 0) (Linux 5.9) or closefrom(3) (glibc 2.34); else open with O_CLOEXEC and close nothing; Python: subprocess without preexec_fn, close_fds uses close_range from 3.10 on")
        .fix("service: lower the limit: systemd LimitNOFILE=65536; docker run --ulimit nofile=65536:65536; shell: ulimit -n 65536")
        .fix("update the program: rpm, cron, sshd, Erlang and others have had this loop and lost it")
        .verify("prlimit --nofile -p PID;  perf trace -s -e close -p PID sleep 4   (its errors column)")
        .file();
}
