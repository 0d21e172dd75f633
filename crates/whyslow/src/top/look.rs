//! One look at the host as the screen shows it: a verdict for each resource, and tasks with what they take and wait for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;
use whyslow_facts::Facts;
use whyslow_host::{Gap, Sample};
use whyslow_hostcheck as hostcheck;
use whyslow_model::walk::{HostResource, Taker};
use whyslow_model::{Entity, Event, FigureRow, FigureTable, Metric, Nanos, ProgramName, Sink};
use whyslow_model::{Tid, Timestamp, Trait};

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
    /// What is told of it besides figures.
    pub(crate) about: About,
    /// What it sleeps in at the moment of the look, where that was looked at.
    pub(crate) asleep: Option<&'static str>,
}

/// What is told of a task besides figures.
#[derive(Clone, Default, Debug)]
pub(crate) struct About {
    /// The script, jar or class that it runs; `None` where its own name says as much.
    pub(crate) program: Option<Box<str>>,
    /// Who holds the lock on a file that it waits for.
    pub(crate) holder: Option<Tid>,
    /// Connections that wait until it accepts them.
    pub(crate) to_accept: u64,
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
/// Seconds a second from which on a task stands among those that wait: below, noise would turn the order.
pub(crate) const WAITER: f64 = 0.05;
/// Bytes of a command line in which a script's name is looked for: class paths are long.
const COMMAND: usize = 16 * 1024;

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

    /// How much it waits, for the order of a list: what is next to nothing counts as nothing. One that sleeps while
    /// connections wait until it accepts them stands among those that wait; who waits for another's lock stands first.
    pub(crate) fn rank(&self) -> Option<f64> {
        if self.about.holder.is_some() {
            return Some(f64::MAX);
        }
        let waits = self.waits().map(|waits| if waits < WAITER { 0.0 } else { waits });
        if self.leaves_waiting() { Some(waits.unwrap_or(0.0).max(WAITER)) } else { waits }
    }

    /// True where it sleeps while connections wait until it accepts them.
    pub(crate) fn leaves_waiting(&self) -> bool {
        self.about.to_accept > 0 && self.state() == "S"
    }

    /// What people call it: the script, jar or class that it runs, else the kernel's name of it.
    pub(crate) fn name(&self) -> &str {
        self.about.program.as_deref().unwrap_or_else(|| self.comm())
    }

    /// The kernel's name of it.
    pub(crate) fn comm(&self) -> &str {
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
            None => format!("[{}]", self.comm()).into(),
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
    pub(crate) busy: HashMap<Box<str>, f64>,
    /// How full the host is.
    pub(crate) levels: Levels,
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
    /// How much later than planned it was taken.
    pub(crate) late: Duration,
    /// It is the first: over a shorter time than the others.
    pub(crate) is_first: bool,
}

/// How full the host is, from 0 to 1; of the network bytes a second.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Levels {
    cpu: Option<f64>,
    memory: Option<f64>,
    network: Option<f64>,
}

impl Levels {
    fn take(&mut self, table: &FigureTable) {
        for row in &table.rows {
            let both = |a: Metric, b: Metric| row.get(a).zip(row.get(b));
            match &row.of {
                Entity::Host => {
                    let idle = row.get(Metric::CpuIdle);
                    let idle = idle.map(|idle| idle + row.get(Metric::CpuIowait).unwrap_or(0.0));
                    self.cpu = idle.map(|idle| (1.0 - idle).clamp(0.0, 1.0)).or(self.cpu);
                    let memory = both(Metric::MemAvailable, Metric::MemTotal);
                    let memory = memory.filter(|(_, total)| *total > 0.0);
                    self.memory = memory.map(|(left, total)| 1.0 - left / total).or(self.memory);
                }
                Entity::Interface(_) => {
                    let ways = [Metric::RxBytes, Metric::TxBytes].into_iter().filter_map(|way| row.get(way));
                    self.network = ways.chain(self.network).reduce(f64::max);
                }
                _ => {}
            }
        }
    }
}

