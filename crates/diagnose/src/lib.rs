//! The diagnosis: all rules asked, and around their findings the sentence, the target, where each thread's time went, what remains.

mod asker;
mod explains;
mod order;

use asker::Asker;
use whyslow_facts::folds::requests::Side;
use whyslow_facts::{Facts, SchedTime, ThreadFacts, WaitKind};
use whyslow_model::diagnosis::TargetProcess;
use whyslow_model::figures as words;
use whyslow_model::{
    CallStats, ClockKind, Diagnosis, Finding, Nanos, SaturatingSum, Severity, Target, ThreadTime,
    TimeAccount, TimeOf, TimeState, WaitShare, Walk,
};
use whyslow_rules::{Findings, RULES};

/// Threads listed with their time; the rest are in `whyslow threads`.
const MAX_THREADS: usize = 50;
/// Processes listed.
const MAX_PROCESSES: usize = 50;

/// Checks all rules and ranks what they found (see the order's own file).
pub fn diagnose(facts: &Facts) -> Diagnosis {
    let (mut findings, mut not_judged) = (Vec::new(), Vec::new());
    for rule in RULES {
        let (found, unjudged) = Findings::of(rule, facts);
        findings.extend(found);
        not_judged.extend(unjudged);
    }
    whyslow_chain::attach(facts, &mut findings);
    let walk = whyslow_hostcheck::walk(facts);
    let account = whyslow_account::account(facts);
    order::rank(&mut findings, Asker { facts, account: account.as_ref() });
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        verdict: verdict(facts, &findings, walk.as_ref(), account.as_ref()),
        target: target(facts),
        walk,
        account,
        time: thread_times(facts),
        remaining: remaining(facts, &findings),
        findings,
        not_judged,
    }
}

/// The sentence: what the host is short of, the cause, and whether the sources agree. Of one process that was asked about
/// the cause comes first.
fn verdict(
    facts: &Facts,
    findings: &[Finding],
    walk: Option<&Walk>,
    account: Option<&TimeAccount>,
) -> String {
    let host = walk.and_then(|walk| Some((walk, whyslow_hostcheck::verdict(walk)?)));
    let cause = findings.iter().find(|finding| finding.severity >= Severity::Warning);
    let asked = whyslow_hostcheck::is_about_one(facts);
    let mut told = match (host, cause) {
        (None, None) if facts.total_calls() == 0 && walk.is_some() => {
            walk.map_or(String::new(), whyslow_hostcheck::without_resources)
        }
        (None, _) => sentence(facts, findings, account),
        // A finding about the resource says the same.
        (Some(_), Some(cause)) if cause.subject.device.is_some() || cause.subject.host.is_some() => {
            sentence(facts, findings, account)
        }
        (Some((walk, host)), Some(_)) if asked => {
            format!("{}{}", sentence(facts, findings, account), where_full(walk, &host))
        }
        (Some((_, host)), Some(_)) => format!("{host}; {}", sentence(facts, findings, account)),
        (Some((walk, host)), None) => match account.filter(|_| asked).and_then(most_of) {
            Some(most) => format!("No rule names a cause. {most}{}", where_full(walk, &host)),
            None if whyslow_hostcheck::is_full(walk) => format!("{host}."),
            None => format!("{host}. {}", walk.next),
        },
    };
    if let Some(first) = findings.iter().find(|finding| finding.disagreement) {
        told.push_str(&format!(" The sources disagree: {}.", first.title.trim_end_matches('.')));
    }
    told
}

fn sentence(facts: &Facts, findings: &[Finding], account: Option<&TimeAccount>) -> String {
    let causes = findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let mut causes = causes.filter(|finding| finding.follows_from.is_none());
    let Some(first) = causes.next() else {
        if facts.total_calls() == 0 {
            if facts.requests.of_logs().count > 0 {
                return of_log(facts);
            }
            if !facts.percentiles.is_empty() {
                return "A table of percentiles tells how long, not why: compare two with whyslow diff."
                    .to_string();
            }
            if let Some(told) = of_profiles(facts) {
                return told;
            }
            return match facts.world.snapshot_rows {
                0 => "The input holds no calls: nothing to judge.".to_string(),
                rows => {
                    format!("{} and no calls: nothing shows time.", words::plural(rows, "open descriptor"))
                }
            };
        }
        let notices = findings.iter().filter(|finding| finding.severity == Severity::Notice).count();
        let aside = if notices > 0 {
            format!(" ({} aside)", words::plural(notices as u64, "notice"))
        } else {
            String::new()
        };
        // What the capture lacks may well be the cause: saying only "none" would be a wrong answer.
        let gap =
            findings.iter().find(|finding| finding.severity == Severity::Capture && !finding.disagreement);
        let mind = gap.map_or(String::new(), |gap| format!(" But {}.", gap.title.trim_end_matches('.')));
        let computes = findings.iter().find(|finding| finding.id == "cpu-bound");
        let computes = computes.map_or(String::new(), |found| format!(" But {}.", found.title));
        let counts = match facts.world.calls == 0 && facts.world.counted > 0 {
            true => {
                " But they were only counted, and most causes show in single calls: record with --mode full."
            }
            false => "",
        };
        return format!(
            "No cause of slowness among the system calls{aside}: {} looked at.{computes}{counts}{most}{mind}",
            words::plural(facts.total_calls(), "call"),
            most = account.and_then(most_of).map_or(String::new(), |most| format!(" {most}")),
        );
    };
    let more = causes.count();
    let also =
        if more > 0 { format!(" ({} more)", words::plural(more as u64, "cause")) } else { String::new() };
    format!("{}{also}.", first.title.trim_end_matches('.'))
}

