//! CPU quotas: when the kernel stopped a control group because its quota was used up, and which part of its threads'
//! waits for a CPU that was.
//!
//! What is known is how long a group was stopped in each interval, summed over the CPUs on which it was. All of its
//! threads wait meanwhile. So of the time that a thread was able to run in an interval as much was for the quota as the
//! group was stopped on one CPU, at most all; how it lies within the interval nobody tells.

use crate::folds::graph::{Graph, Stall};
use crate::world::ids::{ProcessId, ThreadId};
use crate::world::threads::{ThreadFacts, Threads};
use hashbrown::HashMap;
use whyslow_model::{Entity, FigureTable, Metric, Over, SaturatingSum, Trait};

/// A time in which a part of what a thread waited for a CPU was for its quota.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Throttled {
    /// From here, ns on the capture's clock,
    pub from: u64,
    /// to here
    pub to: u64,
    /// this part of it, above 0 and at most 1.
    pub part: f64,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    from: u64,
    to: u64,
    /// Of all CPUs together.
    stopped_ns: f64,
}

#[derive(Debug, Default)]
struct Group {
    /// Those in which it was stopped, in order of time, without overlaps.
    intervals: Vec<Interval>,
}

/// What is known of quotas. Bounded: further groups and processes are not kept, of a long recording longer intervals.
#[derive(Debug, Default)]
pub struct Quotas {
    /// By who tells, and path: hierarchies of several tools need not be one.
    groups: HashMap<(&'static str, Box<str>), Group>,
    of_process: HashMap<(&'static str, ProcessId), Box<str>>,
    threads: HashMap<ThreadId, Vec<Throttled>>,
}

impl Quotas {
    const MAX_GROUPS: usize = 1_024;
    const MAX_PROCESSES: usize = 32_768;
    /// Intervals of one group; then each two become one.
    const MAX_INTERVALS: usize = 16_384;
    /// Parts of waits, over all threads.
    const MAX_PARTS: usize = 262_144;
    /// Processes between a process and an ancestor whose group is known.
    const MAX_PARENTS: usize = 16;

    pub(crate) fn see(&mut self, table: &FigureTable, threads: &Threads) {
        for row in &table.rows {
            match (&row.of, table.over) {
                (Entity::Process(pid), _) => {
                    let process =
                        threads.find_process(*pid).filter(|_| self.of_process.len() < Self::MAX_PROCESSES);
                    if let (Some(process), Some(path)) = (process, row.told(Trait::Cgroup)) {
                        self.of_process.insert((table.tool, process), path.into());
                    }
                }
                (Entity::Cgroup(path), Over::Interval(length)) => {
                    let (Some(to), Some(length)) = (table.at.get(), length.get()) else { continue };
                    let stopped = row.get(Metric::ThrottledTime).unwrap_or(0.0) * length as f64;
                    let key = (table.tool, path.clone());
                    let room = self.groups.len() < Self::MAX_GROUPS || self.groups.contains_key(&key);
                    if stopped > 0.0 && room {
                        let interval = Interval { from: to.saturating_sub(length), to, stopped_ns: stopped };
                        self.groups.entry(key).or_default().add(interval, Self::MAX_INTERVALS);
                    }
                }
                _ => {}
            }
        }
    }

    /// Where a thread's waits for a CPU were for its quota, in order of time.
    pub fn of_thread(&self, thread: ThreadId) -> &[Throttled] {
        self.threads.get(&thread).map_or(&[], |parts| parts)
    }

    /// The capture ended: tells the threads' waits apart. `cpus` is how many CPUs threads were seen on.
    pub(crate) fn finish(&mut self, threads: &mut Threads, graph: &Graph, cpus: usize) {
        if self.groups.is_empty() {
            return;
        }
        let mut members: HashMap<_, Vec<(ThreadId, Vec<Stall>)>> = HashMap::new();
        for (id, thread) in threads.iter() {
            let Some(group) = self.group_of(thread.process, threads) else { continue };
            members.entry(group).or_default().push((id, waits_for_a_cpu(thread, graph)));
        }
        let mut told: HashMap<ThreadId, Vec<Throttled>> = HashMap::new();
        let mut room = Self::MAX_PARTS;
        for (group, members) in &members {
            let Some(group) = self.groups.get(*group) else { continue };
            for interval in &group.intervals {
                let waited = members.iter().map(|(id, stalls)| (*id, interval.queued(stalls)));
                let waited: Vec<(ThreadId, u64)> = waited.filter(|(_, ns)| *ns > 0).collect();
                // It is stopped on each CPU on which one of its threads wants to run.
                let stopped_on = waited.len().min(cpus).max(1);
                let stopped = interval.stopped_ns / stopped_on as f64;
                for (id, ns) in waited.into_iter().take(room) {
                    let part = (stopped / ns as f64).min(1.0);
                    told.entry(id).or_default().push(Throttled {
                        from: interval.from,
                        to: interval.to,
                        part,
                    });
                    room -= 1;
                }
            }
        }
        for (id, stalls) in members.into_values().flatten() {
            let (Some(parts), Some(time)) = (told.get(&id), threads.thread_mut(id).sched.as_deref_mut())
            else {
                continue;
            };
            let waits =
                stalls.iter().map(|stall| throttled(parts, stall.woken.or_zero(), stall.to.or_zero()));
            time.throttled_ns = waits.saturating_sum().min(time.runnable_ns);
        }
        self.threads = told;
    }

    /// The group that stops a process: its own or one around it, that which was seen stopped most often.
    fn group_of(&self, process: ProcessId, threads: &Threads) -> Option<&(&'static str, Box<str>)> {
        let own = |tool: &'static str| {
            let parents = std::iter::successors(Some(process), |of| threads.known_process(*of)?.parent);
            parents.take(Self::MAX_PARENTS).find_map(|process| self.of_process.get(&(tool, process)))
        };
        let around =
            self.groups.iter().filter(|((tool, path), _)| own(tool).is_some_and(|own| is_below(own, path)));
        around.max_by_key(|(key, group)| (group.intervals.len(), std::cmp::Reverse(*key))).map(|(key, _)| key)
    }
}

impl Group {
    /// Takes one more. What is known of a time already stays.
    fn add(&mut self, interval: Interval, most: usize) {
        if self.intervals.last().is_some_and(|last| interval.from < last.to) || interval.from >= interval.to {
            return;
        }
        if self.intervals.len() >= most {
            let both = |pair: &[Interval]| Interval {
                from: pair[0].from,
                to: pair[pair.len() - 1].to,
                stopped_ns: pair.iter().map(|interval| interval.stopped_ns).sum(),
            };
            self.intervals = self.intervals.chunks(2).map(both).collect();
        }
        self.intervals.push(interval);
    }
}

impl Interval {
    /// How long a thread was able to run in it without a CPU.
    fn queued(&self, stalls: &[Stall]) -> u64 {
        let first = stalls.partition_point(|stall| stall.to.or_zero() <= self.from);
        let within = stalls[first..].iter().take_while(|stall| stall.from.or_zero() < self.to);
        within
            .map(|stall| stall.to.or_zero().min(self.to).saturating_sub(stall.woken.or_zero().max(self.from)))
            .saturating_sum()
    }
}

/// The waits of a thread's life in which it was able to run: a millisecond and longer ones, as the graph keeps them.
fn waits_for_a_cpu(thread: &ThreadFacts, graph: &Graph) -> Vec<Stall> {
    let stalls = graph.timeline(thread.tid).map_or(&[][..], |timeline| &timeline.stalls);
    let own = |stall: &&Stall| thread.merged == 1 && thread.first <= stall.from && stall.to <= thread.last;
    stalls.iter().filter(own).filter(|stall| stall.woken < stall.to).copied().collect()
}

/// True where the group `path` is `around` or lies in it.
fn is_below(path: &str, around: &str) -> bool {
    let around = around.trim_end_matches('/');
    path.strip_prefix(around).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Of the time from `from` to `to` in which a thread waits for a CPU, what is for its quota, ns.
pub fn throttled(parts: &[Throttled], from: u64, to: u64) -> u64 {
    let first = parts.partition_point(|part| part.to <= from);
    let within = parts[first..].iter().take_while(|part| part.from < to);
    let ns = within
        .map(|part| part.to.min(to).saturating_sub(part.from.max(from)) as f64 * part.part)
        .sum::<f64>();
    (ns as u64).min(to.saturating_sub(from))
}
