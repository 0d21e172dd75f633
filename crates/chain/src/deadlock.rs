//! Deadlocks: threads that wait to the end of the capture, each for something that only others of them could do.
//!
//! Whoever could end a wait is known for some kinds: a thread of the same process for a mutex, the holders of the other end
//! for a pipe, the other processes that have it open for a file's lock, the child or the thread itself for its end. From all threads that wait to the end, those are taken out for
//! which somebody else may act, until nothing changes. Who is left cannot go on without help from outside. What is not known
//! for certain (a condition, a poll, a signal, a peer) may always be ended by somebody else.

use super::Explainer;
use hashbrown::{HashMap, HashSet};
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_facts::{LifeId, ProcessId, ThreadId};
use whyslow_model::event::Tid;
use whyslow_model::{FdKind, Nanos};

/// A shorter wait to the end of the capture may be one that the end cut off: a thread that was woken is shown as
/// waiting until its tracer tells of its return.
const SHORTEST: Nanos = Nanos::from_secs(1);
/// Waiting threads that are looked at.
const MAX_STUCK: usize = 4_096;

/// Who could end a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Any other living thread of these processes.
    Processes(Vec<ProcessId>),
    /// That thread.
    Thread(Tid),
}

/// A thread that waits for ever.
#[derive(Clone, Debug)]
pub struct Stuck<'a> {
    /// Its wait.
    pub call: &'a LongCall,
    /// Who could end it.
    pub whom: Whom,
}

/// Threads that wait to the end.
#[derive(Clone, Debug)]
pub struct Deadlock<'a> {
    /// The waits, the first to begin first.
    pub stuck: Vec<Stuck<'a>>,
    /// True where nobody who could end one of them is free, for a second and more.
    pub certain: bool,
    /// False where two and more locks of one process are waited for to the end, and another thread may have them.
    pub closed: bool,
}

