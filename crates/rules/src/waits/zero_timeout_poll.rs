//! # zero-timeout-poll
//!
//! ## What it is
//! A loop calls `epoll_wait`, `poll` or `select` with a timeout of 0 and finds nothing, thousands of times a second.
//!
//! ## Why it is slow
//! A timeout of 0 asks without waiting. A loop that asks so until something comes uses a whole CPU for nothing;
//! in a container with a CPU limit it also uses up the quota of the threads that have work.
//!
//! ## Example
//! ```text
//! epoll_wait(18, [], 200, 0) = 0 <0.000004>
//! epoll_wait(18, [], 200, 0) = 0 <0.000004>
//! ```
//!
//! ## What to do instead
//! Pass the time until the next timer is due, or -1. Round up when converting to milliseconds: 0.4 ms rounded down is
//! 0, and the loop spins until the timer is due. Wake the loop from other threads by an eventfd.
//!
//! ## When it is wrong
//! Loops ask with 0 between two pieces of work to see what else has come: such polls are not counted, as data is moved in
//! between. A computation that looks for events every few hundred microseconds does its work between the calls, which a
//! trace cannot tell from spinning. DPDK-like programs poll by design.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, sums};
use whyslow_facts::Facts;
use whyslow_facts::folds::readiness::ZeroTimeouts;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "zero-timeout-poll",
    group: "waits",
    summary: "a loop polls with a timeout of 0 and finds nothing",
    source: include_str!("zero_timeout_poll.rs"),
    needs: &[Need::Either(&[Need::Calls, Need::Sums]), Need::Either(&[Need::AnyOf(&POLLS), Need::Sums])],
    check,
};

/// Calls that poll.
const POLLS: [&str; 7] = ["epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6"];
/// Of the calls of a thread whose calls were counted, the part that polls from which on nothing is done with what they find: who takes
/// what is there makes one more call for each.
const NOTHING_ELSE: f64 = 0.9;
/// The polls return within that time on average: they wait for nothing.
const AT_ONCE: Nanos = Nanos::new(100_000);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    check_sums(facts, out);
    let mut rows: Vec<&ZeroTimeouts> = facts
        .readiness
        .zero_timeouts
        .iter()
        .filter(|row| guards::is_spin(facts, &row.laps, &guards::share_of_laps(facts, row.tid, &row.laps)))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.laps.time_ns, row.laps.turns)));
    for row in rows {
        report(facts, out, row);
    }
}

/// Sums of calls: polls that return at once, and hardly another call beside them.
#[gated]
fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    let storms = sums::storms(facts, &POLLS, guards::SPIN_TURNS_PER_S);
    let idle = storms.iter().filter(|storm| {
        let quick = storm.calls.mean();
        storm.of_calls() >= NOTHING_ELSE && quick.is_known() && quick <= AT_ONCE
    });
    for storm in idle {
        let site = callers::of_calls(facts, storm.sums.thread.tid, &[storm.name]);
        let function = callers::function(site.as_ref());
        let subject = Subject { function, ..storm.subject(facts) };
        let of_calls = Measurement::share("share_of_calls", storm.of_calls()).at_least(NOTHING_ELSE);
        let quick = Measurement::time("time_per_call", storm.calls.mean());
        let (by, at) = (Subjects::words(&subject), callers::words(site.as_ref()));
        let title = format!("{} by {by} returns at once {}{at}", storm.name, storm.often());
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        let (place, line) = storm.line(facts);
        out.report(storm.share.clone(), title)
            .subject(subject)
            .cause(format!(
                "The polls do not wait ({quick} each on average), and nothing is done with what they find: {of_calls} of the \
                 thread's calls are polls. So the timeout is 0, or something is always ready that nobody takes. Calls were only \
                 counted: which it is, is not recorded."
            ))
            .measured_all(storm.figures())
            .measured_all([of_calls, quick])
            .fix("code: pass the time until the next timer is due, or -1 where there is none, instead of 0")
            .fix("see the timeout and what is ready: whyslow record --mode full -p PID")
            .verify(format!("perf trace -s -p {pid} -- sleep 5   (before and after: calls of {})", storm.name))
            .saving(storm.calls.total())
            .evidence_line(place, line)
            .file();
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, row: &ZeroTimeouts) {
    let poll = facts.name_of(row.syscall);
    let timed = row.laps.time().is_known();
    let time = if timed {
        format!("That took {} of thread {}", row.laps.time(), row.tid)
    } else {
        "The capture has no times, so how fast it polls is not known".to_string()
    };
    let empty = Measurement::count("empty_polls", row.empty);
    let polls = Measurement::count("polls", row.polls);
    let cause = format!(
        "The loop asks whether something has come and does not wait for it: {empty} of {polls} polls found nothing, with no data \
         moved in between. {time}; what it computes between the calls, a trace does not show."
    );
    let site = callers::of_calls(facts, row.tid, &[poll]);
    let function = callers::function(site.as_ref());
    let mut subject =
        Subject { syscall: Some(poll.to_string()), function, ..Subjects::thread(facts, row.tid) };
    let by = subject.tid.map_or(String::new(), |_| format!(" by {}", Subjects::words(&subject)));
    let of = row.target.as_ref().map_or(String::new(), |target| format!(" of {target}"));
    let at = callers::words(site.as_ref());
    let title = format!("{poll}{of} with timeout 0{by} finds nothing {}{at}", row.laps.often());
    match &row.target {
        Some(target) if target.starts_with('/') => subject.path = Some(target.clone()),
        target => subject.peer = target.clone(),
    }
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let share = guards::share_of_laps(facts, row.tid, &row.laps);
    let figures = guards::spin_figures(facts, &row.laps, &share);
    out.report(share, title)
        .measured_all(figures)
        .measured(empty)
        .measured(polls)
        .at_most(if timed { Severity::Critical } else { Severity::Notice })
        .confidence(if timed { 0.8 } else { 0.4 })
        .subject(subject)
        .cause(cause)
        .fix("code: pass the time until the next timer is due, or -1 where there is none, instead of 0")
        .fix("code: round the timeout up when it becomes milliseconds: (ns + 999999) / 1000000, else the last millisecond before each timer spins")
        .fix("code: let other threads wake the loop by an eventfd in its poll set instead of looking for their work")
        .verify(format!("perf trace -s -p {pid} -- sleep 5   (before and after: calls of {poll}), or perf top -t {} (where its CPU time goes)", row.tid))
        .saving(row.laps.time())
        .evidence_all(row.laps.exemplars.iter())
        .file();
}
