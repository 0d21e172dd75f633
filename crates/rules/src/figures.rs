//! What rules over the host's figures share: which reading they go by, what they need, whom a finding is about,
//! and who takes most of something.

use crate::engine::Need;
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Thing, figure};
use whyslow_model::{Entity, Metric, Subject, Trait};

/// What supplies figures of all kinds.
const LIVE: &str = "whyslow diagnose -a";

/// Figures of processes and threads.
pub(crate) const fn tasks(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "what each process takes and waits for (CPU, switches, faults, delays)", LIVE)
}

/// Figures of CPUs.
pub(crate) const fn cpus(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "where the CPUs' time goes", LIVE)
}

/// Figures of memory.
pub(crate) const fn memory(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "what the kernel does to find memory (swap, reclaim, refaults)", LIVE)
}

/// Figures of control groups.
pub(crate) const fn groups(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "control groups with their limits", LIVE)
}

/// Figures of disks.
pub(crate) const fn disks(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "requests, queue and latency of the disks", LIVE)
}

/// Figures of the network.
pub(crate) const fn network(metrics: &'static [Metric]) -> Need {
    Need::Figures(metrics, "the kernel's counters of TCP and its sockets", LIVE)
}

/// A figure of the machine.
pub(crate) fn of_host(facts: &Facts, metric: Metric) -> Option<f64> {
    facts.host.host()?.current(metric)
}

/// CPU time a second, in CPUs.
pub(crate) fn cpu(thing: &Thing) -> Option<f64> {
    thing.sum_current(&[Metric::TaskUser, Metric::TaskSystem]).or_else(|| thing.current(Metric::TaskCpu))
}

/// Looks at a task: of fewer, the share in a state is chance.
pub(crate) const MIN_LOOKS: u64 = 5;

/// Of the looks at a task, the share in that state.
#[gated]
pub(crate) fn share_in_state(thing: &Thing, state: char) -> Option<f64> {
    let looks: u64 = thing.states.iter().map(|(_, times)| times).sum();
    thing.share_in_state(state).filter(|_| looks >= MIN_LOOKS)
}

/// True for one that is known to run for less than two seconds (guard 4).
#[gated]
pub(crate) fn just_started(thing: &Thing) -> bool {
    thing.current(Metric::Age).is_some_and(|age| age < crate::guards::STARTUP.or_zero() as f64)
}

/// True for the path of a group or of one below it.
pub(crate) fn within(path: &str, group: &str) -> bool {
    path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True for a process or thread in that group.
pub(crate) fn in_group(thing: &Thing, group: &str) -> bool {
    let groups = [Trait::Cgroup, Trait::MemoryCgroup];
    groups.into_iter().any(|of| thing.told(of).is_some_and(|path| within(path, group)))
}

/// The processes of a group.
#[gated]
pub(crate) fn members<'a>(facts: &'a Facts, group: &str) -> Vec<(&'a Entity, &'a Thing)> {
    let mut members = facts.host.processes();
    members.retain(|(_, thing)| in_group(thing, group));
    members
}

/// Whom or what a finding is about.
pub(crate) fn subject(facts: &Facts, of: &Entity) -> Subject {
    let thing = facts.host.thing(of);
    let comm = thing.and_then(Thing::name);
    let owner = thing.and_then(|thing| thing.told(Trait::Owner)?.parse().ok());
    let name = || Some(of.name().to_string());
    let about = Subject { pid: of.pid().or(owner), comm, ..Subject::default() };
    match of {
        Entity::Thread { tid, .. } => Subject { tid: Some(*tid), ..about },
        Entity::Command(name) => Subject { comm: Some(name.to_string()), ..about },
        Entity::Device(_) | Entity::Interface(_) => Subject { device: name(), ..about },
        Entity::Cpu(number) => Subject { device: Some(format!("cpu{number}")), ..about },
        Entity::Mount(_) | Entity::File { .. } => Subject { path: name(), ..about },
        Entity::Cgroup(path) => Subject { path: Some(format!("/sys/fs/cgroup{path}")), ..about },
        Entity::Listener(_) | Entity::Peer(_) => Subject { peer: name(), ..about },
        Entity::Function { .. } => Subject { function: name(), ..about },
        Entity::Host | Entity::Process(_) | Entity::Interrupt(_) | Entity::Queue { .. } => about,
    }
}

/// The processes (of the kernel too) that have most of something, the first first.
#[gated]
pub(crate) fn most(facts: &Facts, of: impl Fn(&Thing) -> Option<f64>) -> Vec<(f64, &Entity, &Thing)> {
    let all = facts.host.processes().into_iter();
    let mut found: Vec<_> = all
        .filter_map(|(entity, thing)| {
            Some((of(thing).filter(|value| value.is_finite() && *value > 0.0)?, entity, thing))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found
}

/// The first few of [`most`] but `but`, in words: `dd (812) 95.2 MB/s and postgres (731) 1.2 MB/s`.
#[gated]
pub(crate) fn named(
    facts: &Facts,
    most: &[(f64, &Entity, &Thing)],
    metric: Metric,
    but: Option<&Entity>,
) -> String {
    /// More are noise.
    const SHOWN: usize = 3;
    let others = most.iter().filter(|(_, of, _)| Some(*of) != but).take(SHOWN);
    let told: Vec<String> = others
        .map(|(value, of, _)| format!("{} {}", facts.host.name_of(of), figure(metric, *value)))
        .collect();
    words::list(&told, SHOWN)
}