impl<'a> Explainer<'a> {
    /// The threads that cannot go on, if there are any.
    pub fn deadlock(&self) -> Option<Deadlock<'a>> {
        let waiting = self.waiting();
        let mut stuck = self.stuck(&waiting);
        if stuck.is_empty() {
            return None;
        }
        // A lock that is given back wakes somebody: who waits for one to the end waits for one that is kept.
        let mut locks: Vec<Stuck<'a>> = stuck.iter().filter(|stuck| stuck.call.held).cloned().collect();
        self.take_out_who_may_go_on(&mut stuck);
        if !stuck.is_empty() {
            // A trace of a program that hangs ends with it: then there is no time behind the last line.
            let lasted = stuck.iter().all(|stuck| stuck.call.dur() >= SHORTEST);
            let all = lasted
                || self.facts.world.threads.iter().filter(|(_, one)| !one.exited).count() == stuck.len();
            return all.then(|| sorted(stuck, lasted, true));
        }
        locks.retain(|stuck| stuck.call.dur() >= SHORTEST);
        let several = |one: &Stuck<'a>| {
            let other = |other: &Stuck<'a>| {
                other.call.process == one.call.process && other.call.what != one.call.what
            };
            locks.iter().any(other)
        };
        let crossed: HashSet<(ProcessId, Tid)> =
            locks.iter().filter(|one| several(one)).map(|one| (one.call.process, one.call.tid)).collect();
        locks.retain(|one| crossed.contains(&(one.call.process, one.call.tid)));
        (!locks.is_empty()).then(|| sorted(locks, false, false))
    }

    /// All waits without a limit that had not ended when the capture did.
    fn waiting(&self) -> Vec<&'a LongCall> {
        let last = self.facts.graph.timelines().filter_map(|(_, timeline)| timeline.calls.last());
        let mut waiting: Vec<&LongCall> =
            last.filter(|call| call.ended == Ended::NotYet && !call.limited).collect();
        waiting.sort_by_key(|call| (call.from, call.tid));
        waiting.truncate(MAX_STUCK);
        waiting
    }

    /// Of these the ones of which it is known who could end them.
    fn stuck(&self, waiting: &[&'a LongCall]) -> Vec<Stuck<'a>> {
        let facts = self.facts;
        // Who was made and never seen may do anything.
        if facts.hidden.children.iter().any(|child| facts.world.is_unborn(child.tid)) || waiting.is_empty() {
            return Vec::new();
        }
        let pipes = waiting.iter().any(|call| matches!(call.what, Resource::Pipe(_)));
        let holders = if pipes { self.holders() } else { HashMap::new() };
        let whom = |call: &LongCall| match call.what {
            Resource::Lock { .. } if call.held && self.shows_all_of(call.process) => {
                Some(Whom::Processes(vec![call.process]))
            }
            Resource::Thread { tid } => Some(Whom::Thread(tid)),
            Resource::Child { .. } => {
                let children = facts.world.threads.processes();
                let children =
                    children.filter(|(_, child)| child.parent == Some(call.process) && !child.exited);
                let children: Vec<ProcessId> = children.map(|(id, _)| id).collect();
                (!children.is_empty()).then_some(Whom::Processes(children))
            }
            Resource::Pipe(end) => {
                let life = facts.world.life_of(call.process, end.fd)?;
                let other = life.other_end.filter(|_| life.kind == FdKind::Pipe)?;
                Some(Whom::Processes(holders.get(&other)?.clone()))
            }
            Resource::FileLock(end) => {
                let users = self.users_of(facts.graph.name(end.name)?, call.process);
                (!users.is_empty()).then_some(Whom::Processes(users))
            }
            _ => None,
        };
        waiting.iter().filter_map(|call| Some(Stuck { call, whom: whom(call)? })).collect()
    }

    /// True where no thread of the process can be missing: its start is in the capture, or more than one thread is.
    fn shows_all_of(&self, process: ProcessId) -> bool {
        let process = self.facts.world.threads.process(process);
        let recorded = self.facts.capture.is_recording();
        process.pid.is_some() && (recorded || process.started || process.threads > 1)
    }

    /// Which other processes have a file open: one of them has its lock.
    fn users_of(&self, path: &str, but: ProcessId) -> Vec<ProcessId> {
        let world = &self.facts.world;
        let named = |life: LifeId| {
            let life = world.fds.get(life)?;
            let known = life.file.map(|file| &*world.files.get(file).path).or(life.name.as_deref());
            known.map(|known| known == path)
        };
        let others = world.threads.processes().filter(|(id, process)| *id != but && !process.exited);
        let having =
            others.filter(|(_, process)| process.slots.iter().any(|(_, life)| named(life) == Some(true)));
        having.map(|(id, _)| id).collect()
    }

    /// Which processes have a descriptor of a pipe's end.
    fn holders(&self) -> HashMap<LifeId, Vec<ProcessId>> {
        let mut holders: HashMap<LifeId, Vec<ProcessId>> = HashMap::new();
        for (id, process) in self.facts.world.threads.processes().filter(|(_, process)| !process.exited) {
            for (_, life) in process.slots.iter() {
                let held = holders.entry(life).or_default();
                if held.last() != Some(&id) {
                    held.push(id);
                }
            }
        }
        holders
    }

    fn take_out_who_may_go_on(&self, stuck: &mut Vec<Stuck<'a>>) {
        let mut by_tid: HashSet<Tid> = stuck.iter().map(|stuck| stuck.call.tid).collect();
        // Living threads by process that are not stuck.
        let mut free: HashMap<ProcessId, u64> = HashMap::new();
        let mut living: HashSet<Tid> = HashSet::new();
        let alive = |thread: &whyslow_facts::ThreadFacts| !thread.exited || thread.merged > 1;
        for (_, thread) in self.facts.world.threads.iter().filter(|(_, thread)| alive(thread)) {
            living.insert(thread.tid);
            if !by_tid.contains(&thread.tid) {
                *free.entry(thread.process).or_default() += 1;
            }
        }
        loop {
            let may_go_on = |stuck: &Stuck<'a>| match &stuck.whom {
                Whom::Processes(processes) => processes.iter().any(|id| free.contains_key(id)),
                Whom::Thread(tid) => !by_tid.contains(tid) || !living.contains(tid),
            };
            let gone: Vec<(Tid, ProcessId)> = stuck
                .iter()
                .filter(|stuck| may_go_on(stuck))
                .map(|stuck| (stuck.call.tid, stuck.call.process))
                .collect();
            if gone.is_empty() {
                return;
            }
            for (tid, process) in gone {
                by_tid.remove(&tid);
                *free.entry(process).or_default() += 1;
            }
            stuck.retain(|stuck| by_tid.contains(&stuck.call.tid));
        }
    }

    /// Whom a thread waits for, in words: `any other thread of its process`.
    pub fn whom(&self, stuck: &Stuck<'a>) -> String {
        match &stuck.whom {
            Whom::Thread(tid) => self.who(*tid),
            Whom::Processes(processes) if processes[..] == [stuck.call.process] => {
                match self.living(stuck.call.process).filter(|id| self.tid(*id) != stuck.call.tid).count() {
                    0 => "itself: its process has no other thread".to_string(),
                    1 => "the other thread of its process".to_string(),
                    _ => "one of the other threads of its process".to_string(),
                }
            }
            Whom::Processes(processes) => {
                let of = |id: &ProcessId| {
                    let process = self.facts.world.threads.process(*id);
                    let pid = process.pid.map_or("?".to_string(), |pid| pid.to_string());
                    process.name().map_or(format!("process {pid}"), |name| format!("process {pid} {name}"))
                };
                whyslow_model::figures::list(&processes.iter().map(of).collect::<Vec<_>>(), 3)
            }
        }
    }

    fn living(&self, process: ProcessId) -> impl Iterator<Item = ThreadId> {
        let threads = self.facts.world.threads.iter();
        threads.filter(move |(_, thread)| thread.process == process && !thread.exited).map(|(id, _)| id)
    }

    fn tid(&self, id: ThreadId) -> Tid {
        self.facts.world.threads.thread(id).tid
    }
}

fn sorted(mut stuck: Vec<Stuck<'_>>, certain: bool, closed: bool) -> Deadlock<'_> {
    stuck.sort_by_key(|stuck| (stuck.call.from, stuck.call.tid));
    Deadlock { stuck, certain, closed }
}
