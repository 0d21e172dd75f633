//! The account of each thread's time: parts that exclude each other and add up to it, with the call and the thing that
//! each was spent on.

mod objects;
mod split;

pub use objects::{Object, ObjectKind, Objects};
pub use split::Parts;

use crate::SLOW_CALL;
use crate::args::WaitKind;
use crate::exemplar::Exemplars;
use crate::folds::graph::{Ended, Graph, LongCall};
use crate::world::ids::{ObjectId, ProcessId, ThreadId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use split::{Run, Split, Tail};
use whyslow_model::event::Tid;
use whyslow_model::{CallFlags, CallStats, LeftAs, Stretch, Syscall, Timestamp};

/// A way to spend time in calls: a call, what it waits for where it waits, and what it works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallKey {
    /// The call.
    pub syscall: Syscall,
    /// What it waits for; `None` where its time is work.
    pub waits: Option<WaitKind>,
    /// On what.
    pub object: ObjectId,
}

/// What a thread spent in one way.
#[derive(Clone, Debug)]
pub struct CallTime {
    /// In which way.
    pub key: CallKey,
    /// The calls.
    pub calls: CallStats,
    /// Their time, and the time of one under way, by what the scheduler tells.
    pub parts: Parts,
    /// Of it, what was spent in calls shorter than those of the graph of waits ([`Graph::threshold`] at least), ns.
    pub short_ns: u64,
    /// Of it, what was waited for locks that are known to have been held by another thread, ns.
    pub held_ns: u64,
    /// Of it, what was waited until a time limit of its own passed, ns.
    pub timed_out_ns: u64,
    /// A call of these had begun and not ended as the capture did.
    pub under_way: bool,
    /// Their time is that up to the next call: the capture does not tell how long they took.
    pub is_at_most: bool,
    /// The first line and the longest.
    pub exemplars: Exemplars,
}

/// How a thread spent its time.
#[derive(Debug, Default)]
pub struct ThreadAccount {
    /// Its number.
    pub tid: Tid,
    /// In calls.
    pub calls: Vec<CallTime>,
    /// Outside of calls.
    pub outside: Parts,
    index: HashMap<CallKey, u32, foldhash::fast::RandomState>,
    /// The row of the last call: most calls are like the one before.
    last: usize,
    split: Split,
    under_way: Option<(usize, u64)>,
    /// A call of which only the beginning is told, before the next one is.
    untimed: Option<(usize, u64)>,
    left_as: Option<LeftAs>,
}

impl ThreadAccount {
    /// All that is told of it, ns.
    pub fn total(&self) -> u64 {
        self.calls.iter().fold(self.outside.total(), |sum, row| sum.saturating_add(row.parts.total()))
    }

    #[inline]
    fn row(&mut self, key: CallKey, room: &mut usize) -> usize {
        if self.calls.get(self.last).is_some_and(|row| row.key == key) {
            return self.last;
        }
        self.last = match self.index.get(&key) {
            Some(known) => *known as usize,
            None => self.add(key, room),
        };
        self.last
    }

    #[cold]
    fn add(&mut self, key: CallKey, room: &mut usize) -> usize {
        if key.object != ObjectId::NONE && (*room == 0 || self.calls.len() >= Accounts::MAX_ROWS_OF_THREAD) {
            // Past the bounds things are not told apart.
            return self.row(CallKey { object: ObjectId::NONE, ..key }, room);
        }
        *room = room.saturating_sub(1);
        let row = CallTime {
            key,
            calls: CallStats::NONE,
            parts: Parts::default(),
            short_ns: 0,
            held_ns: 0,
            timed_out_ns: 0,
            under_way: false,
            is_at_most: false,
            exemplars: Exemplars::default(),
        };
        self.calls.push(row);
        let at = self.calls.len() - 1;
        self.index.insert(key, at as u32);
        at
    }

    /// Lets the cutting do something, and takes what it gives.
    fn with_split(&mut self, act: impl FnOnce(&mut Split, &mut dyn FnMut(Option<usize>, Parts))) {
        let ThreadAccount { split, calls, outside, .. } = self;
        let mut give = |row: Option<usize>, parts: Parts| match row.and_then(|row| calls.get_mut(row)) {
            Some(row) => row.parts.add(parts),
            None => outside.add(parts),
        };
        act(split, &mut give);
    }

    /// The next call began: what the one before took is at most the time to here.
    #[cold]
    fn end_untimed(&mut self, next: Timestamp) {
        let (Some((row, from)), Some(next)) = (self.untimed.take(), next.get()) else { return };
        if let Some(row) = self.calls.get_mut(row) {
            row.is_at_most = true;
        }
        self.with_split(|split, mut give| split.call(row, from, next, &mut give));
    }

    fn finish(&mut self, end: Timestamp, exited: bool) {
        let Some(end) = end.get() else { return };
        let tail = match self.left_as.filter(|_| !exited) {
            Some(LeftAs::Runnable) => Tail::Runnable,
            Some(LeftAs::Sleeping | LeftAs::Stopped) => Tail::Blocked,
            Some(LeftAs::Uninterruptible) => Tail::Uninterruptible,
            Some(LeftAs::Dead | LeftAs::Other) | None => Tail::None,
        };
        let under_way = self.under_way.filter(|_| !exited);
        if let Some(row) = under_way.and_then(|(row, _)| self.calls.get_mut(row)) {
            row.under_way = true;
        }
        self.with_split(|split, mut give| split.finish(end, tail, under_way, &mut give));
    }
}

