//! # sleep-polling
//!
//! ## What it is
//! A thread sleeps for a fixed short time, looks whether something has happened, and sleeps again, most of its time. It may
//! sleep in nanosleep, in a poll or futex that only its limit ends, or wait for a child that sleeps. In a runtime with threads of its
//! own one of them waits for the timer, and another one looks. Or the threads that serve requests give work away within them (wake another
//! thread, send something) and sleep for a fixed time right behind that: what they look at is in their memory.
//!
//! ## Why it is slow
//! What it waits for happens between two looks: each time half the period is lost on average, and a whole one at
//! worst, which nobody sees in a profile as the thread is asleep. Short periods wake the CPU for nothing instead.
//!
//! ## Example
//! ```text
//! clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=10000000}, NULL) = 0 <0.010071>
//! stat("/run/app/ready", 0x7ffd2c) = -1 ENOENT (No such file or directory) <0.000012>
//! ```
//!
//! A look in vain is any call that says "not yet" without waiting: a file that is missing or still used, a connection that is refused, an empty queue
//! of messages (ENOMSG), a semaphore or lock that somebody has (EAGAIN).
//!
//! ## What to do instead
//! Be told: a condition variable or futex between threads, `waitpid` without WNOHANG or a pidfd for a child, inotify for a
//! file, poll for a descriptor, a blocking lock instead of trying again.
//!
//! ## When it is wrong
//! A timer that ticks in the background (a watchdog, statistics once a second) holds nobody up. Periods above half a
//! second, threads that mostly do other things, and those that ask for another file of the folder after each sleep, and those that find something to do after most sleeps without having
//! looked in vain for the same thing before, other than a child that had ended meanwhile, are not reported (where it looks again for that, the time between requests is left out); sleeps until a time that had nearly come (a tenth of the others and less) are none; waits that their time limit ends are told apart by their length (a quarter); a thread that watches a file that is there (a
//! configuration poller) is a notice at most. Sleeps right behind a hand-over count where most of them lie within requests: who
//! gives something away between requests keeps a pace.

use super::instead_of_sleep::instead;
use super::sleep_in_requests::{self, LONGEST_PERIOD};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::sleeps::{Sleep, SleepCheck};
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::{Measurement, Nanos, SaturatingSum, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "sleep-polling",
    group: "waits",
    summary: "a thread sleeps for a fixed time and looks again instead of being woken",
    source: include_str!("sleep_polling.rs"),
    needs: &[
        Need::Durations,
        Need::AnyOf(&[
            "nanosleep",
            "clock_nanosleep",
            "poll",
            "ppoll",
            "select",
            "pselect6",
            "epoll_wait",
            "epoll_pwait",
            "futex",
            "wait4",
        ]),
    ],
    check,
};

/// Fewer sleeps are a retry, not polling.
const MIN_SLEEPS: u64 = 20;
/// In a short recording: sleeps that are enough where the thread slept so from its start to its end ([`ALL_ALONG`]).
const MIN_SLEEPS_ALL_ALONG: u64 = 5;
/// The part of the recorded time from the first to the last sleep from which on a thread slept all along: a retry ends before.
const ALL_ALONG: f64 = 0.8;
/// From the first to the last sleep the thread must sleep for this part of the time: then the sleeps are what it does.
const SLEEPING_SHARE: f64 = 0.5;
/// Before this part of the sleeps it must have looked at the same thing, in vain.
const CHECKED_SHARE: f64 = 0.7;
/// At most this many sleeps for each time that it got something done: then the sleeps are the delay.
const SLEEPS_PER_RESULT: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<(&Sleep, &SleepCheck)> = facts
        .sleeps
        .rows
        .iter()
        .filter(|row| is_often(facts, row) && row.length() <= LONGEST_PERIOD)
        .filter(|row| checked_share(row) >= CHECKED_SHARE)
        .filter(|row| !row.varies || looks_again(row))
        .filter(|row| sleeping_share(facts, row).is_some_and(|share| share >= SLEEPING_SHARE))
        .filter_map(|row| Some((row, row.check.as_deref()?)))
        .collect();
    // What one thread does alone is told of that thread.
    let alone: Vec<ProcessId> =
        rows.iter().filter(|(row, _)| !row.in_turns).map(|(row, _)| row.process).collect();
    rows.retain(|(row, _)| !row.in_turns || row.turns > 0 && !alone.contains(&row.process));
    rows.sort_by_key(|(row, _)| std::cmp::Reverse((row.slept_ns, row.times)));
    let told: Vec<ProcessId> = rows.iter().map(|(row, _)| row.process).collect();
    for (row, check) in rows {
        report(facts, out, row, check);
    }
    sleep_in_requests::check(facts, out, &told);
}

