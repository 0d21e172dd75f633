//! CPU: full where next to nothing is idle, and tasks queue or the hypervisor takes it. And what the load is made of.

use super::{current_lines, judged, unknown};
use crate::thresholds;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Entity, Metric};

/// With more than this idle (iowait is idle time), there is a CPU for whoever wants one.
const ROOM: f64 = thresholds::CPU_ROOM.value;
/// A single CPU with less idle than this is full.
const FULL: f64 = thresholds::CPU_FULL.value;
/// Tasks that wait for a CPU, for each CPU: with one behind every second CPU work takes half as long again.
const QUEUE: f64 = thresholds::CPU_QUEUE.value;
/// Share of the time in which a task waits (PSI some). On a busy host short waits are normal.
const PRESSURE: f64 = thresholds::CPU_PRESSURE.value;
/// The same where no CPU is free any more: who waits then waits for work to end.
const PRESSURE_WHERE_FULL: f64 = thresholds::CPU_PRESSURE_FULL.value;
/// Time that the hypervisor gives to others: from here on every tenth moment is missing.
const STEAL: f64 = thresholds::STEAL.value;
/// Below this, iowait is not worth a word.
const SOME_IOWAIT: f64 = 0.01;
/// Single CPUs quoted as evidence.
const QUOTED: usize = 3;

const SHOWS: &[Metric] =
    &[Metric::CpuIdle, Metric::CpuIowait, Metric::CpuSteal, Metric::Runnable, Metric::PressureCpu];
const TELLS: &str = "vmstat 1 5";

pub(super) fn judge(facts: &Facts) -> Vec<HostResource> {
    let host = &facts.host;
    let iowait = host.of_cpus(Metric::CpuIowait).unwrap_or(0.0);
    let Some(idle) = idle(facts) else {
        return vec![unknown("CPU", "no source tells how the CPUs' time is spent", TELLS)];
    };
    let free = idle + iowait;
    let steal = host.of_cpus(Metric::CpuSteal).unwrap_or(0.0);
    let pressure = host.host().and_then(|host| host.current(Metric::PressureCpu));
    let mut reason = format!("{} idle", words::percent(idle));
    let waiting = waiting(facts);
    let cpus = host.cpu_count();
    let queues = waiting.zip(cpus).map(|(waiting, cpus)| waiting >= QUEUE * cpus);
    let pressing = if free < FULL { PRESSURE_WHERE_FULL } else { PRESSURE };
    let presses = pressure.map(|share| share >= pressing);
    if let (Some(waiting), Some(cpus)) = (waiting, cpus) {
        let cpus = words::plural(cpus as u64, "CPU");
        reason.push_str(&format!("; run queue {} on {cpus}", words::quantity(waiting)));
    }
    if let Some(share) = pressure {
        reason.push_str(&format!("; PSI cpu some {}", words::percent(share)));
    }
    if iowait >= SOME_IOWAIT {
        reason.push_str(&format!("; iowait {}", words::percent(iowait)));
    }
    let stolen = (steal >= STEAL).then(|| format!("steal {}", words::percent(steal)));
    let state = if free >= ROOM {
        if let Some(stolen) = &stolen {
            reason.push_str(&format!("; {stolen}"));
        }
        if presses == Some(true) {
            reason.push_str(": it is pinned, throttled, or comes in bursts");
        }
        State::Not
    } else if let Some(stolen) = stolen {
        reason = format!("{stolen}; {reason}");
        State::Saturated
    } else if queues == Some(true) || presses == Some(true) {
        State::Saturated
    } else if queues.is_some() || presses.is_some() {
        // First: it is what the verdict quotes.
        reason = format!("busy, but hardly anybody waits for it; {reason}");
        State::Not
    } else {
        reason.push_str("; whether tasks queue for it is not told");
        State::Unknown
    };
    if let Some(full) = full_ones(facts).filter(|_| state == State::Not) {
        reason.push_str(&full);
    }
    let mut resource = judged(facts, "CPU", state, reason, &Entity::Host, SHOWS);
    if host.host().and_then(|host| host.current(Metric::CpuIdle)).is_none() {
        let cpus = host.cpus();
        let lines =
            cpus.iter().take(QUOTED).flat_map(|(cpu, _)| current_lines(facts, cpu, &[Metric::CpuIdle]));
        resource.evidence.splice(0..0, lines);
    }
    if state == State::Unknown {
        resource.supply = TELLS.to_string();
    }
    vec![resource]
}

/// Idle time without iowait; where only what is used is told, the rest.
fn idle(facts: &Facts) -> Option<f64> {
    const USED: &[Metric] = &[
        Metric::CpuUser,
        Metric::CpuNice,
        Metric::CpuSystem,
        Metric::CpuIowait,
        Metric::CpuIrq,
        Metric::CpuSoftirq,
        Metric::CpuSteal,
    ];
    facts.host.of_cpus(Metric::CpuIdle).or_else(|| {
        facts.host.of_cpus(Metric::CpuUser).zip(facts.host.of_cpus(Metric::CpuSystem))?;
        let used: f64 = USED.iter().filter_map(|metric| facts.host.of_cpus(*metric)).sum();
        Some((1.0 - used).max(0.0))
    })
}

