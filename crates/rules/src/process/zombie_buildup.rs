//! # zombie-buildup
//!
//! ## What it is
//! Processes that have ended are not waited for by their parent: they stay as zombies, and become more.
//!
//! ## Why it is slow
//! A zombie takes no memory or CPU, but a number. When the numbers are used up (`pid_max`, a group's `pids.max`), fork
//! fails with EAGAIN for everybody, and every list of processes is as long.
//!
//! ## Example
//! ```text
//! 4,211 zombies, 3,900 of them of supervisor (812); 32,768 numbers for processes
//! ```
//!
//! ## What to do instead
//! The parent must wait: `waitpid` in a loop upon SIGCHLD, or `SIGCHLD` set to ignored. In a container, an init that does
//! (docker run --init, tini).
//!
//! ## When it is wrong
//! A few zombies are children that end just now, or that a parent gets to later. Below fifty nothing is said, and nothing
//! of fewer than there were. In a trace, twenty children must have ended while their parent asked for next to none; eight, where it asked for none at all and
//! started them all the time. A parent
//! that ignores SIGCHLD is rid of them without asking: what was set before the capture is not seen.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::folds::spawns::Forks;
use whyslow_facts::{Facts, ProcessId, ThreadFacts};
use whyslow_model::{Entity, Measurement, Metric, Nanos, SaturatingSum, Severity, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "zombie-buildup",
    group: "process",
    summary: "ended processes are not waited for, and become more",
    source: include_str!("zombie_buildup.rs"),
    needs: &[Need::Either(&[
        figures::tasks(&[Metric::Zombies]),
        Need::AnyOf(&["fork", "vfork", "clone", "clone3"]),
    ])],
    check,
};

/// Children that ended from which on it is a habit: a script of a few commands in the background stays below.
const MIN_CHILDREN: u64 = 20;
/// The same where it asks for none, and starts them from the start of the recording to its end ([`ALL_ALONG`]): a short recording sees few.
const FEW_CHILDREN: u64 = 8;
/// The part of the recorded time from the first child to the last that is all of it.
const ALL_ALONG: f64 = 0.6;
/// A parent that asks for one child of so many waits for them, though later.
const ASKED_PART: u64 = 10;
/// A zombie is one for this long at least: a parent may ask for its children in turn.
const STAYED: Nanos = Nanos::from_millis(200);
/// Fewer are normal on a large host.
const MIN_ZOMBIES: f64 = 50.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_calls(facts, out);
    of_host(facts, out);
}

/// Parents whose children end, and that ask for none of them.
#[gated]
fn of_calls(facts: &Facts, out: &mut Findings<'_>) {
    for (parent, forks) in &facts.spawns.by_parent {
        let asked = (forks.waits.count - forks.waits.errors).max(counted_waits(facts, *parent));
        let least = if asked == 0 && is_all_along(facts, forks) { FEW_CHILDREN } else { MIN_CHILDREN };
        if forks.forks.count < least || asked * ASKED_PART > forks.forks.count {
            continue;
        }
        let ended = zombies(facts, *parent);
        if ended < least {
            continue;
        }
        let subject = Subjects::thread(facts, forks.tid);
        let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
        let rate = whyslow_facts::window::per_second(forks.forks.count, forks.first, forks.last);
        let rate = rate.map(|rate| Measurement::per_second("children_per_second", rate));
        let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
        let children = Measurement::count("children", forks.forks.count).at_least(least as f64);
        let ended = Measurement::count("children_ended", ended).at_least(least as f64);
        let waits = Measurement::count("waits", asked).at_most((forks.forks.count / ASKED_PART) as f64);
        let program = forks.favourite().map_or(String::new(), |(path, _)| format!(" (most often {path})"));
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        out.report(Share::unknown(), format!("{who} started {children} children{program}{often}, of which {ended} ended, and waits for none: they stay as zombies"))
            .at_least(Severity::Warning)
            .subject(subject)
            .cause(format!("Each ended child keeps its number until its parent asks how it ended: {waits} calls of the wait family were made. When no number is left, nothing on the host can be started. Only a parent that ignores SIGCHLD is rid of them (SigIgn in /proc/{pid}/status)."))
            .measured(children)
            .measured_all(rate)
            .measured_all([ended, waits])
            .fix("in the parent: upon SIGCHLD call waitpid(-1, &status, WNOHANG) until it returns 0; or signal(SIGCHLD, SIG_IGN) where the outcome does not matter")
            .fix("Go: cmd.Wait() after cmd.Start(); Ruby: Process.detach(pid); Python: keep the Popen and poll() it; PHP: pcntl_signal(SIGCHLD, SIG_IGN)")
            .verify(format!("ps -o stat,pid,comm --ppid {pid} | grep -c '^Z'   (after: 0)"))
            .evidence_all(forks.exemplars.iter())
            .file();
    }
}

