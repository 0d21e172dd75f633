//! # oom-restart-loop
//!
//! ## What it is
//! Processes are killed for want of memory, started again, and killed again.
//!
//! ## Why it is slow
//! Each time all requests under way are lost, caches are cold, and the start takes its time. Clients see errors and time
//! limits; nothing in the program's own log says why it ended.
//!
//! ## Example
//! ```text
//! /kubepods/pod7/api: 4 kills for want of memory in 60 s; limit 512 MB
//! ```
//!
//! ## What to do instead
//! A limit that fits what the program needs, a bound within the program below the limit, or the leak mended.
//!
//! ## When it is wrong
//! One kill may be one bad request: a single one is a notice. A trace shows SIGKILL and not who sent it: a supervisor outside of
//! the capture may have.

use super::pressure;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::guards::passed;
use crate::{figures, words};
use std::collections::BTreeMap;
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Entity, Measurement, Metric, Nanos, Severity, Timestamp};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "oom-restart-loop",
    group: "memory",
    summary: "processes are killed for lack of memory, again and again",
    source: include_str!("oom_restart_loop.rs"),
    needs: &[Need::Either(&[
        figures::memory(&[Metric::OomKills]),
        Need::AnyOf(&["fork", "vfork", "clone", "clone3"]),
    ])],
    check,
};

/// From two on it is no single bad request.
const AGAIN: f64 = 2.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_figures(facts, out);
    if figures::of_host(facts, Metric::OomKills).is_none() {
        of_calls(facts, out);
    }
}

/// Children that SIGKILL ends again and again, and nobody in the capture sent it.
#[gated]
fn of_calls(facts: &Facts, out: &mut Findings<'_>) {
    let world = &facts.world;
    if world.kills_sent > 0 {
        return;
    }
    let mut by_parent: BTreeMap<ProcessId, (u64, Timestamp, Timestamp)> = BTreeMap::new();
    for (process, at) in &world.killed {
        if let Some(parent) = world.threads.process(*process).parent {
            let (kills, _, last) = by_parent.entry(parent).or_insert((0, *at, *at));
            (*kills, *last) = (*kills + 1, *at);
        }
    }
    for (parent, (kills, first, last)) in by_parent {
        let Some(forks) = facts.spawns.by_parent.get(&parent) else { continue };
        // It was started again behind the first kill.
        if (kills as f64) < AGAIN || !first.is_known() || forks.last <= first {
            continue;
        }
        let subject = Subjects::thread(facts, forks.tid);
        let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
        let program = forks.favourite().map_or(String::new(), |(path, _)| format!(" (most often {path})"));
        let kills = Measurement::count("kills", kills).at_least(AGAIN);
        let time = Measurement::time("time", last.since(first));
        out.report(Share::unknown(), format!("{kills} children of {who}{program} were killed by SIGKILL in {time}, and started again: most likely by the kernel's OOM killer, out of memory"))
            .at_least(Severity::Warning)
            .subject(subject)
            .cause("Nobody in the capture sent that signal. The kernel sends it to a process whose control group or host has no memory left; each start loses the work of the one before.")
            .fix("see whether it was: dmesg -T | grep -A8 'Killed process', journalctl -k, grep oom_kill /sys/fs/cgroup/GROUP/memory.events; kubectl describe pod (OOMKilled)")
            .fix("then a limit that fits (memory.max; systemd: MemoryMax=, Kubernetes: limits.memory), and a bound of the program below it: -Xmx, GOMEMLIMIT, --max-old-space-size")
            .fix("else look who kills: a supervisor outside of the capture (timeout -s KILL, a health check that fails)")
            .verify("grep oom_kill /sys/fs/cgroup/GROUP/memory.events twice (it stands still)")
            .measured(kills)
            .measured(time)
            .evidence_all(forks.exemplars.iter())
            .file();
    }
}

#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let kills = |thing: &Thing| thing.times(Metric::OomKills).map(f64::round).filter(|kills| *kills >= 1.0);
    let scopes = pressure::scopes(facts);
    let mut found: Vec<_> =
        scopes.into_iter().filter_map(|(of, thing)| Some((kills(thing)?, of, thing))).collect();
    // Groups count the kills below them too: the deepest says where; the host only what no group does.
    let paths: Vec<&str> = found.iter().map(|(_, of, _)| of.name()).collect();
    let above = |of: &Entity| match of {
        Entity::Host => paths.iter().any(|path| !path.is_empty()),
        of => paths.iter().any(|path| *path != of.name() && figures::within(path, of.name())),
    };
    let above: Vec<bool> = found.iter().map(|(_, of, _)| above(of)).collect();
    let mut keep = above.into_iter();
    found.retain(|_| !keep.next().unwrap_or(false));
    for (kills, of, thing) in found {
        let count = words::plural(kills as u64, "kill");
        let seconds = thing.current_reading(Metric::OomKills).map(|reading| reading.seconds);
        let path = of.name();
        let members = figures::members(facts, path);
        let young: Vec<String> = members
            .iter()
            .filter(|(_, thing)| {
                thing.current(Metric::Age).zip(seconds).is_some_and(|(age, seconds)| age < seconds * 1e9)
            })
            .map(|(of, _)| facts.host.name_of(of))
            .collect();
        let again = match young.is_empty() {
            true => String::new(),
            false => format!(" Started again meanwhile: {}.", words::list(&young, 3)),
        };
        let (events, limit) = match of {
            Entity::Cgroup(_) => (
                format!("grep oom /sys/fs/cgroup{path}/memory.events"),
                format!("/sys/fs/cgroup{path}/memory.max"),
            ),
            _ => ("grep oom_kill /proc/vmstat".to_string(), "the host's memory".to_string()),
        };
        let time = seconds.map_or(Nanos::UNKNOWN, |seconds| Nanos::new((seconds * 1e9) as u64));
        let time = Measurement::time("time", time);
        let within = if time.value.is_some() { format!(" in {time}") } else { String::new() };
        let (in_use, memory) = pressure::in_use(thing);
        out.report(Share::unknown(), format!("{of}: {count} for want of memory{within}"))
            .at_least(if kills >= AGAIN { Severity::Critical } else { Severity::Notice })
            .subject(figures::subject(facts, of))
            .cause(format!("The limit was reached and nothing could be dropped, so the kernel ended a process.{in_use}{again}"))
            .fix("see who and how large: dmesg -T | grep -A8 'Killed process', journalctl -k; kubectl describe pod (OOMKilled)")
            .fix(format!("a limit that fits ({limit}; systemd: MemoryMax=, Kubernetes: limits.memory), and a bound of the program below it: -Xmx, GOMEMLIMIT, --max-old-space-size"))
            .fix("memory that grows until the kill is a leak: a heap profile some time before it says of what")
            .verify(format!("{events} twice (oom_kill stands still)"))
            .measured(passed(Measurement::count("kills", kills as u64), AGAIN))
            .measured(time)
            .measured_all(memory)
            .evidence_of(of, &[Metric::OomKills, Metric::MemoryMaxEvents, Metric::MemTotal, Metric::MemUsed])
            .file();
    }
}
