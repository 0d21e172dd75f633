//! # threads-missed
//!
//! ## What it is
//! The capture shows threads or processes being made, or waking each other, or one thread that waits for another one to
//! its end, but not what they do: it was taken without `-f`, or of one thread only. Or other tools (`pidstat -t`, `top -H`)
//! show threads of the process at work that the capture does not show. Or the one thread that was traced made no call but the one in which it
//! waited all the while.
//!
//! ## Why it is slow
//! It is not: but the work may be done where the capture does not look. In one such case `strace -p` of a Python
//! server showed no write at all while the process wrote 335 MB/s: one of its threads did.
//!
//! ## Example
//! ```text
//! clone(child_stack=0x7f…, flags=CLONE_VM|CLONE_FS|…|CLONE_THREAD|…) = 514
//! ```
//!
//! ## What to do instead
//! `strace -f -p PID`: it attaches to all threads of the process and follows those that are made later.
//!
//! ## When it is wrong
//! A capture that ends right behind the clone has no room for the child: that stays quiet. A child that only computes
//! makes no calls and looks the same; `top -H -p PID` tells.

use super::threads_at_work::{self, AtWork};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::hidden::Child;
use whyslow_model::syscall::Waits;
use whyslow_model::{Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "threads-missed",
    group: "capture",
    summary: "the capture lacks threads or processes of the program",
    source: include_str!("threads_missed.rs"),
    needs: &[Need::Calls],
    check,
};

/// A new thread makes its first calls (set_robust_list, rseq) within this time, also under strace.
const BIRTH: Nanos = Nanos::from_millis(100);
/// Without a clock: calls of others until then.
const BIRTH_CALLS: u64 = 50;
/// Wakes that single futex calls of a lone thread must show: one may be spurious (futex(2)).
const MIN_WAKES: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // A recorder knows whom it follows; a thread that made no call meanwhile is not missed.
    if facts.capture.is_recording() {
        return;
    }
    let hidden = &facts.hidden;
    let missing: Vec<&Child> = hidden.children.iter().filter(|child| is_missing(facts, child)).collect();
    let alone = facts.world.threads.iter().count() == 1;
    let wakes = [&hidden.woken, &hidden.woke].into_iter().filter(|sign| alone && sign.count >= MIN_WAKES);
    let wakes: Vec<_> = wakes.collect();
    // With `-f` the lines bear thread ids, and all threads are there.
    let unmarked = facts.world.threads.iter().all(|(_, thread)| thread.tid == 0);
    let held = Some(&hidden.held).filter(|held| alone && unmarked && held.count > 0);
    let at_work = threads_at_work::unseen(facts);
    if !at_work.is_empty() {
        return tell_at_work(out, &at_work, unmarked);
    }
    if missing.is_empty() && wakes.is_empty() && held.is_none() {
        return only_waits(facts)
            .filter(|_| unmarked)
            .into_iter()
            .for_each(|call| tell_only_waits(out, &call));
    }
    // The tids of more children than are kept are unknown; where all that are kept are missing, so are they.
    let all_missing = missing.len() == hidden.children.len();
    let count = |threads: bool| -> u64 {
        match (all_missing, threads) {
            (true, true) => hidden.threads_made,
            (true, false) => hidden.processes_made,
            _ => missing.iter().filter(|child| child.is_thread == threads).count() as u64,
        }
    };
    let mut parts = Vec::new();
    let mut figures = Vec::new();
    let kinds = [
        (true, "missing_threads", "thread", "threads"),
        (false, "missing_processes", "child process", "child processes"),
    ];
    for (threads, name, one, many) in kinds {
        let count = count(threads);
        if count > 0 {
            let figure = Measurement::count(name, count);
            parts.push(format!("{figure} {}", if count == 1 { one } else { many }));
            figures.push(figure);
        }
    }
    let times: u64 = wakes.iter().map(|sign| sign.count).sum();
    let times = Measurement::count("wakes", times).at_least(MIN_WAKES as f64);
    let one = count(true) + count(false) == 1;
    let title = match parts.is_empty() {
        false => format!(
            "{} made here {} not appear in the capture: what is done there is not shown",
            parts.join(" and "),
            if one { "does" } else { "do" }
        ),
        true if wakes.is_empty() => {
            "Other threads of the process are not in the capture: the one thread shown waits for one of them to its end"
                .to_string()
        }
        true => format!(
            "Other threads of the process are not in the capture: {times} wakes between them and the one thread shown"
        ),
    };
    let how = if unmarked {
        "The lines bear no thread ids, as strace writes them without -f."
    } else {
        "Only some of the program's threads were traced."
    };
    figures.extend(Some(times).filter(|_| !wakes.is_empty()));
    out.capture(title)
        .measured_all(figures)
        .subject(Subject { tid: missing.first().map(|child| child.tid), ..Subject::default() })
        .cause(format!("{how} Time that the shown threads spend waiting may be work of those that are not shown; no finding about them can be made."))
        .fix("take the capture again with -f: strace -f -ttT -y -s 256 -o trace.st -p PID   (all threads of the process, and those made later)")
        .fix("see which thread works: top -H -p PID; pidstat -t -d -p PID 1")
        .evidence_all(missing.iter().take(2).map(|child| &child.exemplar))
        .evidence_all(wakes.iter().copied().chain(held).filter_map(|sign| sign.first.as_ref()))
        .verify("ls /proc/PID/task | wc -l   (threads there are) against: awk '{print $1}' trace.st | sort -u | wc -l   (threads shown)")
        .file();
}