/// True where the children are started one after the other, all the time: a script of a few commands starts them at once.
#[gated]
fn is_all_along(facts: &Facts, forks: &Forks) -> bool {
    let whole = facts.window.whole().or_zero();
    whole > 0 && forks.last.since(forks.first).or_zero() as f64 >= ALL_ALONG * whole as f64
}

/// Children that ended and stayed so, while the parent went on. A parent that is ended with all of its children has left none.
#[gated]
fn zombies(facts: &Facts, parent: ProcessId) -> u64 {
    let threads = || facts.world.threads.iter().map(|(_, thread)| thread);
    let last_of = |process| {
        threads().filter(|thread| thread.process == process).filter_map(|thread| thread.last.get()).max()
    };
    let until = match facts.world.threads.process(parent).exited {
        true => last_of(parent),
        false => facts.window.end.get(),
    };
    let stayed = |thread: &ThreadFacts| match (thread.last.get(), until) {
        (Some(last), Some(until)) => until.saturating_sub(last) >= STAYED.or_zero(),
        // Without a clock.
        _ => true,
    };
    let of_child = |thread: &&ThreadFacts| {
        let child = facts.world.threads.process(thread.process);
        child.parent == Some(parent) && child.exited && child.started && child.pid == Some(thread.tid)
    };
    threads().filter(of_child).filter(|thread| stayed(thread)).count() as u64
}

/// Calls of the wait family by a process, those that were only counted too.
#[gated]
fn counted_waits(facts: &Facts, parent: ProcessId) -> u64 {
    let threads =
        facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == parent);
    let calls = threads.flat_map(|thread| thread.all_calls());
    let waits =
        calls.filter(|(syscall, _)| matches!(facts.name_of(*syscall), "wait4" | "waitid" | "waitpid"));
    waits.map(|(_, stats)| stats.count.saturating_sub(stats.errors)).saturating_sum()
}

#[gated]
fn of_host(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(reading) = host.current_reading(Metric::Zombies) else { return };
    let zombies = reading.last;
    // They are being taken away.
    if zombies < MIN_ZOMBIES || zombies < reading.max {
        return;
    }
    let before = (zombies > reading.min).then(|| Measurement::number("zombies_before", reading.min));
    let grown = before.as_ref().map_or(String::new(), |before| format!(" They were {before} when it began."));
    let limit = host.current(Metric::PidLimit).filter(|limit| *limit > 0.0);
    let share = limit.map_or_else(Share::unknown, |limit| {
        Share::of_time((zombies / limit).min(1.0), "the numbers for processes")
    });
    let parent = parent_of_most(facts);
    let of_parent = parent.as_ref().map(|(_, count)| Measurement::count("zombies_of_parent", *count));
    let (whose, of, pid) = match parent.as_ref().zip(of_parent.as_ref()) {
        Some(((of, _), count)) => {
            let whose = format!(", {count} of them of {}", facts.host.name_of(of));
            (whose, of, of.pid().map_or("PID".to_string(), |pid| pid.to_string()))
        }
        None => (String::new(), &Entity::Host, "PID".to_string()),
    };
    let zombies = Measurement::count("zombies", zombies as u64).at_least(MIN_ZOMBIES);
    out.report(share, format!("{zombies} zombies{whose}: ended processes that their parent does not wait for"))
        .measured(zombies)
        .measured_all(of_parent.into_iter().chain(before))
        .measured_all(limit.map(|limit| Measurement::number("process_limit", limit)))
        .subject(figures::subject(facts, of))
        .cause(format!("Each keeps its number until its parent asks how it ended. When no number is left, nothing on the host can be started.{grown}"))
        .fix("in the parent: upon SIGCHLD call waitpid(-1, &status, WNOHANG) until it returns 0; or signal(SIGCHLD, SIG_IGN) where the outcome does not matter")
        .fix("in a container: an init that waits (docker run --init, tini, dumb-init; Kubernetes: shareProcessNamespace)")
        .fix(format!("at once: kill -CHLD {pid}; else end the parent, and init takes its zombies away"))
        .verify("ps -eo stat,ppid,comm | awk '$1 ~ /^Z/ {print $2}' | sort | uniq -c | sort -rn | head")
        .evidence_of(&Entity::Host, &[Metric::Zombies, Metric::Tasks, Metric::PidLimit])
        .file();
}

/// The parent with the most zombies, and how many it has.
#[gated]
fn parent_of_most(facts: &Facts) -> Option<(Entity, u64)> {
    let mut counts: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    for (_, thing) in facts.host.processes() {
        let parent = thing.told(Trait::Parent).and_then(|parent| parent.parse().ok());
        if let Some(parent) =
            parent.filter(|_| thing.told(Trait::State).is_some_and(|state| state.starts_with('Z')))
        {
            *counts.entry(parent).or_default() += 1;
        }
    }
    let (pid, count) = counts.into_iter().max_by_key(|(pid, count)| (*count, std::cmp::Reverse(*pid)))?;
    Some((Entity::Process(pid), count))
}
