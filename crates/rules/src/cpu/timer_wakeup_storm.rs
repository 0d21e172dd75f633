//! # timer-wakeup-storm
//!
//! ## What it is
//! A thread sets timers or sleeps of a fraction of a millisecond and is woken by them thousands of times a second, each time for a few microseconds of work.
//!
//! ## Why it is slow
//! A wake-up costs an interrupt, a switch to the thread and one away from it: several microseconds and what they push out of the caches, which is more than such a thread does when it runs. The
//! CPU never rests, other threads are interrupted, and a laptop or a phone drains its battery.
//!
//! ## Example
//! ```text
//! clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=100000}, NULL) = 0 <0.000158>
//! clock_nanosleep(CLOCK_MONOTONIC, 0, {tv_sec=0, tv_nsec=100000}, NULL) = 0 <0.000155>
//! ```
//!
//! ## What to do instead
//! One timer for many deadlines (a timer wheel, the event loop's), as coarse as the task allows; more work for each tick; `prctl(PR_SET_TIMERSLACK)` lets the kernel join wake-ups.
//! Wait for the event itself where there is one.
//!
//! ## When it is wrong
//! Audio and control loops tick at a thousand a second on purpose: up to that nothing is said. What looks for something after each sleep is sleep-polling.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, sums};
use std::collections::BTreeMap;
use whyslow_facts::folds::sleeps::Sleep;
use whyslow_facts::{Exemplar, Facts, SchedTime};
use whyslow_model::{FdKind, Measurement, Nanos, SaturatingSum, Severity, ShareOf, Subject, Syscall, Tid};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "timer-wakeup-storm",
    group: "cpu",
    summary: "timers wake a thread thousands of times per second for next to no work",
    source: include_str!("timer_wakeup_storm.rs"),
    needs: &[Need::Counts],
    check,
};

/// Wake-ups a second: control loops and audio tick at a thousand.
const WAKEUPS_PER_S: f64 = 1_200.0;
/// Fewer are a moment.
const MIN_WAKEUPS: u64 = 500;
/// What a thread runs for at a wake-up, on average: with more of it the wake-up is small beside the work.
const TINY_SLICE: Nanos = Nanos::new(100_000);
/// Sleeps of more cannot come to so many wake-ups.
const SHORT_SLEEP: Nanos = Nanos::from_millis(1);
/// Of what a thread calls, the waits for timers: else it does other things, and is woken for them.
const OF_CALLS: f64 = 0.15;
/// Calls that only sleep. Of `nanosleep` the counts alone do not tell whether it was the runtime of Go ([`OF_GO`]).
const SLEEPS: &[Syscall] = &[Syscall::CLOCK_NANOSLEEP];
/// Go's monitor thread and its scheduler sleep so long, or less, by `nanosleep` while goroutines run (runtime/proc.go: sysmon, runqgrab); the C library
/// sleeps by `clock_nanosleep`.
const OF_GO: Nanos = Nanos::new(20_000);

/// Wake-ups of a thread by timers.
#[derive(Default)]
struct Woken<'a> {
    times: u64,
    /// Of so many calls of the thread.
    calls: u64,
    per_second: Option<f64>,
    lines: Vec<&'a Exemplar>,
    how: &'static str,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut woken: BTreeMap<Tid, Woken<'_>> = BTreeMap::new();
    let is_short = |row: &&Sleep| !row.in_turns && mean(row.slept_ns, row.timed) <= SHORT_SLEEP;
    for row in facts.sleeps.rows.iter().filter(is_short).filter(|row| !is_of_go(row)) {
        let of = woken.entry(row.tid).or_default();
        of.times = of.times.saturating_add(row.times);
        of.lines.extend(row.exemplars.iter().next());
        of.how = "sleeps";
    }
    for stream in facts.streams.iter().filter(|stream| stream.kind == FdKind::Timer) {
        let Some(tid) = stream.reads.only_thread() else { continue };
        let of = woken.entry(tid).or_default();
        of.times =
            of.times.saturating_add(stream.reads.calls.count.saturating_sub(stream.reads.calls.errors));
        of.lines.extend(stream.reads.exemplars.iter().next());
        of.how = "timerfd";
    }
    for (tid, of) in woken.iter_mut() {
        of.per_second = facts.window.per_second(of.times);
        of.calls = facts.world.threads.thread_of(*tid).map_or(0, |thread| thread.calls);
    }
    for sums in sums::by_thread(facts) {
        let slept = sums.of(SLEEPS);
        let of = woken.entry(sums.thread.tid).or_default();
        if slept.count > of.times {
            (of.times, of.per_second, of.how) = (slept.count, Some(sums.per_second(slept.count)), "sleeps");
            of.calls = sums.thread.all_calls().map(|(_, stats)| stats.count).saturating_sum();
        }
    }
    for (tid, of) in woken.iter() {
        report(facts, out, *tid, of);
    }
}