/// The call in which the one thread of a capture waited from its start to its end: there is no other line.
#[gated]
fn only_waits(facts: &Facts) -> Option<String> {
    let mut threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let (Some(thread), None) = (threads.next(), threads.next()) else { return None };
    let (syscall, _) = thread.by_syscall.iter().next().filter(|_| thread.calls == 1)?;
    let waits = syscall.info().waits != Waits::Never;
    (waits && facts.capture.ends_not_seen == 1).then(|| facts.name_of(syscall).to_string())
}

/// Of the one thread nothing is known but that it waits.
#[gated]
fn tell_only_waits(out: &mut Findings<'_>, call: &str) {
    out.capture(format!(
        "the capture has one call, {call}, which did not return: strace followed one thread, and that waited all the time"
    ))
    .cause(
        "The lines bear no thread ids, as strace writes them without -f. What other threads of the process do, if there are any, is not in the \
         capture; nor is what this one waits for.",
    )
    .fix("take the capture again with -f: strace -f -ttT -y -s 256 -o trace.st -p PID   (all threads of the process, and those made later)")
    .fix("see which thread works: top -H -p PID; or record it: whyslow record -p PID -o slow.whyslow")
    .verify("ls /proc/PID/task | wc -l   (threads there are)")
    .file();
}

/// Other tools show who works meanwhile.
#[gated]
fn tell_at_work(out: &mut Findings<'_>, at_work: &[AtWork<'_>], unmarked: bool) {
    let Some(first) = at_work.first() else { return };
    let pid = first.pid;
    let more = match at_work.len() - 1 {
        0 => String::new(),
        more => format!(", and {}", words::plural(more as u64, "more thread")),
    };
    let how = if unmarked {
        "The lines bear no thread ids, as strace writes them without -f."
    } else {
        "One thread of the process was traced."
    };
    let mut found = out
        .capture(format!("process {pid} works in threads that the capture does not show: {}{more}", first.words))
        .measured_all(first.figures.iter().cloned())
        .measured(Measurement::count("threads_at_work", at_work.len() as u64))
        .subject(Subject { pid: Some(pid), tid: Some(first.tid), ..Subject::default() })
        .cause(format!("{how} Other tools show its other threads at work. What they do is not in the capture, so nothing is said of it below."))
        .fix(format!("take the capture again with all threads: strace -f -ttT -y -s 256 -o trace.st -p {pid}"))
        .fix(format!("see which thread works: top -H -p {pid}; pidstat -t -u -d -p {pid} 1"))
        .verify(format!("ls /proc/{pid}/task | wc -l   (threads there are) against: awk '{{print $1}}' trace.st | sort -u | wc -l   (threads shown)"));
    for one in at_work.iter().take(2) {
        found = found.evidence_of(
            one.of,
            &[Metric::TaskCpu, Metric::TaskUser, Metric::TaskSystem, Metric::ReadBytes, Metric::WriteBytes],
        );
    }
    found.file();
}

#[gated]
fn is_missing(facts: &Facts, child: &Child) -> bool {
    let rest = facts.window.end.since(child.ts);
    let had_time = match rest.get() {
        Some(_) => rest >= BIRTH,
        None => facts.world.calls - child.calls_before >= BIRTH_CALLS,
    };
    had_time && facts.world.is_unborn(child.tid)
}