/// What is told of the host behind a sentence about one program: where it has room, its own section is enough.
fn where_full(walk: &Walk, host: &str) -> String {
    if whyslow_hostcheck::is_full(walk) { format!(" {host}.") } else { String::new() }
}

/// What most of the time went into: said where no rule tells a cause.
fn most_of(account: &TimeAccount) -> Option<String> {
    /// A smaller part is not most of it.
    const MOST: f64 = 0.3;
    let row = account.rows.first().filter(|row| row.share >= MOST && row.state != TimeState::Unknown)?;
    let of = match account.of {
        TimeOf::Requests => words::plural(account.count, "request"),
        TimeOf::Command => "the command".to_string(),
        TimeOf::Threads if account.idle_ns > 0 => {
            format!("{}, without waiting for work", words::plural(account.count, "thread"))
        }
        TimeOf::Threads => words::plural(account.count, "thread"),
    };
    let (share, time) = (words::percent(row.share), Nanos::new(account.ns));
    Some(format!("{share} of the time ({time} of {of}): {} {}.", row.who, row.words()))
}

/// What profiles by themselves tell; of several the first.
fn of_profiles(facts: &Facts) -> Option<String> {
    let profiles = facts.profiles.all();
    let Some(first) = profiles.first() else {
        let broken = facts.profiles.empty().first()?;
        return Some(format!("{} tells nothing: {}.", broken.name, broken.what.trim_end_matches('.')));
    };
    let told = whyslow_profile::kinds::sentence(&first.step.account, &first.step.measured);
    Some(match profiles.len() {
        1 => told,
        count => format!(
            "{}: {} ({} in all: whyslow diff compares them.)",
            facts.profiled(first),
            told,
            words::plural(count as u64, "profile")
        ),
    })
}

/// What an access log by itself tells: who takes the time, not why.
fn of_log(facts: &Facts) -> String {
    let served = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let sum = |of: fn(&CallStats) -> u64| served().map(|row| of(&row.stats)).fold(0, u64::saturating_add);
    let (count, errors, all_ns) =
        (sum(|stats| stats.count), sum(|stats| stats.errors), sum(|stats| stats.total_ns));
    let requests = format!("{} logged, {} failed", words::plural(count, "request"), words::count(errors));
    match served().max_by_key(|row| row.stats.total_ns).filter(|_| all_ns > 0) {
        Some(row) => format!(
            "{requests}. {} takes {} of their time: {}, {} in the median, {} at most. A log tells how long and not why: \
             record the server meanwhile.",
            row.name,
            words::percent(row.stats.total_ns as f64 / all_ns as f64),
            words::plural(row.stats.timed, "request"),
            words::duration(row.stats.percentile(0.5)),
            words::duration(row.stats.max()),
        ),
        None => format!("{requests}. The log tells no durations: nothing shows time."),
    }
}

fn target(facts: &Facts) -> Target {
    let processes =
        facts.world.threads.processes().filter(|(_, process)| process.threads > 0 || facts.world.calls == 0);
    let capture = &facts.capture;
    Target {
        kind: if capture.is_recording() { "recording" } else { "capture" },
        processes: processes
            .take(MAX_PROCESSES)
            .map(|(_, process)| TargetProcess {
                pid: process.pid,
                comm: process.name().map(str::to_string),
                threads: process.threads as usize,
            })
            .collect(),
        start: start_text(facts),
        duration_ns: facts.window.whole(),
        events: if facts.world.calls > 0 {
            facts.world.calls.saturating_add(facts.world.counted)
        } else {
            facts.total_calls().saturating_add(facts.requests.of_logs().count)
        },
        lost_events: facts.lost_events(),
        cost: facts.recording.cost,
        sources: capture.sources.clone(),
        notes: capture.notes.clone(),
    }
}

/// RFC 3339 where the date is known, else the time of day.
fn start_text(facts: &Facts) -> Option<String> {
    let ns = facts.window.start.get()?;
    let clock =
        facts.capture.sources.iter().map(|source| source.clock).find(|clock| *clock != ClockKind::None)?;
    let seconds = ns / 1_000_000_000;
    let time = facts.window.start.time_of_day();
    match clock {
        ClockKind::Epoch => {
            let (year, month, day) = whyslow_model::time::civil_date(seconds / 86_400);
            Some(format!("{year:04}-{month:02}-{day:02}T{time}Z"))
        }
        ClockKind::TimeOfDay => Some(time),
        _ => None,
    }
}