/// True for a sleep of Go's runtime, which is none of the program's.
#[gated]
fn is_of_go(sleep: &Sleep) -> bool {
    sleep.syscall == Syscall::NANOSLEEP && sleep.period <= OF_GO
}

fn mean(total: u64, timed: u64) -> Nanos {
    total.checked_div(timed).map_or(Nanos::UNKNOWN, Nanos::new)
}

/// How long it runs at a time.
fn slice(time: &SchedTime) -> Nanos {
    mean(time.on_cpu_ns, time.stretches)
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, tid: Tid, of: &Woken<'_>) {
    let Some(thread) = facts.world.threads.thread_of(tid) else { return };
    let rates = guards::rate_figures(
        facts,
        ["wakeups_per_second", "wakeups_per_second_untraced"],
        of.per_second,
        WAKEUPS_PER_S,
    );
    let fast = rates.iter().any(|rate| rate.threshold.is_some());
    let part = of.times as f64 / of.calls.max(1) as f64;
    let sched = thread.sched.as_deref();
    let slice = sched.map(slice);
    let is_tiny = slice.is_none_or(|slice| slice <= TINY_SLICE);
    if !fast || of.times < MIN_WAKEUPS || part < OF_CALLS || !is_tiny {
        return;
    }
    // Of its life it runs so much, and all of that is wake-ups; without the scheduler's account only the calls tell.
    let life = sched.map(|time| time.covered().or_zero()).filter(|life| *life > 0);
    let ran = sched.map_or(Nanos::UNKNOWN, |time| Nanos::new(time.on_cpu_ns));
    let share = match life {
        Some(life) => Share::of_time((ran.or_zero() as f64 / life as f64).min(1.0), ShareOf::life_of(tid)),
        None => guards::share_of_calls(facts, of.times),
    };
    let subject = Subjects::thread(facts, tid);
    let site = callers::of_calls(
        facts,
        tid,
        &["clock_nanosleep", "nanosleep", "read", "epoll_wait", "poll", "select"],
    );
    let times = Measurement::count("wakeups", of.times).at_least(MIN_WAKEUPS as f64);
    let slice =
        slice.map(|slice| Measurement::time("time_per_slice", slice).at_most(TINY_SLICE.or_zero() as f64));
    let runs = slice.as_ref().map_or(String::new(), |slice| format!(", and runs {slice} each time"));
    let often = rates.first().map_or(String::new(), |rate| format!(", {rate} per second"));
    let part = Measurement::share("share_of_calls", part).at_least(OF_CALLS);
    let line = format!("thread {tid}: {times} wake-ups by timers ({})", of.how);
    out.report(
        share,
        format!(
            "{} is woken by its timers ({}) {times} times{often}{runs}{}",
            Subjects::words(&subject),
            of.how,
            callers::words(site.as_ref())
        ),
    )
    .at_most(Severity::Warning)
    .subject(Subject { function: callers::function(site.as_ref()), ..subject })
    .cause("Each wake-up is an interrupt and two switches: several microseconds of the CPU's time, whatever the thread does then. Other threads on that CPU are interrupted as often.")
    .measured_all([times, part])
    .measured_all(rates)
    .measured_all(slice)
    .fix("code: a longer period, and what has gathered at each tick; one timer for all deadlines (the event loop's) instead of one each")
    .fix("code: wait for the event itself (a condition variable, a descriptor in poll) where the ticks look for one")
    .fix("prctl(PR_SET_TIMERSLACK, 1000000): the kernel joins wake-ups within a millisecond; timers that may be late: timerfd with a coarse period")
    .verify("pidstat -w -t -p PID 1 (cswch/s falls); bpftrace -e 'tracepoint:timer:hrtimer_expire_entry { @[comm] = count(); }'")
    .saving(ran)
    .evidence_all(of.lines.iter().copied())
    .evidence_line(facts.capture.first_name().to_string(), line)
    .file();
}
