//! The diagnosis: all rules asked, and around their findings the sentence, the target, where each thread's time went, what remains.

mod asker;
mod beside;
mod claims;
mod code;
mod explains;
#[cfg(test)]
mod fixture;
mod followed;
#[cfg(test)]
mod host_tests;
mod order;
mod restate;
#[cfg(test)]
mod sentences_tests;
mod verdict;
mod why_not;
mod without;

pub use why_not::WhyNot;
pub use whyslow_chain::{NoSuchParty, OfHosts, Parties};

use asker::Asker;
use whyslow_facts::{Facts, SchedTime, ThreadFacts, WaitKind};
use whyslow_model::diagnosis::TargetProcess;
use whyslow_model::figures as words;
use whyslow_model::{
    ClockKind, Diagnosis, Finding, Nanos, SaturatingSum, Severity, Target, ThreadTime, WaitShare,
};
use whyslow_rules::{Findings, RULES, Rule};

/// Threads listed with their time; the rest are in `whyslow threads`.
const MAX_THREADS: usize = 50;
/// Processes listed.
const MAX_PROCESSES: usize = 50;

/// Checks all rules and ranks what they found (see the order's own file).
pub fn diagnose(facts: &Facts) -> Diagnosis {
    let (mut findings, mut not_judged) = (Vec::new(), Vec::new());
    let is_general = |rule: &&&Rule| rule.unclaimed_states().is_some();
    for rule in RULES.iter().filter(|rule| !is_general(rule)) {
        let (found, unjudged) = Findings::of(rule, facts);
        findings.extend(found);
        not_judged.extend(unjudged);
    }
    whyslow_chain::attach(facts, &mut findings);
    let walk = whyslow_hostcheck::walk(facts);
    let mut account = whyslow_account::account(facts);
    restate::restate(account.as_ref(), &mut findings);
    beside::cap(facts, account.as_ref(), &mut findings);
    order::rank(&mut findings, Asker { facts, account: account.as_ref() });
    if let Some(account) = &mut account {
        claims::claim(facts, account, &findings);
    }
    // The general rules are about what is left.
    let mut general = Vec::new();
    for rule in RULES.iter().filter(is_general) {
        let (found, unjudged) = Findings::beside(rule, facts, account.as_ref());
        general.extend(found);
        not_judged.extend(unjudged);
    }
    if let Some(account) = &mut account {
        claims::claim(facts, account, &general);
    }
    // A consequence claims nothing, and says the same already.
    general.retain(|new| findings.iter().all(|one| (one.id, one.subject.pid) != (new.id, new.subject.pid)));
    findings.extend(general);
    followed::explain(facts, account.as_ref(), &mut findings);
    order::rank(&mut findings, Asker { facts, account: account.as_ref() });
    without::tell(facts, &mut findings, Asker { facts, account: account.as_ref() });
    code::place(facts, account.as_ref(), &mut findings);
    findings.iter_mut().for_each(state_confidence);
    let (verdict, context) = verdict::verdict(facts, &findings, walk.as_ref(), account.as_ref());
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        verdict,
        context,
        target: target(facts),
        walk,
        account,
        time: thread_times(facts),
        remaining: remaining(facts, &findings),
        findings,
        not_judged,
    }
}

/// States how often such a warning is right. What is less than a warning names no cause.
fn state_confidence(finding: &mut Finding) {
    let measured = whyslow_rules::precision::of(finding.id).filter(|_| finding.severity >= Severity::Warning);
    finding.confidence = measured.map(|sure| sure.min(finding.sure_at_most));
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
        followed: followed::told(facts),
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
        "Next largest syscall (excluding waits): {name}, {} in {} ({} of that time; mean {}).",
        stats.total(),
        words::plural(stats.count, "call"),
        words::percent(stats.total_ns as f64 / total as f64),
        stats.mean(),
    ))
}
