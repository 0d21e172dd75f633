//! One look at the host as the screen shows it: a verdict for each resource, and tasks with what they take and wait for.

use std::borrow::Cow;
use std::collections::HashMap;
use whyslow_facts::Facts;
use whyslow_host::{Gap, Sample};
use whyslow_hostcheck as hostcheck;
use whyslow_model::walk::{HostResource, State, Taker};
use whyslow_model::{Entity, Event, FigureRow, Metric, Nanos, Sink, Tid, Timestamp, Trait, figures};

/// A process or one of its threads.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The process.
    pub(crate) pid: Tid,
    /// The thread, where it is one.
    pub(crate) tid: Option<Tid>,
    /// Who started it.
    pub(crate) parent: Option<Tid>,
    /// What was seen of it, rates and levels.
    pub(crate) row: FigureRow,
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Wait {
    /// In a word: `CPU`, `disk`, `memory`.
    pub(crate) what: &'static str,
    /// Seconds a second.
    pub(crate) share: f64,
}

/// Time that the kernel says a task spends waiting, and for what.
const WAITS: &[(Metric, &str)] = &[
    (Metric::RunDelay, "CPU"),
    (Metric::BlockDelay, "disk"),
    (Metric::SwapDelay, "swap"),
    (Metric::ReclaimDelay, "memory"),
    (Metric::ThrashDelay, "page cache"),
    (Metric::CompactDelay, "compaction"),
];

/// Seconds a second below which a wait is not worth a word.
const LEAST_WAIT: f64 = 0.005;

impl Task {
    /// CPU time a second, in CPUs.
    pub(crate) fn cpu(&self) -> Option<f64> {
        sum([self.row.get(Metric::TaskUser), self.row.get(Metric::TaskSystem)])
    }

    /// What it waits for most; `None` where that is next to nothing, or is not known.
    pub(crate) fn wait(&self) -> Option<Wait> {
        let known =
            WAITS.iter().filter_map(|&(metric, what)| Some(Wait { what, share: self.row.get(metric)? }));
        known.filter(|wait| wait.share >= LEAST_WAIT).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// All that it waits for, in seconds a second; `None` where nothing is known of it.
    pub(crate) fn waits(&self) -> Option<f64> {
        sum(WAITS.iter().map(|(metric, _)| self.row.get(*metric)))
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.row.told(Trait::Name).unwrap_or("?")
    }

    /// Its state, a letter as in /proc.
    pub(crate) fn state(&self) -> &str {
        self.row.told(Trait::State).unwrap_or("?")
    }

    /// Its command line; where it has none (kernel threads), its name in brackets, as in ps.
    pub(crate) fn command(&self) -> Cow<'_, str> {
        match self.row.told(Trait::Command) {
            Some(command) => command.into(),
            None => format!("[{}]", self.name()).into(),
        }
    }

    /// Bytes a second that it reads from storage and writes.
    pub(crate) fn traffic(&self) -> Option<f64> {
        sum([self.row.get(Metric::ReadBytes), self.row.get(Metric::WriteBytes)])
    }

    /// Of the descriptors that it may have open, the part that it has.
    pub(crate) fn descriptors(&self) -> Option<f64> {
        let limit = self.row.get(Metric::FdLimit).filter(|limit| *limit > 0.0)?;
        Some(self.row.get(Metric::Fds)? / limit)
    }

    /// In which kernel function it waits, where that was looked at.
    pub(crate) fn wchan(&self) -> Option<&str> {
        self.row.told(Trait::Wchan).filter(|wchan| *wchan != "0")
    }
}

/// The sum of what is known; `None` where nothing is.
fn sum(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    values.into_iter().flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// One look.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// When.
    pub(crate) at: Timestamp,
    /// What rates are over.
    pub(crate) over: Nanos,
    /// CPU, memory, disks, network, limits: full or not.
    pub(crate) resources: Vec<HostResource>,
    /// Who takes of what is full, and who waits for it, as the walk ranks them.
    pub(crate) takers: Vec<Taker>,
    /// The part of the time in which each device was busy.
    busy: HashMap<Box<str>, f64>,
    /// How the load splits, where it is worth saying.
    pub(crate) load: Option<String>,
    /// All processes.
    pub(crate) processes: Vec<Task>,
    /// Threads that were listed, by process.
    pub(crate) threads: HashMap<Tid, Vec<Task>>,
    /// What could not be seen.
    pub(crate) gaps: Vec<Gap>,
    /// CPU time that we took since the look before, sampling and drawing, as a share of one CPU.
    pub(crate) cost: Option<f64>,
}