/// The accounts of all threads.
#[derive(Debug, Default)]
pub struct Accounts {
    /// What their time was spent on.
    pub objects: Objects,
    threads: HashMap<ThreadId, ThreadAccount, foldhash::fast::RandomState>,
    /// Of threads whose place others took.
    ended: Vec<(ProcessId, ThreadAccount)>,
    rows: usize,
}

impl Accounts {
    /// Rows of one thread; past it things are not told apart.
    const MAX_ROWS_OF_THREAD: usize = 1_024;
    /// Rows of all threads, some 300 bytes each.
    const MAX_ROWS: usize = 65_536;
    /// Ended threads kept apart; of further ones the time is unknown.
    const MAX_ENDED: usize = 4_096;

    /// The account of a thread.
    pub fn of(&self, thread: ThreadId) -> Option<&ThreadAccount> {
        self.threads.get(&thread)
    }

    /// The threads that are known by their place, in no order.
    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, &ThreadAccount)> {
        self.threads.iter().map(|(thread, account)| (*thread, account))
    }

    /// Threads that ended and whose place others took.
    pub fn ended(&self) -> &[(ProcessId, ThreadAccount)] {
        &self.ended
    }

    fn account(&mut self, thread: ThreadId, tid: Tid, process: ProcessId) -> &mut ThreadAccount {
        let account = self.threads.entry(thread).or_default();
        if account.tid != tid {
            let before = std::mem::replace(account, ThreadAccount { tid, ..ThreadAccount::default() });
            if before.tid != 0 && self.ended.len() < Self::MAX_ENDED {
                self.ended.push((process, before));
            }
        }
        account
    }

    /// A call that ended, or that the capture ends in; the folds have seen it. Says on what it was spent where the graph
    /// of waits keeps it.
    #[inline]
    pub(crate) fn call(&mut self, seen: &Seen<'_>, graph: &Graph, world: &World) -> Option<ObjectId> {
        if world.threads.is_rest(seen.thread) {
            return None;
        }
        let call = seen.call;
        let unfinished = call.flags.contains(CallFlags::END_NOT_SEEN);
        let is_long = unfinished || call.dur.is_known() && call.dur >= SLOW_CALL;
        let long = if is_long { kept(graph, seen) } else { None };
        let object = self.objects.of(seen, long, graph, world);
        let mut room = Self::MAX_ROWS.saturating_sub(self.rows);
        let before = room;
        let account = self.account(seen.thread, call.tid, seen.process);
        let row = account.row(CallKey { syscall: call.syscall, waits: seen.waits, object }, &mut room);
        if account.untimed.is_some() {
            account.end_untimed(call.ts);
        }
        let time = &mut account.calls[row];
        time.calls.record(call.dur, call.failed(), seen.bytes);
        time.exemplars.see(call);
        match (call.ts.get(), call.dur.get()) {
            (from, Some(ns)) => {
                let of = match long {
                    None => Some(&mut time.short_ns),
                    Some(long) if long.held => Some(&mut time.held_ns),
                    Some(long) if long.ended == Ended::TimedOut => Some(&mut time.timed_out_ns),
                    Some(_) => None,
                };
                if let Some(of) = of {
                    *of = of.saturating_add(ns);
                }
                match from {
                    Some(from) => account.with_split(|split, mut give| {
                        split.call(row, from, from.saturating_add(ns), &mut give);
                    }),
                    None => time.parts.add(Parts { unsplit_ns: ns, ..Parts::default() }),
                }
            }
            (Some(from), None) if unfinished => account.under_way = Some((row, from)),
            (Some(from), None) => account.untimed = Some((row, from)),
            (None, None) => {}
        }
        self.rows += before - room;
        long.map(|_| object)
    }

    /// A stretch on a CPU.
    #[inline]
    pub(crate) fn stretch(&mut self, thread: ThreadId, process: ProcessId, stretch: &Stretch) {
        let Some(from) = stretch.ts.get() else { return };
        let account = self.account(thread, stretch.tid, process);
        let run = Run {
            from,
            on_cpu: stretch.on_cpu.or_zero(),
            runnable: stretch.runnable.or_zero(),
            blocked: stretch.blocked.or_zero(),
            uninterruptible: account.left_as == Some(LeftAs::Uninterruptible),
        };
        account.left_as = Some(stretch.left_as);
        account.with_split(|split, mut give| split.run(run, &mut give));
    }

    /// The capture ended.
    pub(crate) fn finish(&mut self, world: &World, end: Timestamp) {
        for (id, account) in &mut self.threads {
            let thread = world.threads.thread(*id);
            account.finish(if thread.exited { thread.last } else { end }, thread.exited);
        }
        for (_, account) in &mut self.ended {
            account.finish(Timestamp::UNKNOWN, true);
        }
    }
}

/// What the graph kept of a call that it has just seen.
#[cold]
fn kept<'a>(graph: &'a Graph, seen: &Seen<'_>) -> Option<&'a LongCall> {
    let last = graph.timeline(seen.call.tid)?.calls.last()?;
    (last.from == seen.call.ts && last.syscall == seen.call.syscall).then_some(last)
}
