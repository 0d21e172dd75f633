//! Processes and threads, ranked by what they take of the host or wait for; of what is full first.

use super::current_lines;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Thing, figure};
use whyslow_model::walk::{Amount, HostResource, State, Taker};
use whyslow_model::{Entity, Metric, Trait};

/// Processes and threads told of.
const TOLD: usize = 8;
/// Less than this of anything is nothing: CPUs, seconds a second.
const SOME: f64 = 0.005;
/// Less than this of a disk is nothing: bytes a second.
const SOME_BYTES: f64 = 100_000.0;
/// Of the time (or of the looks at it) from which on a task waits for a thing that others take.
const VICTIM: f64 = 0.10;
/// A task that takes more of the full thing than this part is no victim of it.
const CULPRIT: f64 = 0.20;
/// A full resource counts for so much more than one with room.
const FULL_WEIGHT: f64 = 10.0;

/// What tasks take, and how it is said: `writes 33.7 MB/s`.
const TAKES: &[(Metric, &str)] = &[(Metric::WriteBytes, "writes"), (Metric::ReadBytes, "reads")];
/// What tasks wait for.
const WAITS: &[(Metric, &str)] = &[
    (Metric::RunDelay, "waits for a CPU"),
    (Metric::BlockDelay, "waits for a disk"),
    (Metric::SwapDelay, "waits for swap"),
    (Metric::ReclaimDelay, "reclaims memory"),
    (Metric::ThrashDelay, "waits for pages just given up"),
];
const SHOWS: &[Metric] = &[
    Metric::TaskUser,
    Metric::TaskSystem,
    Metric::TaskCpu,
    Metric::WriteBytes,
    Metric::ReadBytes,
    Metric::BlockDelay,
    Metric::RunDelay,
];

/// Sums over all tasks of a kind, and what is full.
struct Whole {
    cpu: f64,
    /// CPU time over each one's life counts: no source tells of a time that was looked at.
    by_life: bool,
    bytes: f64,
    cpu_full: bool,
    disk_full: Option<String>,
    memory_full: bool,
}

/// The processes that matter.
pub(super) fn processes(facts: &Facts, resources: &[HostResource]) -> Vec<Taker> {
    ranked(facts, facts.host.processes(), resources)
}

/// The threads that matter: of the processes told of first.
pub(super) fn threads(facts: &Facts, processes: &[Taker]) -> Vec<Taker> {
    let of: Vec<u32> = processes.iter().filter_map(|taker| taker.pid).collect();
    let threads = facts.host.things_that(
        |thing| matches!(thing, Entity::Thread { pid, .. } if of.is_empty() || of.contains(pid)),
    );
    ranked(facts, threads, &[])
}

fn ranked(facts: &Facts, tasks: Vec<(&Entity, &Thing)>, resources: &[HostResource]) -> Vec<Taker> {
    let full = |name: &str| {
        let saturated = |one: &&HostResource| one.state == State::Saturated && one.name.starts_with(name);
        resources.iter().find(saturated).map(|one| one.name.clone())
    };
    // Where others were looked at, one that is not told of did nothing meanwhile, whatever it took before.
    let by_life = tasks.iter().all(|(_, task)| current_cpu(task).is_none());
    let whole = Whole {
        cpu: tasks.iter().filter_map(|(_, task)| cpu(task, by_life)).sum(),
        by_life,
        bytes: tasks.iter().map(|(_, task)| bytes(task)).sum(),
        cpu_full: full("CPU").is_some(),
        disk_full: full("disk"),
        memory_full: full("memory").is_some(),
    };
    let mut scored: Vec<(f64, &Entity, &Thing)> = tasks
        .into_iter()
        .map(|(of, task)| (score(task, &whole), of, task))
        .filter(|(score, ..)| *score > 0.0)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let (first, rest) = scored.split_at(scored.len().min(TOLD));
    // Who suffers is told even where many take more.
    let victims = rest.iter().filter(|(_, _, task)| victim_of(task, &whole).is_some()).take(TOLD);
    first.iter().chain(victims).map(|(_, of, task)| taker(facts, of, task, &whole)).collect()
}

