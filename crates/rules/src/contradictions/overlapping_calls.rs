//! # overlapping-calls
//!
//! ## What it is
//! By the times of a trace a thread begins calls before the call before has ended: its times and its durations contradict
//! each other.
//!
//! ## Why it is slow
//! It is not: but one of the two columns is wrong, and so is each share that is computed from both. `-r` counts from line
//! to line, of whatever thread; where thread ids or lines were cut away, the times that are left no longer fit the
//! durations of `-T`. With `-t` and `-tt` a clock that was set back does the same.
//!
//! ## Example
//! ```text
//!      0.000000 read(3, "x", 1) = 1 <0.500000>
//!      0.000100 read(3, "x", 1) = 1 <0.500000>
//! ```
//!
//! ## What to do instead
//! `strace -f -ttT`: thread, time and duration on each line, and no line taken out.
//!
//! ## When it is wrong
//! Lines of several threads without their ids look like one thread whose calls overlap: that is a wrong trace too, and
//! said so.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::world::threads::Overlaps;
use whyslow_model::{ClockKind, Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "overlapping-calls",
    group: "contradictions",
    summary: "times and durations of a trace contradict each other",
    source: include_str!("overlapping_calls.rs"),
    needs: &[Need::Clock, Need::Durations],
    check,
};

/// Fewer may be a clock that was set once, which is told as such.
const MIN_OVERLAPS: u64 = 3;
/// Set back by less, a clock was corrected, not set: NTP slews what is below 128 ms and steps what is above (ntpd(8)).
const STEP: Nanos = Nanos::from_millis(128);
/// Time by which calls overlap, of the time in calls: below, it is rounding.
const MIN_SHARE: f64 = 0.01;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // A recorder takes both from one clock.
    if facts.capture.is_recording() {
        return;
    }
    let all = || facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.merged == 1);
    let odd = all().filter_map(|thread| {
        let overlaps = thread.overlaps.as_deref()?;
        let in_calls = thread.working_ns + thread.waiting_total();
        let much = overlaps.time_ns as f64 >= MIN_SHARE * in_calls as f64;
        (overlaps.count >= MIN_OVERLAPS && much).then_some((thread, overlaps, in_calls))
    });
    let Some((thread, overlaps, in_calls)) = odd.max_by_key(|(_, overlaps, _)| overlaps.time_ns) else {
        let stepped = all().filter_map(|thread| thread.overlaps.as_deref());
        if let Some(step) = stepped.max_by_key(|overlaps| overlaps.longest_ns) {
            clock_set_back(facts, out, step);
        }
        return;
    };
    let relative = facts.capture.source(overlaps.exemplar.source).map(|source| source.clock);
    let why = match relative {
        Some(ClockKind::Relative) => {
            "-r tells the time since the line before, of whatever thread: lines that were taken out, or several threads without their ids, leave times that are too short."
        }
        _ => "Lines of several threads without their ids, or a clock that was set back while it ran.",
    };
    let part = overlaps.time_ns as f64 / in_calls.max(1) as f64;
    let who = match thread.tid {
        0 => "the thread shown".to_string(),
        tid => format!("thread {tid}"),
    };
    out.disagreement(format!(
        "{} of {who} begin before the call before has ended: times and durations contradict each other",
        words::plural(overlaps.count, "call")
    ))
    .subject(Subject { tid: (thread.tid != 0).then_some(thread.tid), ..Subject::default() })
    .cause(format!(
        "Its calls take {} by their durations, and overlap by {} by their times; a thread does one call at a time. {why} \
         Shares of the time are not to be trusted.",
        Nanos::new(in_calls),
        Nanos::new(overlaps.time_ns),
    ))
    .fix("take the trace again: strace -f -ttT -o again.st -p PID   (thread, time of day and duration on each line)")
    .measured(Measurement::count("overlapping_calls", overlaps.count).at_least(MIN_OVERLAPS as f64))
    .measured(Measurement::time("time", Nanos::new(in_calls)))
    .measured(Measurement::time("time_overlapping", Nanos::new(overlaps.time_ns)))
    .measured(Measurement::share("share_overlapping", part).at_least(MIN_SHARE))
    .evidence(Some(&overlaps.exemplar))
    .verify("awk '{print $1}' again.st | sort | uniq -c   (lines a thread)")
    .file();
}

/// One call that begins long before the call before has ended: the clock went back in between.
#[gated]
fn clock_set_back(facts: &Facts, out: &mut Findings<'_>, step: &Overlaps) {
    let clock = facts.capture.source(step.exemplar.source).map(|source| source.clock);
    if !matches!(clock, Some(ClockKind::Epoch | ClockKind::TimeOfDay)) || step.longest_ns < STEP.or_zero() {
        return;
    }
    let by = Measurement::time("clock_step", Nanos::new(step.longest_ns)).at_least(STEP.or_zero() as f64);
    out.disagreement(format!("the clock of the trace goes back by {by} or more: its times cannot be trusted across that line"))
        .cause(format!(
            "By its time the call begins {by} before the call before it in the same thread has ended. A thread does one call at a time, so \
             the clock was set (NTP, date, a virtual machine that was moved), or lines of two traces are mixed. Durations (-T) are \
             taken from another clock and stay right; waits between calls and rates across the line are not."
        ))
        .fix("take the trace again while the clock stands (chronyc tracking, timedatectl), or cut it at that line")
        .measured(by)
        .evidence(Some(&step.exemplar))
        .verify("journalctl -u chronyd -u systemd-timesyncd -u ntpd   (who set the clock, and when)")
        .file();
}