/// Tasks that wait for a CPU, on average: by the time that processes were ready to run, else by what is runnable
/// beyond the CPUs.
fn waiting(facts: &Facts) -> Option<f64> {
    let processes = facts.host.things_that(|of| matches!(of, Entity::Process(_)));
    let delays: Vec<f64> =
        processes.iter().filter_map(|(_, process)| process.current(Metric::RunDelay)).collect();
    if !delays.is_empty() {
        return Some(delays.iter().sum());
    }
    let runnable = facts.host.host()?.current(Metric::Runnable)?;
    Some((runnable - facts.host.cpu_count()?).max(0.0))
}

/// `; CPU 3 is full`: one thread may be all that limits.
fn full_ones(facts: &Facts) -> Option<String> {
    let full: Vec<String> = facts
        .host
        .cpus()
        .into_iter()
        .filter(|(_, cpu)| {
            let idle = cpu.current(Metric::CpuIdle);
            idle.is_some_and(|idle| idle + cpu.current(Metric::CpuIowait).unwrap_or(0.0) < FULL)
        })
        .map(|(of, _)| of.to_string())
        .collect();
    let verb = if full.len() == 1 { "is" } else { "are" };
    (!full.is_empty())
        .then(|| format!("; {} {verb} at 100 %: possibly single-threaded", words::list(&full, QUOTED)))
}

/// What the load average is made of: it counts tasks that run or could, and those in uninterruptible sleep.
pub(super) fn load(facts: &Facts) -> Option<String> {
    let told: Vec<String> = load_now(facts).into_iter().chain(stuck(facts)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn load_now(facts: &Facts) -> Option<String> {
    let host = facts.host.host()?;
    let load = host.mean(Metric::Load1)?;
    let cpus = facts.host.cpu_count();
    let runnable = host.current(Metric::Runnable);
    let blocked = host.current(Metric::Uninterruptible);
    let begin = format!("Load {}", words::quantity(load));
    let (seen, in_d, whose) = states(facts);
    let mut parts = Vec::new();
    if let Some(runnable) = runnable {
        parts.push(format!("{} running or ready to run", words::quantity(runnable)));
    }
    if let Some(blocked) = blocked {
        parts.push(format!("{} in state D", words::quantity(blocked)));
    } else if in_d > 0 {
        parts.push(format!("{in_d} of {seen} tasks listed in state D ({whose})"));
    }
    if parts.is_empty() {
        return None;
    }
    // The load lags behind by a minute: only a large rest tells.
    let rest = runnable.map(|runnable| load - runnable);
    let conclusion = match (rest, cpus) {
        (Some(rest), _) if blocked.is_none() && in_d > 0 && rest > load / 2.0 => {
            format!(
                ": it is state D (waits that no signal ends, most often for a disk), not CPU; about {} tasks",
                words::quantity(rest.round())
            )
        }
        _ if blocked.is_some_and(|blocked| blocked > load / 2.0) => {
            ": it is state D (waits that no signal ends, most often for a disk), not CPU".to_string()
        }
        (_, Some(cpus)) if load <= cpus => format!("; below its {}", words::plural(cpus as u64, "CPU")),
        _ => String::new(),
    };
    Some(format!("{begin}: {}{conclusion}.", words::list(&parts, parts.len())))
}

/// Tasks that the kernel's log says were stuck in D, the ones told most often first.
fn stuck(facts: &Facts) -> Option<String> {
    let things = facts.host.things().into_iter();
    let mut stuck: Vec<_> =
        things.filter_map(|(of, thing)| Some((thing.counted(Metric::HungReports)?, of))).collect();
    stuck.sort_by(|a, b| b.0.last.total_cmp(&a.0.last).then(a.1.cmp(b.1)));
    let (first, of) = stuck.first()?;
    let names: Vec<String> = stuck.iter().map(|(_, of)| facts.host.name_of(of)).collect();
    let line = facts.host_evidence(of, first);
    let names = words::list(&names, QUOTED);
    Some(format!(
        "The kernel's log tells of tasks stuck in state D: {names} ({}: {}).",
        line.source,
        line.text.trim()
    ))
}

/// Tasks whose state is told, how many of them are in D, and their names.
fn states(facts: &Facts) -> (usize, usize, String) {
    let processes = facts.host.processes();
    let told: Vec<_> = processes.iter().filter(|(_, task)| !task.states.is_empty()).collect();
    let in_d: Vec<_> =
        told.iter().filter(|(_, task)| task.share_in_state('D').is_some_and(|share| share >= 0.5)).collect();
    let mut names: Vec<String> = Vec::new();
    for (of, task) in &in_d {
        let name = task.name().unwrap_or_else(|| of.to_string());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (told.len(), in_d.len(), words::list(&names, QUOTED))
}
