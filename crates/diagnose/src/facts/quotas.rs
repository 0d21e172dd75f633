//! CPU quotas: when the kernel stopped a control group because its quota was used up, and which part of its threads'
//! waits for a CPU that was.
//!
//! What is known is how long a group was stopped in each interval, summed over the CPUs on which it was. All of its
//! threads wait meanwhile. So of the time that a thread was able to run in an interval as much was for the quota as the
//! group was stopped on one CPU, at most all; how it lies within the interval nobody tells.

use super::graph::{Graph, Stall};
use super::threads::{ProcessId, ThreadFacts, ThreadId, Threads};
use hashbrown::HashMap;
use whyslow_model::{Entity, FigureTable, Metric, Over, Trait};

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
            time.throttled_ns = waits.sum::<u64>().min(time.runnable_ns);
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
            .sum()
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
pub(crate) fn throttled(parts: &[Throttled], from: u64, to: u64) -> u64 {
    let first = parts.partition_point(|part| part.to <= from);
    let within = parts[first..].iter().take_while(|part| part.from < to);
    let ns = within
        .map(|part| part.to.min(to).saturating_sub(part.from.max(from)) as f64 * part.part)
        .sum::<f64>();
    (ns as u64).min(to.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use crate::chain::{Explainer, Kind};
    use crate::facts::Facts;
    use proptest::prelude::*;
    use whyslow_model::{
        Call, Entity, Event, FigureRow, FigureTable, LeftAs, Metric, Nanos, Over, Ret, Sink, SourceId,
        Stretch, Timestamp, Trait,
    };

    const MS: u64 = 1_000_000;

    fn stretch(tid: u32, pid: u32, cpu: u16, ran_ms: u64, waited_ms: u64, on_ms: u64) -> Event<'static> {
        Event::Stretch(Stretch {
            ts: Timestamp::new(ran_ms * MS),
            cpu,
            pid,
            tid,
            left_as: LeftAs::Runnable,
            on_cpu: Nanos::new(on_ms * MS),
            runnable: Nanos::new(waited_ms * MS),
            blocked: Nanos::ZERO,
        })
    }

    /// The process is in that group, which was stopped so long in the interval before `at_ms`.
    fn stopped(pid: u32, path: &str, at_ms: u64, length_ms: u64, stopped_ms: u64) -> Event<'static> {
        let mut table = FigureTable::new(SourceId(0), "cpu.stat");
        table.at = Timestamp::new(at_ms * MS);
        table.over = Over::Interval(Nanos::new(length_ms * MS));
        let mut own = FigureRow::new(Entity::Process(pid));
        own.say(Trait::Cgroup, path);
        let mut group = FigureRow::new(Entity::Cgroup(path.into()));
        group.set(Metric::ThrottledTime, stopped_ms as f64 / length_ms as f64);
        table.rows = vec![own, group];
        Event::Figures(Box::new(table))
    }

    fn kinds(facts: &Facts, tid: u32) -> Vec<(Kind, u64)> {
        let explainer = Explainer::new(facts);
        let (from, to) = explainer.span(tid).unwrap();
        let path = explainer.path(tid, from, to);
        let of = |kind| (path.of(kind) + MS / 2) / MS;
        Kind::ALL.into_iter().map(|kind| (kind, of(kind))).filter(|(_, ms)| *ms > 0).collect()
    }

    fn call(tid: u32, pid: u32, at_ms: u64) -> Call<'static> {
        let ts = Timestamp::new(at_ms * MS);
        Call { tid, pid: Some(pid), ts, dur: Nanos::ZERO, ret: Ret::Value(1), ..Call::new("getpid", "") }
    }

    #[test]
    fn one_thread_waits_as_long_as_its_group_is_stopped() {
        let mut facts = Facts::default();
        facts.push(Event::Call(&call(5, 5, 1_000)));
        facts.push(stretch(5, 5, 0, 1_000, 0, 20));
        facts.push(stopped(5, "/app", 1_100, 100, 80));
        facts.push(stretch(5, 5, 0, 1_100, 80, 10));
        // The group was not stopped here: somebody else had the CPU.
        facts.push(stretch(5, 5, 0, 1_150, 40, 50));
        facts.finish();
        assert_eq!(kinds(&facts, 5), [(Kind::User, 80), (Kind::RunQueue, 40), (Kind::Throttled, 80)]);
        let (_, thread) = facts.world.threads.iter().next().unwrap();
        assert!(thread.sched.as_deref().unwrap().throttled_ns.abs_diff(80 * MS) < 1_000);
    }

    #[test]
    fn a_stop_on_two_cpus_counts_once_for_each_thread() {
        let mut facts = Facts::default();
        for tid in [5, 6] {
            facts.push(Event::Call(&call(tid, 5, 1_000)));
            facts.push(stretch(tid, 5, tid as u16, 1_000, 0, 20));
            facts.push(stretch(tid, 5, tid as u16, 1_100, 80, 10));
        }
        facts.push(stopped(5, "/app", 1_100, 100, 120));
        facts.finish();
        for tid in [5, 6] {
            assert_eq!(kinds(&facts, tid), [(Kind::User, 30), (Kind::RunQueue, 20), (Kind::Throttled, 60)]);
        }
    }

    #[test]
    fn another_groups_quota_is_nobody_elses() {
        let mut facts = Facts::default();
        for tid in [5, 7] {
            facts.push(Event::Call(&call(tid, tid, 1_000)));
            facts.push(stretch(tid, tid, 0, 1_000, 0, 20));
            facts.push(stretch(tid, tid, 0, 1_100, 80, 10));
        }
        facts.push(stopped(7, "/apple", 1_100, 100, 80));
        facts.push(stopped(5, "/app", 1_100, 100, 0));
        facts.finish();
        assert_eq!(kinds(&facts, 5), [(Kind::User, 30), (Kind::RunQueue, 80)]);
        assert_eq!(kinds(&facts, 7), [(Kind::User, 30), (Kind::Throttled, 80)]);
    }

    #[test]
    fn the_finer_of_two_tellers_is_heard() {
        let mut facts = Facts::default();
        facts.push(Event::Call(&call(5, 5, 1_000)));
        facts.push(stretch(5, 5, 0, 1_000, 0, 10));
        facts.push(stretch(5, 5, 0, 1_090, 80, 30));
        let tell = |facts: &mut Facts, tool, event| {
            let Event::Figures(mut table) = event else { unreachable!() };
            table.tool = tool;
            facts.push(Event::Figures(table));
        };
        // One look over all of it would spread the stops.
        tell(&mut facts, "/proc", stopped(5, "/app", 2_000, 1_000, 160));
        tell(&mut facts, "cpu.stat", stopped(5, "/app", 1_100, 100, 80));
        tell(&mut facts, "cpu.stat", stopped(5, "/app", 1_900, 100, 80));
        facts.finish();
        assert_eq!(kinds(&facts, 5), [(Kind::User, 40), (Kind::Throttled, 80)]);
    }

    proptest! {
        #[test]
        fn what_is_throttled_is_a_part_of_the_waits_and_of_the_stops(
            waits in prop::collection::vec((0u64..150, 1u64..90), 1..20),
            stops in prop::collection::vec((1u64..120, 0u64..300), 1..20),
        ) {
            let mut facts = Facts::default();
            facts.push(Event::Call(&call(5, 5, 1_000)));
            let mut at = 1_000;
            let mut queued = 0;
            for (waited, on) in waits {
                facts.push(stretch(5, 5, 0, at + waited, waited, on));
                at += waited + on;
                queued += waited;
            }
            let (mut told, mut stopped_ms) = (1_000, 0);
            for (length, stop) in stops {
                told += length;
                stopped_ms += stop;
                facts.push(stopped(5, "/a", told, length, stop));
            }
            facts.finish();
            let explainer = Explainer::new(&facts);
            let (from, to) = explainer.span(5).unwrap();
            let path = explainer.path(5, from, to);
            prop_assert_eq!(path.by_kind().iter().map(|(_, ns)| ns).sum::<u64>(), path.total());
            let throttled = path.of(Kind::Throttled);
            prop_assert!(throttled <= queued.min(stopped_ms) * MS);
            let (_, thread) = facts.world.threads.iter().next().unwrap();
            let time = thread.sched.as_deref().unwrap();
            prop_assert!(time.throttled_ns <= time.runnable_ns);
            prop_assert!(time.throttled_ns.abs_diff(throttled) < 1_000);
        }
    }
}
