//! Limits that someone set: quotas of control groups, descriptors, tasks, backlogs, ports, tracked connections. One that
//! is reached stops work on an idle machine.

use super::{current_lines, judged, unknown};
use crate::thresholds;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Entity, Evidence, Metric};

/// A limit used up to here is reached now and then.
const NEAR: f64 = thresholds::LIMIT_NEAR.value;
/// Periods in which a quota stopped the group: below, only bursts are.
const THROTTLED: f64 = thresholds::THROTTLED.value;
/// A CPU's worth of time in which all that could run was stopped.
const STOPPED: f64 = thresholds::STOPPED.value;
/// Times a second that a group's memory limit made it reclaim.
const RECLAIMS: f64 = 1.0;

const TELLS: &str = "ss -lnt; nstat -az; cat /proc/sys/fs/file-nr";

/// A limit that was looked at.
struct Limit {
    /// How much of it is used; 1 and more where work was stopped by it.
    used: f64,
    reached: bool,
    text: String,
    evidence: Vec<Evidence>,
}

/// Levels against their limits: what, its limit, in words.
const LEVELS: &[(Metric, Metric, &str)] = &[
    (Metric::Fds, Metric::FdLimit, "descriptors"),
    (Metric::FilesOpen, Metric::FilesLimit, "open files"),
    (Metric::Threads, Metric::PidLimit, "tasks"),
    (Metric::Tasks, Metric::PidLimit, "tasks"),
    (Metric::Backlog, Metric::BacklogLimit, "connections to be accepted"),
    (Metric::EphemeralPortsUsed, Metric::EphemeralPorts, "ephemeral ports"),
    (Metric::Conntrack, Metric::ConntrackLimit, "tracked connections"),
];

/// What is refused where a limit is reached: the metric, of what it counts, and why.
const REFUSALS: &[(Metric, &str, &str)] = &[
    (Metric::ListenOverflows, "connection", "refused for a full accept queue"),
    (Metric::SynQueueOverflows, "SYN", "met a full queue of half-open connections"),
    (Metric::ConntrackDrops, "packet", "dropped for a full table of tracked connections"),
    (Metric::TcpMemoryAborts, "connection", "given up for lack of memory (tcp_mem)"),
    (Metric::FileLimitHits, "file", "refused for a limit of open files"),
];

pub(super) fn judge(facts: &Facts) -> Vec<HostResource> {
    let mut limits: Vec<Limit> = Vec::new();
    for (of, thing) in facts.host.things() {
        for (level, limit, what) in LEVELS {
            if let (Some(level_now), Some(most)) = (thing.current(*level), thing.mean(*limit))
                && most > 0.0
            {
                let used = level_now / most;
                limits.push(Limit {
                    used,
                    reached: used >= NEAR,
                    text: format!(
                        "{}: {} of {} {what}",
                        facts.host.name_of(of),
                        words::quantity(level_now),
                        words::quantity(most)
                    ),
                    evidence: if used >= NEAR {
                        current_lines(facts, of, &[*level, *limit])
                    } else {
                        Vec::new()
                    },
                });
            }
        }
        if let Entity::Cgroup(path) = of {
            limits.extend(of_group(facts, of, path));
        }
    }
    for (metric, what, why) in REFUSALS {
        for (of, thing) in facts.host.things() {
            let Some(times) = thing.current(*metric) else { continue };
            limits.push(Limit {
                used: times.min(1.0),
                reached: times > 0.0,
                text: format!("{} {what}s/s {why}", words::quantity(times)),
                evidence: current_lines(facts, of, &[*metric]),
            });
        }
    }
    let before = hits_so_far(facts);
    if limits.is_empty() && before.is_empty() {
        return vec![unknown("limits", "no source tells of quotas, descriptors, backlogs or ports", TELLS)];
    }
    if limits.is_empty() {
        let reason = format!("no source tells of now; so far {}", told(&before));
        let evidence = before.into_iter().flat_map(|limit| limit.evidence).collect();
        return vec![HostResource { evidence, ..unknown("limits", reason, TELLS) }];
    }
    limits.sort_by(|a, b| b.reached.cmp(&a.reached).then(b.used.total_cmp(&a.used)));
    let reached: Vec<&Limit> = limits.iter().filter(|limit| limit.reached).collect();
    let state = if reached.is_empty() { State::Not } else { State::Saturated };
    let mut reason = match reached.is_empty() {
        true => format!("not near ({})", told(&limits[..1])),
        false => told(reached.iter().copied()),
    };
    if !before.is_empty() {
        reason.push_str(&format!("; so far {}", told(&before)));
    }
    let mut resource = judged(facts, "limits", state, reason, &Entity::Host, &[]);
    let quoted = reached.into_iter().chain(&before).take(MOST_TOLD);
    resource.evidence = quoted.flat_map(|limit| limit.evidence.clone()).collect();
    vec![resource]
}