/// The part of the sleeps before which it looked at the same thing, or behind which it found a child ended.
fn checked_share(row: &Sleep) -> f64 {
    row.same_checks.max(row.reaped) as f64 / row.times.max(1) as f64
}

/// True where behind nearly each sleep a child had ended: that is what it sleeps for, and the child's end would have woken it.
#[gated]
fn is_for_children(row: &Sleep) -> bool {
    row.reaped as f64 >= CHECKED_SHARE * row.times as f64
}

/// The part of the time from the first to the last sleep that it slept; `None` without a clock. Of a thread that looks at the same thing
/// before and after its sleeps, as in the requests that it serves, what it waits for the next one is left out.
#[gated]
fn sleeping_share(facts: &Facts, row: &Sleep) -> Option<f64> {
    let span = row.last.since(row.first).get().filter(|span| *span > 0)?;
    let idle = if looks_again(row) { idle_part(facts, row) } else { 0.0 };
    Some((row.slept_ns as f64 / (span as f64 * (1.0 - idle)).max(1.0)).min(1.0))
}

/// Before nearly each sleep it looked at something in vain, and at the same thing behind it.
#[gated]
fn looks_again(row: &Sleep) -> bool {
    row.again as f64 >= CHECKED_SHARE * row.times as f64
}

/// The part of the thread's time in which it waits for requests.
fn idle_part(facts: &Facts, row: &Sleep) -> f64 {
    let mut threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let own = threads.find(|thread| !row.in_turns && thread.tid == row.tid && thread.process == row.process);
    let Some((thread, wall)) = own.and_then(|thread| Some((thread, thread.wall().get()?))) else {
        return 0.0;
    };
    let of = |kind: WaitKind| thread.waiting_ns[kind as usize];
    // Who sleeps in a poll waits for requests in none that can be told apart.
    let polls = matches!(row.syscall, Syscall::NANOSLEEP | Syscall::CLOCK_NANOSLEEP);
    let idle = of(WaitKind::Accept).saturating_add(if polls { of(WaitKind::Poll) } else { 0 });
    // Before its other sleeps it looks at nothing: it waits for its next turn.
    let idle = idle.saturating_add(paced_ns(facts, row));
    (idle as f64 / wall.max(1) as f64).min(1.0)
}

/// What the thread slept else without having looked at anything, ns.
#[gated]
fn paced_ns(facts: &Facts, row: &Sleep) -> u64 {
    let of_thread = |other: &&Sleep| !other.in_turns && other.tid == row.tid && other.process == row.process;
    let others = facts.sleeps.rows.iter().filter(of_thread).filter(|other| !std::ptr::eq(*other, row));
    others.filter(|other| checked_share(other) < CHECKED_SHARE).map(|other| other.slept_ns).saturating_sum()
}

/// The part of the recorded time from the first to the last sleep, with a sleep before and after that is cut by the recording's ends; `None`
/// without a clock.
#[gated]
fn share_of_recording(facts: &Facts, row: &Sleep) -> Option<f64> {
    let whole = facts.window.whole().as_secs_f64().filter(|whole| *whole > 0.0)?;
    let cut = 2.0 * row.length().as_secs_f64()?;
    Some(((row.last.since(row.first).as_secs_f64()? + cut) / whole).min(1.0))
}

/// What it was found by.
#[gated]
fn figures(facts: &Facts, row: &Sleep) -> Vec<Measurement> {
    let few = row.times < MIN_SLEEPS;
    let least = if few { MIN_SLEEPS_ALL_ALONG } else { MIN_SLEEPS };
    let sleeping = sleeping_share(facts, row)
        .map(|share| Measurement::share("sleeping_share", share).at_least(SLEEPING_SHARE));
    let all_along = share_of_recording(facts, row).filter(|_| few);
    let all_along =
        all_along.map(|share| Measurement::share("share_of_recording", share).at_least(ALL_ALONG));
    let mut figures = vec![
        Measurement::time("period", row.length()).at_most(LONGEST_PERIOD.or_zero() as f64),
        Measurement::count("sleeps", row.times).at_least(least as f64),
        Measurement::time("time", row.slept()),
        Measurement::share("checked_share", checked_share(row)).at_least(CHECKED_SHARE),
        Measurement::count("sleeps_with_result", row.fruitful),
    ];
    figures.extend(sleeping.into_iter().chain(all_along));
    figures
}

