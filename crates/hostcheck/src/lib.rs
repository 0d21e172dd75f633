//! The walk over the host, as an expert begins: is any resource full (CPU, memory, disks, network, limits), and by which
//! sign; who takes of it or waits for it; which threads; which calls. A judge is one file and one line in [`JUDGES`].
//!
//! Judged is by the right sign, and only by figures over a time that was looked at: a CPU is full where tasks queue for
//! it, memory where pages are fetched again, a disk where requests queue and take long. Load, iowait, free memory, used
//! swap and %util alone prove nothing. What no source tells is unknown, with the command that tells.

mod calls;
mod cpu;
mod disk;
mod file_writers;
mod limits;
mod memory;
mod network;
mod takers;
#[cfg(test)]
mod tests;
pub mod thresholds;

pub use calls::{call_work, saved};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::event::Tid;
pub(crate) use whyslow_model::figures as words;
use whyslow_model::walk::{HostResource, State, Taker, Walk};
use whyslow_model::{CallStats, CountTable, Entity, Evidence, Metric, SaturatingSum, TimeKind};

/// Looks at one kind of resource. What is not there gives nothing; what is there but not told of is unknown.
type Judge = fn(&Facts) -> Vec<HostResource>;

/// The kinds of resources, in the order in which they are told.
static JUDGES: &[Judge] = &[cpu::judge, memory::judge, disk::judge, network::judge, limits::judge];

/// The walk; `None` where no source tells figures of the host.
pub fn walk(facts: &Facts) -> Option<Walk> {
    if facts.host.is_empty() {
        return None;
    }
    let mut resources: Vec<HostResource> = JUDGES.iter().flat_map(|judge| judge(facts)).collect();
    resources.sort_by_key(|resource| resource.state != State::Saturated);
    let processes = takers::processes(facts, &resources);
    let threads = takers::threads(facts, &processes);
    let calls = calls::calls(facts);
    let saving = calls::saving(facts);
    let told_nothing = |one: &HostResource| one.state == State::Unknown && one.evidence.is_empty();
    let nothing = resources.iter().all(told_nothing);
    if nothing && processes.is_empty() && calls.is_empty() {
        return None;
    }
    let next = next(facts, &resources, &processes);
    Some(Walk { resources, load: cpu::load(facts), processes, threads, calls, saving, next })
}

/// True where a resource is saturated.
pub fn is_full(walk: &Walk) -> bool {
    walk.resources.iter().any(|resource| resource.state == State::Saturated)
}

/// What the resources come to, without a full stop: `No host bottleneck (CPU 30.7 % idle; disk dm-2 61.7 % busy)`.
/// `None` where none of them is known.
pub fn verdict(walk: &Walk) -> Option<String> {
    let told = |state: State| walk.resources.iter().filter(move |one| one.state == state);
    let figure = |resource: &HostResource| {
        let main = resource.reason.split(';').next().unwrap_or_default();
        format!("{} {main}", resource.name)
    };
    if let Some(full) = told(State::Saturated).next() {
        let more = match told(State::Saturated).count() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let main = full.reason.replace("; ", ", ");
        let who = walk.processes.first().filter(|taker| !taker.takes.is_empty());
        let who = who.map_or(String::new(), |taker| format!("; {} {}", name(taker), most(taker)));
        return Some(format!("{}: {main}{more}{who}", saturated(full)));
    }
    // Of the disks the busiest is enough.
    let mut disks = 0;
    let mut room = Vec::new();
    for resource in told(State::Not) {
        disks += usize::from(resource.name.starts_with("disk"));
        if !resource.name.starts_with("disk") || disks == 1 {
            room.push(figure(resource));
        }
    }
    if room.is_empty() {
        return None;
    }
    let known = words::list(&room, MOST_TOLD);
    let unknown: Vec<String> = told(State::Unknown).map(|resource| resource.name.clone()).collect();
    Some(match unknown.is_empty() {
        true => format!("No host bottleneck ({known})"),
        false => format!(
            "No host bottleneck in what is known ({known}; {} unknown)",
            words::list(&unknown, MOST_TOLD)
        ),
    })
}