impl Look {
    /// What a sample says; `used` is CPU time that this process took meanwhile.
    pub(crate) fn of(sample: Sample, used: Nanos) -> Look {
        let Sample { at, over, tables, gaps, .. } = sample;
        let mut facts = Facts::default();
        let mut rows: HashMap<Entity, FigureRow> = HashMap::new();
        let mut busy = HashMap::new();
        for table in tables {
            for row in table.rows.iter().filter(|row| is_task(&row.of)) {
                match rows.get_mut(&row.of) {
                    Some(known) => {
                        known.figures.extend_from_slice(&row.figures);
                        known.traits.extend_from_slice(&row.traits);
                    }
                    None => {
                        rows.insert(row.of.clone(), row.clone());
                    }
                }
            }
            for row in &table.rows {
                if let (Entity::Device(name), Some(share)) = (&row.of, row.get(Metric::Utilisation)) {
                    busy.insert(name.clone(), share);
                }
            }
            facts.push(Event::Figures(Box::new(table)));
        }
        facts.finish();
        let walk = hostcheck::walk(&facts).unwrap_or_default();
        let mut processes = Vec::new();
        let mut threads: HashMap<Tid, Vec<Task>> = HashMap::new();
        for (of, row) in rows {
            let parent = row.told(Trait::Parent).and_then(|parent| parent.parse().ok());
            match of {
                Entity::Process(pid) => processes.push(Task { pid, tid: None, parent, row }),
                Entity::Thread { pid, tid } => {
                    threads.entry(pid).or_default().push(Task { pid, tid: Some(tid), parent: None, row });
                }
                _ => {}
            }
        }
        processes.sort_by_key(|task| task.pid);
        threads.values_mut().for_each(|tasks| tasks.sort_by_key(|task| task.tid));
        let cost = used.get().zip(over.get()).map(|(used, over)| used as f64 / over.max(1) as f64);
        Look {
            at,
            over,
            resources: walk.resources,
            takers: walk.processes,
            busy,
            load: walk.load,
            processes,
            threads,
            gaps,
            cost,
        }
    }

    /// Who takes most of a resource, in words, and who suffers where it is full: `dd (42) moves 33.7 MB/s; redis (9) waits
    /// for it`. `None` where nobody takes much, and where nothing tells by process (the network), or the reason names it
    /// (limits).
    pub(crate) fn who(&self, resource: &HostResource) -> Option<String> {
        let what = Kind::of(resource)?;
        let first = |least: f64| {
            let known = self.processes.iter().filter_map(|task| Some((task, what.measure()?(task)?)));
            known.filter(|(_, value)| *value >= least).max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let name = |task: &Task| format!("{} ({})", task.name(), task.pid);
        let disks = self.resources.iter().filter(|other| Kind::of(other) == Some(Kind::Disk)).count();
        let taker = match what {
            Kind::Cpu => first(LEAST_CPU)
                .map(|(task, cpu)| format!("{} uses {} of one CPU", name(task), figures::percent(cpu))),
            Kind::Memory => {
                first(1.0).map(|(task, rss)| format!("{} has {}", name(task), figures::bytes(rss as u64)))
            }
            // What a process moves is not told by disk.
            Kind::Disk if self.is_idle(resource) => None,
            Kind::Disk => first(LEAST_TRAFFIC).map(|(task, traffic)| {
                let all = if disks > 1 { " (all disks)" } else { "" };
                format!("{} moves {}/s{all}", name(task), figures::bytes(traffic as u64))
            }),
            Kind::Network | Kind::Limits => None,
        };
        let victim = self
            .takers
            .iter()
            .find(|taker| taker.victim_of.as_deref() == Some(resource.name.as_str()))
            .zip(Some(resource.state == State::Saturated).filter(|full| *full))
            .map(|(taker, _)| {
                format!("{} ({}) waits", taker.comm.as_deref().unwrap_or("?"), taker.pid.unwrap_or(0))
            });
        let told: Vec<String> = taker.into_iter().chain(victim).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// True for a disk that did next to nothing.
    fn is_idle(&self, resource: &HostResource) -> bool {
        let device = resource.name.split(' ').nth(1).unwrap_or_default();
        self.busy.get(device).is_some_and(|busy| *busy < LEAST_BUSY)
    }

    /// The threads of a process, where they were listed.
    pub(crate) fn threads_of(&self, pid: Tid) -> &[Task] {
        self.threads.get(&pid).map_or(&[], Vec::as_slice)
    }
}

/// CPUs that are worth naming somebody for.
const LEAST_CPU: f64 = 0.01;
/// Bytes a second that are.
const LEAST_TRAFFIC: f64 = 100_000.0;
/// A disk that is busy for less of the time is nobody's.
const LEAST_BUSY: f64 = 0.005;

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The CPUs.
    Cpu,
    /// Memory.
    Memory,
    /// A disk.
    Disk,
    /// The network.
    Network,
    /// Limits that somebody set.
    Limits,
}

impl Kind {
    /// By the walk's name of the resource.
    pub(crate) fn of(resource: &HostResource) -> Option<Kind> {
        Kind::named(&resource.name)
    }