/// How much it matters: its part of what all take, and the time that it waits.
fn score(task: &Thing, whole: &Whole) -> f64 {
    let part = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
    let weight = |full: bool| if full { FULL_WEIGHT } else { 1.0 };
    let cpu = Some(cpu(task, whole.by_life).unwrap_or(0.0)).filter(|cpu| *cpu >= SOME).unwrap_or(0.0);
    let bytes = Some(bytes(task)).filter(|bytes| *bytes >= SOME_BYTES).unwrap_or(0.0);
    let of = |metric: Metric| task.current(metric).filter(|value| *value >= SOME).unwrap_or(0.0).min(1.0);
    weight(whole.cpu_full) * (part(cpu, whole.cpu) + of(Metric::RunDelay) / 2.0)
        + weight(whole.disk_full.is_some())
            * (part(bytes, whole.bytes) + (of(Metric::BlockDelay) + in_d(task)) / 2.0)
        + weight(whole.memory_full)
            * (of(Metric::ReclaimDelay) + of(Metric::ThrashDelay) + of(Metric::SwapDelay))
}

fn taker(facts: &Facts, of: &Entity, task: &Thing, whole: &Whole) -> Taker {
    let mut takes = Vec::new();
    let mut waits = Vec::new();
    let amount = |metric: Metric, value: f64, text: String| Amount { what: metric.name(), value, text };
    let (user, system) = (task.current(Metric::TaskUser), task.current(Metric::TaskSystem));
    let of_life = if whole.by_life { " over its life" } else { "" };
    if let Some(cpu) = cpu(task, whole.by_life).filter(|cpu| *cpu >= SOME) {
        let modes = match (user, system) {
            (Some(user), Some(system)) => {
                let part = words::percent(system / (user + system).max(f64::MIN_POSITIVE));
                format!(", {part} of it in the kernel")
            }
            _ => String::new(),
        };
        takes.push(amount(
            Metric::TaskCpu,
            cpu,
            format!("uses {} of one CPU{modes}{of_life}", words::percent(cpu)),
        ));
    }
    for (metric, verb) in TAKES {
        if let Some(value) = task.current(*metric).filter(|value| *value >= SOME_BYTES) {
            takes.push(amount(*metric, value, format!("{verb} {}", figure(*metric, value))));
        }
    }
    // What matters most is said first.
    if whole.disk_full.is_some() {
        takes.sort_by_key(|amount| amount.what == Metric::TaskCpu.name());
    }
    for (metric, words) in WAITS {
        if let Some(value) = task.current(*metric).filter(|value| *value >= SOME) {
            waits.push(amount(
                *metric,
                value,
                format!("{words} {} of the time", crate::words::percent(value)),
            ));
        }
    }
    if in_d(task) > 0.0 {
        let text = match task.states.len() {
            1 => "in state D".to_string(),
            _ => format!("uninterruptible (D) in {} of samples", words::percent(in_d(task))),
        };
        waits.push(amount(Metric::Uninterruptible, in_d(task), text));
    }
    let command = || task.told(Trait::Command).map(str::to_string);
    Taker {
        pid: of.pid(),
        tid: if let Entity::Thread { tid, .. } = of { Some(*tid) } else { None },
        comm: match of {
            Entity::Command(name) => Some(name.to_string()),
            _ => task.name().or_else(command),
        },
        takes,
        waits,
        victim_of: victim_of(task, whole),
        evidence: current_lines(facts, of, SHOWS),
    }
}

/// CPU time of a time that was looked at.
fn current_cpu(task: &Thing) -> Option<f64> {
    let modes = [Metric::TaskUser, Metric::TaskSystem].iter().filter_map(|metric| task.current(*metric));
    modes.reduce(|a, b| a + b).or_else(|| task.current(Metric::TaskCpu))
}

/// CPU time: of a time that was looked at, else, with `by_life`, over its life (`ps`).
fn cpu(task: &Thing, by_life: bool) -> Option<f64> {
    current_cpu(task).or_else(|| task.cpu().filter(|_| by_life))
}

fn bytes(task: &Thing) -> f64 {
    [Metric::ReadBytes, Metric::WriteBytes].iter().filter_map(|metric| task.current(*metric)).sum()
}

fn in_d(task: &Thing) -> f64 {
    task.share_in_state('D').unwrap_or(0.0)
}

/// The full resource that it waits for, while it takes little of it.
fn victim_of(task: &Thing, whole: &Whole) -> Option<String> {
    let waits = |metric: Metric| task.current(metric).unwrap_or(0.0) >= VICTIM;
    if let Some(disk) = &whole.disk_full
        && (waits(Metric::BlockDelay) || in_d(task) >= VICTIM)
        && bytes(task) < CULPRIT * whole.bytes
    {
        return Some(disk.clone());
    }
    let little_cpu = cpu(task, whole.by_life).unwrap_or(0.0) < CULPRIT * whole.cpu;
    (whole.cpu_full && waits(Metric::RunDelay) && little_cpu).then(|| "CPU".to_string())
}