/// `Host CPU is saturated`.
fn saturated(resource: &HostResource) -> String {
    match resource.name.as_str() {
        "limits" => "A limit of the host is reached".to_string(),
        name => format!("Host {name} is saturated"),
    }
}

/// What is told where no resource is known: that, and beside it what is called most and where to look.
pub fn without_resources(walk: &Walk) -> (String, String) {
    let call = walk.calls.first().filter(|call| !call.takes.is_empty()).map(|call| {
        let figures: Vec<String> = call.takes.iter().map(|amount| amount.text.clone()).collect();
        format!("Of the calls counted {} comes first: {}", name(call), figures.join(", "))
    });
    let unknown = "No source tells whether the host is saturated".to_string();
    let beside = walk.saving.iter().cloned().chain([walk.next.clone()]);
    match call {
        Some(call) => (call, beside.chain([unknown + "."]).collect::<Vec<_>>().join(" ")),
        None => (unknown, beside.collect::<Vec<_>>().join(" ")),
    }
}

/// Resources named in the verdict.
const MOST_TOLD: usize = 5;

/// The largest thing that it takes, else that it waits for.
fn most(taker: &Taker) -> &str {
    taker.takes.first().or(taker.waits.first()).map_or("", |amount| amount.text.as_str())
}

/// `python (12280)`.
pub fn name(taker: &Taker) -> String {
    named(taker.comm.as_deref(), taker.tid.or(taker.pid))
}

fn named(comm: Option<&str>, number: Option<Tid>) -> String {
    match (comm, number) {
        (Some(comm), Some(number)) => format!("{comm} ({number})"),
        (Some(comm), None) => comm.to_string(),
        (None, Some(number)) => format!("process {number}"),
        (None, None) => "a process".to_string(),
    }
}

/// Where to look next.
fn next(facts: &Facts, resources: &[HostResource], processes: &[Taker]) -> String {
    let full = resources.iter().find(|resource| resource.state == State::Saturated);
    let Some(first) = processes.first() else {
        if let Some(caller) = calls::caller(facts) {
            return format!("Look inside {caller}.");
        }
        let gap = resources.iter().find(|resource| !resource.supply.is_empty());
        return gap.map_or(String::new(), |gap| {
            format!("No source names processes, and {} is {}: `{}`", gap.name, gap.state.words(), gap.supply)
        });
    };
    let who = name(first);
    let record = match first.pid {
        Some(pid) => format!("`whyslow diagnose -p {pid}`"),
        None => "`whyslow diagnose -p PID`".to_string(),
    };
    if let Some(full) = full {
        return format!("{}; top consumer: {who}, it {}. {record}", saturated(full), most(first));
    }
    let (who, pid) = match asked_about(facts) {
        // However little it takes: its calls are none of the first one's.
        Some(asked) if first.pid.is_none_or(|pid| !is_of(facts, asked, pid)) => {
            let process = facts.world.threads.process(asked);
            let who = process.pid.map_or_else(
                || "the traced process".to_string(),
                |pid| named(process.comm.as_deref(), Some(pid)),
            );
            (who, process.pid)
        }
        _ => (who, first.pid),
    };
    match most_called(facts, pid) {
        Some(call) => format!("Look inside {who}: {call}."),
        None if pid != first.pid => format!("Look inside {who}: nothing that it did was seen."),
        None => format!("Look inside {who}: it {}. {record}", most(first)),
    }
}

/// True where one program was asked about, with the processes that it started: what is told of the host is then told behind it.
pub fn is_about_one(facts: &Facts) -> bool {
    if asked_about(facts).is_some() {
        return true;
    }
    let threads = &facts.world.threads;
    let called: BTreeSet<ProcessId> =
        threads.iter().filter(|(_, thread)| thread.calls > 0).map(|(_, thread)| thread.process).collect();
    let is_first = |process: &&ProcessId| {
        threads.process(**process).parent.is_none_or(|parent| !called.contains(&parent))
    };
    let mut names = called.iter().filter(is_first).map(|process| {
        let process = threads.process(*process);
        process.name().or(process.comm.as_deref())
    });
    // Workers of one server have one name.
    let Some(Some(first)) = names.next() else { return false };
    names.all(|name| name == Some(first))
}