/// Where each thread's time went, the busiest (by working time, then by calls) first.
pub fn thread_times(facts: &Facts) -> Vec<ThreadTime> {
    let timed = facts.has_times();
    let mut threads: Vec<_> =
        facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.is_active()).collect();
    let busy = |thread: &ThreadFacts| match thread.sched.as_deref() {
        Some(time) => time.on_cpu_ns.max(thread.working_ns),
        None => thread.working_ns,
    };
    threads.sort_by_key(|thread| (std::cmp::Reverse((busy(thread), thread.calls)), thread.tid));
    let known = |ns: u64| {
        if timed { Nanos::new(ns) } else { Nanos::UNKNOWN }
    };
    threads
        .into_iter()
        .take(MAX_THREADS)
        .map(|thread| {
            let process = facts.world.threads.process(thread.process);
            let blocked = thread.waiting_total();
            let mut waits: Vec<WaitShare> = WaitKind::ALL
                .iter()
                .map(|kind| WaitShare {
                    kind: kind.word(),
                    ns: Nanos::new(thread.waiting_ns[*kind as usize]),
                })
                .filter(|wait| wait.ns.or_zero() > 0)
                .collect();
            waits.sort_by_key(|wait| std::cmp::Reverse(wait.ns));
            let sched = thread.sched.as_deref();
            let measured =
                |part: fn(&SchedTime) -> u64| sched.map_or(Nanos::UNKNOWN, |time| Nanos::new(part(time)));
            if let Some(time) = sched {
                within_blocked(&mut waits, time);
            }
            let between = match (thread.wall().get(), timed) {
                (Some(wall), true) => Nanos::new(wall.saturating_sub(blocked + thread.working_ns)),
                _ => Nanos::UNKNOWN,
            };
            ThreadTime {
                pid: process.pid,
                tid: thread.tid,
                comm: thread.comm.as_deref().or(process.name()).map(str::to_string),
                wall_ns: thread.wall(),
                on_cpu_ns: measured(|time| time.on_cpu_ns),
                runnable_ns: measured(|time| time.runnable_ns),
                throttled_ns: match sched.map_or(0, |time| time.throttled_ns) {
                    0 => Nanos::UNKNOWN,
                    ns => Nanos::new(ns),
                },
                blocked_ns: if sched.is_some() { measured(|time| time.blocked_ns) } else { known(blocked) },
                working_ns: known(thread.working_ns),
                between_calls_ns: between,
                waits,
            }
        })
        .collect()
}

/// Fits the time of waiting calls into the time that the scheduler says the thread was blocked: what of a waiting call
/// was spent on a CPU, or runnable, is no wait. What blocked it elsewhere, where no signal could end it, is the disk's.
fn within_blocked(waits: &mut Vec<WaitShare>, time: &SchedTime) {
    let in_calls = waits.iter().map(|wait| wait.ns.or_zero()).saturating_sum();
    if in_calls > time.blocked_ns {
        for wait in waits.iter_mut() {
            let ns = wait.ns.or_zero() as u128 * time.blocked_ns as u128 / in_calls as u128;
            wait.ns = Nanos::new(ns as u64);
        }
    }
    let disk = time.uninterruptible_ns.min(time.blocked_ns.saturating_sub(in_calls));
    if disk > 0 {
        waits.push(WaitShare { kind: "disk", ns: Nanos::new(disk) });
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.ns));
    }
}

/// Whether a finding is about a call: names it, or shows it.
fn covers(finding: &Finding, call: &str) -> bool {
    let named = finding.subject.syscall.as_deref().unwrap_or_default();
    named.split(", ").any(|one| one == call)
        || finding.evidence.iter().any(|line| {
            line.text.find(call).is_some_and(|at| {
                let begins = line.text[..at].ends_with(' ') || at == 0;
                begins && line.text[at + call.len()..].starts_with('(')
            })
        })
}

/// The largest cost that no finding is about.
fn remaining(facts: &Facts, findings: &[Finding]) -> Option<String> {
    let waits = |name: &str| {
        whyslow_model::Syscall::lookup(name.as_bytes()).is_some_and(|syscall| {
            matches!(
                syscall.info().waits,
                whyslow_model::syscall::Waits::Always | whyslow_model::syscall::Waits::ByArguments
            )
        })
    };
    let all = facts.syscalls();
    let total = all.iter().filter(|(name, _)| !waits(name)).map(|(_, stats)| stats.total_ns).saturating_sum();
    let (name, stats) =
        all.iter().find(|(name, _)| !waits(name) && !findings.iter().any(|finding| covers(finding, name)))?;
    if total == 0 {
        let (name, stats) = all.iter().max_by_key(|(_, stats)| stats.count)?;
        return Some(format!(
            "Most frequent call: {name}, {} of {}.",
            words::count(stats.count),
            words::plural(facts.total_calls(), "call")
        ));
    }
    Some(format!(
        "Largest remaining cost among working calls: {name}, {} in {} ({} of their time; mean {}).",
        stats.total(),
        words::plural(stats.count, "call"),
        words::percent(stats.total_ns as f64 / total as f64),
        stats.mean(),
    ))
}
