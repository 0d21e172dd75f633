//! # deadlock
//!
//! ## What it is
//! Threads or processes wait for each other and none of them can go on: each one waits for what only another of them could
//! do. Two threads take two locks in different order; a parent reads from its child while the child writes into a full pipe
//! that nobody reads; a child reads a pipe to its end and holds the writing end itself.
//!
//! ## Why it is slow
//! It never ends. Who comes later and wants one of these locks stops too, until all workers are gone.
//!
//! ## Example
//! ```text
//! 101 futex(0x55d0c8a01040, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
//! 102 futex(0x55d0c8a01080, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
//! ```
//!
//! ## What to do instead
//! One order in which locks are taken, everywhere; no call to foreign code under a lock; or one lock for both. Pipes: read
//! standard output and standard error of a child both (poll, a thread each, `communicate` in Python); close the ends that a
//! process does not use, in parent and child, or open them close-on-exec.
//!
//! ## When it is wrong
//! It is said for certain only of threads that wait without a time limit to the end of the capture, where everyone who could
//! end one of these waits is known and waits too. A condition variable, a socket, a poll or a signal may always be
//! served by somebody, so that a pool without work is none. Two locks of one process that are both waited for to the end, while
//! other threads live, are reported with less certainty: one of those may hold them, and come back.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_chain::{Deadlock, Explainer};
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_model::{ChainLink, Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "deadlock",
    group: "waits",
    summary: "threads or processes wait for each other to the end, and none can go on",
    source: include_str!("deadlock.rs"),
    needs: &[Need::Calls, Need::Clock],
    check,
};

/// Threads named in the chain.
const MOST_SHOWN: usize = 6;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let waits_on = |call: &LongCall| call.ended == Ended::NotYet && !call.limited;
    if !facts.graph.timelines().any(|(_, timeline)| timeline.calls.last().is_some_and(waits_on)) {
        return;
    }
    let explainer = Explainer::new(facts);
    let Some(found) = explainer.deadlock() else { return };
    let Some(first) = found.stuck.first() else { return };
    let waited = Measurement::time("time", first.call.dur());
    let window = facts.window.length();
    let value = window.get().filter(|ns| *ns > 0).map(|ns| first.call.dur().or_zero() as f64 / ns as f64);
    // A trace of a program that hangs ends with its last call.
    let value = if found.closed && !found.certain { Some(1.0) } else { value };
    let share = Share::of_time(value.map(|part| part.min(1.0)), "the capture's time");
    let pid = facts.world.threads.process(first.call.process).pid;
    let pid = pid.map_or("PID".to_string(), |pid| pid.to_string());
    let subject = Subject {
        lock: first.call.lock().map(|address| format!("{address:#x}")),
        ..Subjects::thread(facts, first.call.tid)
    };
    let mut report = out
        .report(share, title(&explainer, &found, &waited))
        .measured(Measurement::count("threads", found.stuck.len() as u64))
        .measured(waited)
        .confidence(match found.certain {
            // Another program, outside of the capture, may have the file's lock.
            true if found.stuck.iter().any(|stuck| matches!(stuck.call.what, Resource::FileLock(_))) => 0.8,
            true => 0.95,
            false => 0.6,
        })
        .at_most(if found.certain { Severity::Critical } else { Severity::Warning })
        .subject(subject)
        .cause(cause(&explainer, &found))
        .fix("code: take locks in one order everywhere, or one lock for both; call no foreign code with a lock held")
        .fix("code: pipes: read output and errors of a child both; close the ends that a process does not use, in parent and child")
        .verify(format!(
            "gdb -p {pid} -batch -ex 'thread apply all bt'   (each stands in its lock: two samples, the same stacks); jstack {pid} says it for Java"
        ))
        .saving_text("all of the waiting: it would not end by itself");
    for stuck in found.stuck.iter().take(MOST_SHOWN) {
        let evidence = explainer.place(stuck.call);
        let resource = explainer.resource(stuck.call);
        let what = match stuck.call.what {
            Resource::Thread { .. } => resource,
            Resource::Child { .. } => format!("{resource} ({})", explainer.whom(stuck)),
            _ => format!("{resource}; only {} can end that", explainer.whom(stuck)),
        };
        let who = explainer.who(stuck.call.tid);
        if !evidence.is_empty() {
            report = report
                .evidence_line(evidence.clone(), format!("{who} waits {} for {what}", stuck.call.dur()));
        }
        report = report.link(ChainLink { who, waits_for: what, ns: stuck.call.dur(), evidence });
    }
    report.file();
}

fn title(explainer: &Explainer<'_>, found: &Deadlock<'_>, waited: &Measurement) -> String {
    let files = found.stuck.iter().filter(|stuck| matches!(stuck.call.what, Resource::FileLock(_)));
    let files: Vec<String> = files.map(|stuck| explainer.resource(stuck.call)).collect();
    let files = if files.is_empty() { String::new() } else { format!(", for {}", words::list(&files, 3)) };
    let threads = words::plural(found.stuck.len() as u64, "thread");
    match (found.closed, found.stuck.len()) {
        (true, 1) => format!("deadlock: 1 thread waits for itself to the end, {waited} so far"),
        (true, _) => {
            format!("deadlock of {threads}{files}: each waits for another one to the end, {waited} so far")
        }
        (false, _) => format!("{threads} wait for locks that nobody gives back to the end, {waited} so far"),
    }
}

fn cause(explainer: &Explainer<'_>, found: &Deadlock<'_>) -> String {
    let first: Vec<String> = (found.stuck.iter().take(2))
        .map(|stuck| {
            format!("{} waits for {}", explainer.who(stuck.call.tid), explainer.resource(stuck.call))
        })
        .collect();
    let why = match found.closed {
        true if !found.certain => {
            "Everyone who could end one of these waits is among those who wait; the capture ends there, so that how long \
             it lasts is not known"
        }
        true => "Everyone who could end one of these waits is among those who wait, without a time limit",
        false => {
            "They wait at different locks of one process without a time limit, and neither is given back: most likely \
             each holds what the other wants, though another thread of the process may hold them"
        }
    };
    format!("{}. {why}.", first.join("; "))
}