/// The process whose calls are at hand, or that a recording is of, where it is one.
fn asked_about(facts: &Facts) -> Option<ProcessId> {
    let threads = &facts.world.threads;
    let called = threads.iter().filter(|(_, thread)| thread.calls > 0).map(|(_, thread)| thread.process);
    let mut called: Vec<ProcessId> = called.collect();
    called.sort_unstable();
    called.dedup();
    if called.is_empty() && facts.capture.is_recording() {
        called = threads.processes().map(|(id, _)| id).collect();
    }
    let [only] = called[..] else { return None };
    Some(only)
}

/// True where that is the number of the process, or of a thread of it: a trace does not always tell which it is.
fn is_of(facts: &Facts, process: ProcessId, pid: Tid) -> bool {
    let threads = &facts.world.threads;
    threads.process(process).pid == Some(pid)
        || threads.iter().any(|(_, thread)| thread.process == process && thread.tid == pid)
}

/// What most calls or most time of the calls at hand are, with of what: `89.1 % of its system time is stat`. Of calls of
/// several processes those of `pid` alone, if they are told apart.
fn most_called(facts: &Facts, pid: Option<Tid>) -> Option<String> {
    let callers = facts.world.threads.processes().filter(|(_, process)| process.pid.is_some()).count();
    let beside = facts.tables_beside_excerpt();
    let own;
    let told = match beside.as_deref() {
        Some(beside) => beside,
        None if callers > 1 => {
            own = calls_of(facts, facts.world.threads.last_process(pid?)?);
            &own[..]
        }
        None => facts.syscalls(),
    };
    let (name, stats) = told.first()?;
    let total = told.iter().map(|(_, stats)| stats.total_ns).saturating_sum();
    let of_tables = (facts.world.calls == 0 || beside.is_some()) && !facts.tables.is_empty();
    let system = of_tables && facts.tables.iter().all(|table: &CountTable| table.time == TimeKind::SystemCpu);
    let calls = told.iter().map(|(_, stats)| stats.count).saturating_sum();
    if total > 0 {
        let whole = if system { "its system time" } else { "the time in its calls" };
        let share = words::percent(stats.total_ns as f64 / total as f64);
        return Some(format!(
            "{share} of {whole} is {name} ({} of {})",
            words::count(stats.count),
            words::plural(calls, "call")
        ));
    }
    let (name, stats) = told.iter().max_by_key(|(_, stats)| stats.count)?;
    (calls > 0)
        .then(|| format!("{} of its calls are {name}", words::percent(stats.count as f64 / calls as f64)))
}

/// The calls of one process, the dearest first.
fn calls_of(facts: &Facts, process: ProcessId) -> Vec<(String, CallStats)> {
    let mut calls: BTreeMap<String, CallStats> = BTreeMap::new();
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    for (syscall, stats) in threads.flat_map(|(_, thread)| thread.all_calls()) {
        calls.entry(facts.name_of(syscall).to_string()).or_default().merge(stats);
    }
    let mut calls: Vec<_> = calls.into_iter().collect();
    calls.sort_by_key(|(_, stats)| Reverse((stats.total_ns, stats.count)));
    calls
}

/// A resource as judged by figures of one thing.
fn judged(
    facts: &Facts,
    name: impl Into<String>,
    state: State,
    reason: String,
    of: &Entity,
    metrics: &[Metric],
) -> HostResource {
    HostResource {
        name: name.into(),
        state,
        reason,
        evidence: current_lines(facts, of, metrics),
        supply: String::new(),
    }
}

/// The lines of figures that are over a time that was looked at.
fn current_lines(facts: &Facts, of: &Entity, metrics: &[Metric]) -> Vec<Evidence> {
    let Some(thing) = facts.host.thing(of) else { return Vec::new() };
    let current: Vec<Metric> =
        metrics.iter().copied().filter(|metric| thing.current(*metric).is_some()).collect();
    facts.host_lines(of, &current)
}

/// A resource that no source tells of.
fn unknown(name: impl Into<String>, reason: impl Into<String>, supply: &str) -> HostResource {
    HostResource {
        name: name.into(),
        state: State::Unknown,
        reason: reason.into(),
        evidence: Vec::new(),
        supply: supply.to_string(),
    }
}