    /// As [`Kind::of`].
    pub(crate) fn named(name: &str) -> Option<Kind> {
        Some(match name.split(' ').next()? {
            "CPU" => Kind::Cpu,
            "memory" => Kind::Memory,
            "disk" => Kind::Disk,
            "network" => Kind::Network,
            "limits" => Kind::Limits,
            _ => return None,
        })
    }

    /// How much of it a task takes; `None` where no source tells that by task.
    pub(crate) fn measure(self) -> Option<fn(&Task) -> Option<f64>> {
        match self {
            Kind::Cpu => Some(Task::cpu),
            Kind::Memory => Some(|task| task.row.get(Metric::Rss)),
            Kind::Disk => Some(Task::traffic),
            Kind::Network => None,
            Kind::Limits => Some(Task::descriptors),
        }
    }

    /// How a list of who takes it is ordered.
    pub(crate) fn order(self) -> &'static str {
        match self {
            Kind::Cpu => "those that take most CPU time first",
            Kind::Memory => "those that have most memory first",
            Kind::Disk => "those that read and write most first, on all disks",
            Kind::Network => "nothing counts traffic by process: n on one records whom it talks to",
            Kind::Limits => "those nearest to their limit of open descriptors first",
        }
    }
}

fn is_task(of: &Entity) -> bool {
    matches!(of, Entity::Process(_) | Entity::Thread { .. })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A process with these figures.
    pub(crate) fn task(pid: Tid, parent: Tid, name: &str, figures: &[(Metric, f64)]) -> Task {
        let mut row = FigureRow::new(Entity::Process(pid));
        row.say(Trait::Name, name);
        row.say(Trait::State, "S");
        figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
        Task { pid, tid: None, parent: Some(parent), row }
    }

    /// A look at these.
    pub(crate) fn look(resources: Vec<HostResource>, processes: Vec<Task>) -> Look {
        Look {
            at: Timestamp::UNKNOWN,
            over: Nanos::UNKNOWN,
            resources,
            takers: Vec::new(),
            busy: HashMap::new(),
            load: None,
            processes,
            threads: HashMap::new(),
            gaps: Vec::new(),
            cost: None,
        }
    }

    /// A verdict.
    pub(crate) fn resource(name: &str, state: State, reason: &str) -> HostResource {
        HostResource {
            name: name.to_string(),
            state,
            reason: reason.to_string(),
            evidence: Vec::new(),
            supply: String::new(),
        }
    }

    #[test]
    fn a_verdict_names_who_takes_most_and_who_waits() {
        let (full, room) = (State::Saturated, State::Not);
        let resources = vec![
            resource("disk sda (on /)", full, "x"),
            resource("CPU", room, "x"),
            resource("network", room, "x"),
        ];
        let writer = task(42, 1, "dd", &[(Metric::WriteBytes, 5e6), (Metric::TaskUser, 0.001)]);
        let mut look = look(resources, vec![task(9, 1, "redis", &[(Metric::ReadBytes, 2e6)]), writer]);
        look.takers.push(Taker {
            pid: Some(9),
            tid: None,
            comm: Some("redis".into()),
            takes: Vec::new(),
            waits: Vec::new(),
            victim_of: Some("disk sda (on /)".into()),
            evidence: Vec::new(),
        });
        let who = |look: &Look, at: usize| look.who(&look.resources[at]);
        assert_eq!(who(&look, 0).as_deref(), Some("dd (42) moves 5.0 MB/s; redis (9) waits"));
        // A thousandth of a CPU is nobody's; of the network nothing is told by process.
        assert_eq!((who(&look, 1), who(&look, 2)), (None, None));
        // A disk that does nothing has no taker, whatever is written to another.
        look.busy.insert("sda".into(), 0.0);
        look.takers.clear();
        assert_eq!(who(&look, 0), None);
    }

    #[test]
    fn the_longest_wait_is_told() {
        let task = task(1, 0, "db", &[(Metric::RunDelay, 0.1), (Metric::BlockDelay, 0.4)]);
        assert_eq!(task.wait(), Some(Wait { what: "disk", share: 0.4 }));
        assert_eq!(task.waits().map(|waits| (waits * 10.0).round()), Some(5.0));
    }

    #[test]
    fn what_is_not_known_is_not_nothing() {
        let task = task(1, 0, "db", &[]);
        assert_eq!((task.wait(), task.waits(), task.cpu()), (None, None, None));
    }
}