/// True where the sleeps are more than a retry.
#[gated]
fn is_often(facts: &Facts, row: &Sleep) -> bool {
    let all_along = share_of_recording(facts, row).is_some_and(|share| share >= ALL_ALONG);
    // What is looked at and there is watched: nobody waits for it.
    // Who has something to do after nearly each sleep keeps a pace, but for who looks at the same thing before and after it.
    let awaited = row.check.as_ref().is_some_and(|check| check.errno.is_error())
        && (row.fruitful.saturating_mul(2) <= row.times || looks_again(row));
    let awaited = awaited || is_for_children(row);
    row.times >= MIN_SLEEPS || (row.times >= MIN_SLEEPS_ALL_ALONG && all_along && awaited)
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Sleep, check: &SleepCheck) {
    let call = facts.name_of(check.syscall);
    let target = match (check.folder(), &check.target) {
        (Some(folder), _) if row.varies => Some(format!("files in {folder}")),
        (_, target) => target.clone(),
    };
    let what = match (&target, check.fd) {
        (Some(target), _) => format!("{call} of {target}"),
        (None, Some(fd)) => format!("{call} on fd {fd}"),
        (None, None) => call.to_string(),
    };
    let answer = match is_for_children(row) {
        true => "it had ended meanwhile",
        false if check.errno.is_error() => check.errno.name(),
        false => "nothing new",
    };
    let share = guards::share_of_ns(facts, Some(row.tid).filter(|_| !row.in_turns), row.slept(), row.times);
    let rate =
        facts.window.per_second(row.times).map(|rate| Measurement::per_second("sleeps_per_second", rate));
    let rate_words = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    let thread = Subjects::thread(facts, row.tid);
    let (sleeper, subject) = match row.in_turns {
        false => (format!("thread {}", row.tid), thread),
        true => {
            let process = thread.pid.map_or("the program".to_string(), |pid| format!("process {pid}"));
            (process, Subject { tid: None, ..thread })
        }
    };
    let title = format!(
        "{sleeper} sleeps {} and looks again: {what} ({answer}), {} times{rate_words}",
        row.length(),
        words::count(row.times)
    );
    let delays = row.fruitful >= guards::FEW_TURNS && row.times <= row.fruitful * SLEEPS_PER_RESULT;
    // A path that is there and stays as it is: somebody watches it, nobody is held up.
    let watches = !check.errno.is_error() && check.target.is_some();
    let most = match (watches, delays) {
        (true, _) => Severity::Notice,
        (false, true) => Severity::Critical,
        (false, false) => Severity::Warning,
    };
    let who = if row.in_turns { "The program" } else { "The thread" };
    let cause = if row.fruitful > 0 {
        format!(
            "{who} slept {} in all and {} times found something to do after it: each of these came up to {} earlier than it was noticed. The wait itself has its reason in who makes it happen, the sleep adds to it.",
            row.slept(),
            words::count(row.fruitful),
            row.length()
        )
    } else {
        format!(
            "{who} slept {} in all and each time the answer was: not yet. What it waits for is not in this capture; once it happens it is noticed up to {} late.",
            row.slept(),
            row.length()
        )
    };
    let subject = Subject {
        path: check.target.clone().filter(|target| target.starts_with('/')),
        fd: check.fd,
        syscall: Some(facts.name_of(row.syscall).to_string()),
        ..subject
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    // Half a period for each result: what it lost on average.
    let lost = Nanos::new(row.fruitful.saturating_mul(row.length().or_zero() / 2));
    let report = out
        .report(share, title)
        .measured_all(figures(facts, row))
        .measured_all(rate)
        .at_most(most)
        .subject(subject)
        .cause(cause)
        .fix(instead(check))
        .fix("code: between threads a condition variable, a blocking queue or an eventfd in the poll set")
        .fix(format!("at once: a period shorter than {} where the sleep stands on the path of a request; it costs CPU time", row.length()))
        .verify(format!("bpftrace -e 'tracepoint:syscalls:sys_enter_*nanosleep /pid == {pid}/ {{ @[tid] = count(); }}'   (before and after)"))
        .evidence_all(row.exemplars.iter().take(1))
        .evidence(Some(&check.exemplar));
    if row.fruitful > 0 { report.saving(lost).file() } else { report.file() }
}