/// The first of them in words.
fn told<'l>(limits: impl IntoIterator<Item = &'l Limit>) -> String {
    let texts: Vec<String> = limits.into_iter().map(|limit| limit.text.clone()).collect();
    words::list(&texts, MOST_TOLD)
}

/// Limits that are told.
const MOST_TOLD: usize = 3;

/// What was refused for a limit since boot, nobody tells when: it is quoted, and nothing is judged by it.
fn hits_so_far(facts: &Facts) -> Vec<Limit> {
    let mut hits = Vec::new();
    for (metric, what, why) in REFUSALS.iter().filter(|(metric, ..)| !facts.host.knows(*metric)) {
        for (of, thing) in facts.host.things() {
            let Some(reading) = thing.counted(*metric).filter(|reading| reading.last > 0.0) else { continue };
            let whose = match of {
                Entity::Host => String::new(),
                of => format!(" ({})", facts.host.name_of(of)),
            };
            hits.push(Limit {
                used: 1.0,
                reached: false,
                text: format!("{} {why}{whose}", words::plural(reading.last as u64, what)),
                evidence: vec![facts.host_evidence(of, reading)],
            });
        }
    }
    hits
}

/// The limits of a control group.
fn of_group(facts: &Facts, of: &Entity, path: &str) -> Vec<Limit> {
    let Some(group) = facts.host.thing(of) else { return Vec::new() };
    let mut limits = Vec::new();
    let periods = group.current(Metric::CpuPeriods).filter(|periods| *periods > 0.0);
    let stopped = group.current(Metric::ThrottledPeriods).zip(periods).map(|(stopped, all)| stopped / all);
    if let Some(part) = stopped {
        let time = group.current(Metric::ThrottledTime);
        let quota = group
            .mean(Metric::CpuQuota)
            .map_or(String::new(), |cpus| format!(" of {} CPUs", words::quantity(cpus)));
        limits.push(Limit {
            used: part,
            reached: part >= THROTTLED && time.is_none_or(|time| time >= STOPPED),
            text: format!(
                "{path}: its CPU quota{quota} stopped it in {} of its periods",
                words::percent(part)
            ),
            evidence: current_lines(
                facts,
                of,
                &[Metric::ThrottledPeriods, Metric::CpuPeriods, Metric::ThrottledTime],
            ),
        });
    }
    for (metric, what) in [(Metric::MemoryMaxEvents, "memory.max"), (Metric::MemoryHighEvents, "memory.high")]
    {
        if let Some(times) = group.current(metric) {
            limits.push(Limit {
                used: (times / RECLAIMS).min(1.0),
                reached: times >= RECLAIMS,
                text: format!("{path}: reached its {what} {} times/s", words::quantity(times)),
                evidence: current_lines(facts, of, &[metric, Metric::MemUsed, Metric::MemTotal]),
            });
        }
    }
    for (metric, limit, what) in [
        (Metric::ReadBytes, Metric::IoReadLimit, "read"),
        (Metric::WriteBytes, Metric::IoWriteLimit, "write"),
    ] {
        if let (Some(bytes), Some(most)) =
            (group.current(metric), group.mean(limit).filter(|most| *most > 0.0))
        {
            limits.push(Limit {
                used: bytes / most,
                reached: bytes / most >= NEAR,
                text: format!(
                    "{path}: {}/s of the {}/s that io.max lets it {what}",
                    words::bytes(bytes as u64),
                    words::bytes(most as u64)
                ),
                evidence: current_lines(facts, of, &[metric, limit]),
            });
        }
    }
    limits
}
