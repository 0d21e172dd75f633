//! One look at the host as the screen shows it: a verdict for each resource, and tasks with what they take and wait for.

use std::collections::HashMap;
use whyslow_diagnose::Facts;
use whyslow_diagnose::walk;
use whyslow_host::{Gap, Sample};
use whyslow_model::walk::Resource;
use whyslow_model::{Entity, Event, FigureRow, Metric, Nanos, Sink, Tid, Timestamp, Trait};

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

    /// Its command line; its name where it has none (kernel threads).
    pub(crate) fn command(&self) -> &str {
        self.row.told(Trait::Command).unwrap_or(self.name())
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
    pub(crate) resources: Vec<Resource>,
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
            facts.push(Event::Figures(Box::new(table)));
        }
        facts.finish();
        let (resources, load) =
            walk::walk(&facts).map_or((Vec::new(), None), |walk| (walk.resources, walk.load));
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
        Look { at, over, resources, load, processes, threads, gaps, cost }
    }

    /// The threads of a process, where they were listed.
    pub(crate) fn threads_of(&self, pid: Tid) -> &[Task] {
        self.threads.get(&pid).map_or(&[], Vec::as_slice)
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