impl Look {
    /// What a sample says; `used` is CPU time that this process took meanwhile.
    pub(crate) fn of(sample: Sample, used: Nanos) -> Look {
        let Sample { at, over, tables, gaps, .. } = sample;
        let mut facts = Facts::default();
        let mut rows: HashMap<Entity, FigureRow> = HashMap::new();
        let mut busy = HashMap::new();
        let mut levels = Levels::default();
        let mut to_accept: HashMap<Tid, u64> = HashMap::new();
        for table in tables {
            levels.take(&table);
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
                if let (Entity::Listener(_), Some(backlog)) = (&row.of, row.get(Metric::Backlog))
                    && let Some(owner) = row.told(Trait::Owner).and_then(|owner| owner.parse().ok())
                {
                    *to_accept.entry(owner).or_default() += backlog as u64;
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
                Entity::Process(pid) => {
                    let about = About {
                        program: program_of(&row),
                        holder: row.told(Trait::LockHolder).and_then(|holder| holder.parse().ok()),
                        to_accept: to_accept.get(&pid).copied().unwrap_or(0),
                    };
                    processes.push(Task { pid, tid: None, parent, row, about, asleep: None });
                }
                Entity::Thread { pid, tid } => {
                    let about = About::default();
                    let thread = Task { pid, tid: Some(tid), parent: None, row, about, asleep: None };
                    threads.entry(pid).or_default().push(thread);
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
            levels,
            late: Duration::ZERO,
            is_first: false,
        }
    }

    /// True for a disk that did next to nothing.
    pub(crate) fn is_idle(&self, resource: &HostResource) -> bool {
        let device = resource.name.split(' ').nth(1).unwrap_or_default();
        self.busy.get(device).is_some_and(|busy| *busy < LEAST_BUSY)
    }

    /// How full a resource was, from 0 to 1 (of the network bytes a second); `None` where that is not known.
    pub(crate) fn level(&self, resource: &str) -> Option<f64> {
        match Kind::named(resource)? {
            Kind::Cpu => self.levels.cpu,
            Kind::Memory => self.levels.memory,
            Kind::Disk => self.busy.get(resource.split(' ').nth(1)?).copied(),
            Kind::Network => self.levels.network,
            Kind::Limits => None,
        }
    }

    /// A process of that number.
    pub(crate) fn process(&self, pid: Tid) -> Option<&Task> {
        let at = self.processes.binary_search_by_key(&pid, |task| task.pid).ok()?;
        self.processes.get(at)
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let row = |row: &FigureRow| {
            let texts: usize =
                row.traits.iter().map(|(_, text)| size_of::<(Trait, Box<str>)>() + text.len()).sum();
            texts + row.raw.len() + row.figures.capacity() * size_of::<(Metric, f64)>()
        };
        let tasks = self.processes.iter().chain(self.threads.values().flatten());
        let tasks: usize = tasks.map(|task| size_of::<Task>() + row(&task.row)).sum();
        let told: usize =
            self.resources.iter().flat_map(|one| &one.evidence).map(|line| line.text.len() + 64).sum();
        // Takers and gaps are few.
        size_of::<Look>() + tasks + told + self.takers.len() * 1024
    }

    /// The threads of a process, where they were listed.
    pub(crate) fn threads_of(&self, pid: Tid) -> &[Task] {
        self.threads.get(&pid).map_or(&[], Vec::as_slice)
    }
}

/// What a process runs, where its own name does not say so.
fn program_of(row: &FigureRow) -> Option<Box<str>> {
    let command = row.told(Trait::Command)?;
    let mut end = command.len().min(COMMAND);
    while !command.is_char_boundary(end) {
        end -= 1;
    }
    let comm = row.told(Trait::Name);
    let names = ProgramName::of_cmdline(&command[..end], comm);
    names.names().next().filter(|name| Some(*name) != comm).map(Box::from)
}

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
    use whyslow_model::walk::State;

    /// A process with these figures.
    pub(crate) fn task(pid: Tid, parent: Tid, name: &str, figures: &[(Metric, f64)]) -> Task {
        let mut row = FigureRow::new(Entity::Process(pid));
        row.say(Trait::Name, name);
        row.say(Trait::State, "S");
        figures.iter().for_each(|(metric, value)| row.set(*metric, *value));
        Task { pid, tid: None, parent: Some(parent), row, about: About::default(), asleep: None }
    }

    /// A look at these.
    pub(crate) fn look(resources: Vec<HostResource>, processes: Vec<Task>) -> Look {
        Look {
            at: Timestamp::UNKNOWN,
            over: Nanos::UNKNOWN,
            resources,
            takers: Vec::new(),
            busy: HashMap::new(),
            levels: Levels::default(),
            late: Duration::ZERO,
            is_first: false,
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
    fn the_longest_wait_is_told() {
        let task = task(1, 0, "db", &[(Metric::RunDelay, 0.1), (Metric::BlockDelay, 0.4)]);
        assert_eq!(task.wait(), Some(Wait { what: "disk", share: 0.4 }));
        assert_eq!(task.waits().map(|waits| (waits * 10.0).round()), Some(5.0));
    }

    #[test]
    fn what_is_not_known_is_not_nothing() {
        let task = task(1, 0, "db", &[]);
        assert_eq!((task.wait(), task.waits(), task.cpu(), task.rank()), (None, None, None, None));
    }

    #[test]
    fn who_waits_for_a_lock_or_lets_others_wait_ranks_first() {
        let mut one = task(1, 0, "db", &[(Metric::RunDelay, 0.01)]);
        assert_eq!(one.rank(), Some(0.0));
        one.about.to_accept = 3;
        assert_eq!(one.rank(), Some(WAITER));
        one.about.holder = Some(9);
        assert_eq!(one.rank(), Some(f64::MAX));
    }

    #[test]
    fn a_program_is_called_as_people_call_it() {
        let name = |comm: &str, command: &str| {
            let mut row = FigureRow::new(Entity::Process(1));
            row.say(Trait::Name, comm);
            row.say(Trait::Command, command);
            program_of(&row).map(String::from)
        };
        assert_eq!(name("python3", "python3 /srv/app.py 80").as_deref(), Some("app.py"));
        assert_eq!(name("java", "java -cp /a:/b com.acme.Catalog").as_deref(), Some("Catalog"));
        assert_eq!(name("node", "node server.js").as_deref(), Some("server.js"));
        assert_eq!((name("redis-server", "redis-server *:1"), name("dd", "dd if=x")), (None, None));
        // Cut within a letter.
        assert_eq!(
            name("python3", &format!("python3 {}", "日".repeat(COMMAND))).map(|name| name.len()),
            Some(120)
        );
    }
}
