//! The account of each thread's time: parts that exclude each other and add up to it, with the call and the thing that
//! each was spent on.

mod around;
mod objects;
mod pace;
mod split;

pub use around::Around;
pub use objects::{Object, ObjectKind, Objects};
pub use pace::SleepRounds;
pub use split::Parts;

use crate::SLOW_CALL;
use crate::args::WaitKind;
use crate::args::futex::wakes;
use crate::exemplar::Exemplars;
use crate::folds::graph::{Graph, LongCall};
use crate::world::ids::{ObjectId, ProcessId, ThreadId};
use crate::world::{Seen, World};
use around::Surroundings;
use hashbrown::{HashMap, HashSet};
use split::{Piece, Run, Split, Tail};
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, CallStats, LeftAs, Nanos, Stretch, Syscall, Timestamp};

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
    /// How they follow on each other, where they are waits.
    pub pace: SleepRounds,
    /// A call of these had begun and not ended as the capture did.
    pub under_way: bool,
    /// Their time is that up to the next call: the capture does not tell how long they took.
    pub is_at_most: bool,
    /// The first line and the longest.
    pub exemplars: Exemplars,
}

/// How a thread spent its time.
#[derive(Debug)]
pub struct ThreadAccount {
    /// Its number.
    pub tid: Tid,
    /// Its process.
    pub process: ProcessId,
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
    /// A wait for any of several descriptors, until the next call on one tells for which.
    held: Option<Box<HeldWait>>,
    left_as: Option<LeftAs>,
    surroundings: Surroundings,
    /// What was given to its rows since it was looked at last, where that is kept.
    cuts: Option<Vec<CutTime>>,
}

/// A piece of a thread's time as its account took it.
#[derive(Clone, Copy, Debug)]
pub struct CutTime {
    /// The thread.
    pub tid: Tid,
    /// It lies between here, ns,
    pub from: u64,
    /// and here.
    pub to: u64,
    /// In which call and on what; `None` outside of calls.
    pub key: Option<CallKey>,
    /// What it was. Calls within it that were told before have theirs: it may be less than the time between.
    pub parts: Parts,
}

impl ThreadAccount {
    fn new(tid: Tid, process: ProcessId) -> ThreadAccount {
        ThreadAccount {
            tid,
            process,
            calls: Vec::new(),
            outside: Parts::default(),
            index: HashMap::default(),
            last: 0,
            split: Split::default(),
            under_way: None,
            untimed: None,
            held: None,
            left_as: None,
            surroundings: Surroundings::default(),
            cuts: None,
        }
    }

    /// All that is told of it, ns.
    pub fn total(&self) -> u64 {
        self.calls.iter().fold(self.outside.total(), |sum, row| sum.saturating_add(row.parts.total()))
    }

    /// What it worked on outside of calls, and how much time between calls was seen, ns: what is around nothing is in that, too.
    pub fn around(&self) -> (&[Around], u64) {
        self.surroundings.told()
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
            pace: SleepRounds::default(),
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
    fn with_split(&mut self, act: impl FnOnce(&mut Split, &mut dyn FnMut(Option<usize>, Piece))) {
        let ThreadAccount { tid, split, calls, outside, cuts, .. } = self;
        let mut give = |row: Option<usize>, piece: Piece| {
            let row = row.and_then(|row| calls.get_mut(row));
            if let Some(cuts) = cuts {
                let Piece { from, to, parts } = piece;
                cuts.push(CutTime { tid: *tid, from, to, key: row.as_ref().map(|row| row.key), parts });
            }
            match row {
                Some(row) => row.parts.add(piece.parts),
                None => outside.add(piece.parts),
            }
        };
        act(split, &mut give);
    }

    /// Takes a call, and says in which row.
    #[inline]
    fn take(&mut self, told: &Told, room: &mut usize) -> usize {
        let row = self.row(told.key, room);
        if self.untimed.is_some() {
            self.end_untimed(told.from);
        }
        let time = &mut self.calls[row];
        time.calls.record(told.dur, told.failed, told.bytes);
        match (told.from.get(), told.dur.get()) {
            (from, Some(ns)) => {
                if let (Some(from), Some(_)) = (from, told.key.waits) {
                    time.pace.sleep(from, ns);
                }
                let of = match told.long {
                    None => Some(&mut time.short_ns),
                    Some(true) => Some(&mut time.held_ns),
                    Some(false) => None,
                };
                if let Some(of) = of {
                    *of = of.saturating_add(ns);
                }
                match from {
                    Some(from) => self.with_split(|split, mut give| {
                        split.call(row, from, from.saturating_add(ns), &mut give);
                    }),
                    None => time.parts.add(Parts { unsplit_ns: ns, ..Parts::default() }),
                }
            }
            (Some(from), None) if told.unfinished => self.under_way = Some((row, from)),
            (Some(from), None) => self.untimed = Some((row, from)),
            (None, None) => {}
        }
        row
    }

    /// A call at a time that does not count: up to the time that does, and from its end on, the thread was outside of calls.
    #[cold]
    fn outside_of(&mut self, within: Option<(u64, u64)>, at: Timestamp) {
        let (Some((begin, end)), Some(at)) = (within, at.get()) else { return };
        let (no_row, at) = (usize::MAX, at.clamp(begin, end));
        self.with_split(|split, mut give| split.call(no_row, at, at, &mut give));
    }

    /// Takes the wait for any of several descriptors, and what came behind it: it was for `found`, where that is known. Says when it began.
    #[cold]
    fn take_held(&mut self, found: Option<ObjectId>, room: &mut usize) -> Option<(Timestamp, ObjectId)> {
        let HeldWait { mut wait, behind } = *self.held.take()?;
        wait.0.key.object = found.unwrap_or(wait.0.key.object);
        let told = (wait.0.from, wait.0.key.object);
        for (told, exemplars) in std::iter::once(wait).chain(behind) {
            let row = self.take(&told, room);
            self.calls[row].exemplars.merge(&exemplars);
        }
        Some(told)
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
        self.take_held(None, &mut 1);
        let Some(end) = end.get() else { return };
        self.surroundings.up_to(Some(end));
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
    threads: ByThread,
    /// Only what was in this time counts, where it is another one than that of all events.
    within: Option<(u64, u64)>,
    /// Only the time of these threads counts, where there are some.
    only: Option<HashSet<Tid>>,
    /// Of threads whose place others took.
    ended: Vec<ThreadAccount>,
    rows: usize,
    /// The pieces that nobody took yet, where they are kept.
    cuts: Option<Vec<CutTime>>,
    /// In which way the last call spent its time.
    last: Option<CallKey>,
}

impl Accounts {
    /// Rows of one thread; past it things are not told apart.
    const MAX_ROWS_OF_THREAD: usize = 1_024;
    /// Rows of all threads, some 300 bytes each.
    const MAX_ROWS: usize = 65_536;
    /// Ended threads kept apart; of further ones the time is unknown.
    const MAX_ENDED: usize = 4_096;

    /// Lets only what was between these two times count.
    pub(crate) fn only_within(&mut self, from: u64, to: u64) {
        self.within = Some((from, to.max(from)));
    }

    /// Lets only the time of these threads count.
    pub(crate) fn only_of(&mut self, threads: HashSet<Tid>) {
        self.only = Some(threads);
    }

    /// Keeps each piece of time until [`Accounts::take_cuts`] is asked for them.
    pub(crate) fn keep_cuts(&mut self) {
        self.cuts.get_or_insert_default();
    }

    /// Gives the pieces since the last time it was asked, and keeps what they took of memory.
    pub(crate) fn take_cuts(&mut self, mut take: impl FnMut(&Objects, &CutTime)) {
        let Some(cuts) = &mut self.cuts else { return };
        cuts.iter().for_each(|cut| take(&self.objects, cut));
        cuts.clear();
    }

    /// In which way the call that was seen last spent its time; once.
    pub(crate) fn take_last(&mut self) -> Option<CallKey> {
        self.last.take()
    }

    /// What counts of the time between these two.
    pub fn counted(&self, from: Timestamp, to: Timestamp) -> (Timestamp, Timestamp) {
        match (self.within, from.get(), to.get()) {
            (Some((begin, end)), Some(from), Some(to)) => {
                (Timestamp::new(from.clamp(begin, end)), Timestamp::new(to.clamp(begin, end)))
            }
            _ => (from, to),
        }
    }

    /// The account of a thread.
    pub fn of(&self, thread: ThreadId) -> Option<&ThreadAccount> {
        self.threads.get(&thread)
    }

    /// Threads that ended and whose place others took.
    pub fn ended(&self) -> &[ThreadAccount] {
        &self.ended
    }

    /// A call that ended, or that the capture ends in; the folds have seen it. Tells of those that the graph of waits keeps
    /// on what they were spent: of this one, and of a wait before that this one explains.
    #[inline]
    pub(crate) fn call(&mut self, seen: &Seen<'_>, graph: &Graph, world: &World) -> Spent {
        if world.threads.is_rest(seen.thread) {
            return Spent::default();
        }
        let call = seen.call;
        let unfinished = call.flags.contains(CallFlags::END_NOT_SEEN);
        let is_long = unfinished || call.dur.is_known() && call.dur >= SLOW_CALL;
        let long = if is_long { kept(graph, seen) } else { None };
        let object = self.objects.of(seen, long, graph, world);
        if self.only.as_ref().is_some_and(|only| !only.contains(&call.tid)) {
            return Spent { this: long.map(|_| object), before: None };
        }
        let told = Told::of(seen, long, object).within(self.within);
        let Accounts { objects, threads, ended, rows, within, cuts, last, .. } = self;
        *last = Some(CallKey { syscall: call.syscall, waits: seen.waits, object });
        let account = account(threads, ended, seen.thread, call.tid, seen.process);
        account.cuts = cuts.take();
        let Some(told) = told else {
            account.outside_of(*within, call.ts);
            account.surroundings.lose();
            *cuts = account.cuts.take();
            return Spent { this: long.map(|_| object), before: None };
        };
        let thing = (object, objects.get(object).kind);
        account.surroundings.call(seen, told.from.get(), told.dur.get(), thing);
        let mut room = Self::MAX_ROWS.saturating_sub(*rows);
        let before = room;
        let mut spent = Spent::default();
        if let Some(held) = &mut account.held {
            // A runtime wakes other threads before it looks at what is ready.
            if long.is_none() && !unfinished && held.behind.len() < HeldWait::MOST && is_beside(call) {
                let mut exemplars = Exemplars::default();
                exemplars.see(call);
                held.behind.push((told, exemplars));
                *cuts = account.cuts.take();
                return spent;
            }
            let found = objects.looked_at(seen, object, world);
            spent.before = account.take_held(found, &mut room);
        }
        // Of a wait for several descriptors the next call tells which it was.
        let waits_for_any = long.is_some() && objects.get(object).kind == ObjectKind::Several && !unfinished;
        if waits_for_any && call.ts.is_known() {
            let mut exemplars = Exemplars::default();
            exemplars.see(call);
            account.held = Some(Box::new(HeldWait { wait: (told, exemplars), behind: Vec::new() }));
        } else {
            spent.this = long.map(|_| object);
            let row = account.take(&told, &mut room);
            account.calls[row].exemplars.see(call);
        }
        *cuts = account.cuts.take();
        *rows += before - room;
        spent
    }

    /// A stretch on a CPU.
    #[inline]
    pub(crate) fn stretch(&mut self, thread: ThreadId, process: ProcessId, stretch: &Stretch) {
        let Some(from) = stretch.ts.get() else { return };
        let account = account(&mut self.threads, &mut self.ended, thread, stretch.tid, process);
        let run = Run {
            from,
            on_cpu: stretch.on_cpu.or_zero(),
            runnable: stretch.runnable.or_zero(),
            blocked: stretch.blocked.or_zero(),
            uninterruptible: account.left_as == Some(LeftAs::Uninterruptible),
        };
        account.left_as = Some(stretch.left_as);
        account.cuts = self.cuts.take();
        account.with_split(|split, mut give| split.run(run, &mut give));
        self.cuts = account.cuts.take();
    }

    /// The capture ended.
    pub(crate) fn finish(&mut self, world: &World, end: Timestamp) {
        let within = self.within;
        let until = |end: Timestamp| match (within, end.get()) {
            (Some((_, last)), Some(end)) => Timestamp::new(end.min(last)),
            _ => end,
        };
        for (id, account) in &mut self.threads {
            let thread = world.threads.thread(*id);
            account.cuts = self.cuts.take();
            account.finish(until(if thread.exited { thread.last } else { end }), thread.exited);
            self.cuts = account.cuts.take();
        }
        for account in &mut self.ended {
            account.cuts = self.cuts.take();
            account.finish(Timestamp::UNKNOWN, true);
            self.cuts = account.cuts.take();
        }
    }
}

type ByThread = HashMap<ThreadId, ThreadAccount, foldhash::fast::RandomState>;

/// The account of a thread. A place that another thread had is emptied first.
fn account<'a>(
    threads: &'a mut ByThread,
    ended: &mut Vec<ThreadAccount>,
    thread: ThreadId,
    tid: Tid,
    process: ProcessId,
) -> &'a mut ThreadAccount {
    let account = threads.entry(thread).or_insert_with(|| ThreadAccount::new(tid, process));
    if account.tid != tid {
        let before = std::mem::replace(account, ThreadAccount::new(tid, process));
        if ended.len() < Accounts::MAX_ENDED {
            ended.push(before);
        }
    }
    account
}

/// On what calls were spent that the graph of waits keeps.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    /// The call that was seen.
    pub(crate) this: Option<ObjectId>,
    /// One before it, by when it began.
    pub(crate) before: Option<(Timestamp, ObjectId)>,
}

/// A wait for any of several descriptors, and short calls behind it that are on none.
#[derive(Debug)]
struct HeldWait {
    wait: (Told, Exemplars),
    behind: Vec<(Told, Exemplars)>,
}

impl HeldWait {
    /// More calls behind it are work of their own.
    const MOST: usize = 4;
}

/// True for a call that wakes a thread, gives way or reads a clock.
fn is_beside(call: &Call<'_>) -> bool {
    match call.syscall {
        Syscall::FUTEX => call.arg(1).is_some_and(|operation| wakes(operation.trim_ascii())),
        of => matches!(of, Syscall::SCHED_YIELD | Syscall::CLOCK_GETTIME | Syscall::GETPID),
    }
}

/// What an account takes of a call.
#[derive(Debug)]
struct Told {
    key: CallKey,
    from: Timestamp,
    dur: Nanos,
    failed: bool,
    bytes: u64,
    unfinished: bool,
    /// Of a call that the graph of waits keeps, whether another thread held what it waited for.
    long: Option<bool>,
}

impl Told {
    #[inline]
    fn of(seen: &Seen<'_>, long: Option<&LongCall>, object: ObjectId) -> Told {
        let call = seen.call;
        Told {
            key: CallKey { syscall: call.syscall, waits: seen.waits, object },
            from: call.ts,
            dur: call.dur,
            failed: call.failed(),
            bytes: seen.bytes,
            unfinished: call.flags.contains(CallFlags::END_NOT_SEEN),
            long: long.map(|long| long.held),
        }
    }

    /// The part of it within that time; nothing of one that is outside.
    #[inline]
    fn within(mut self, within: Option<(u64, u64)>) -> Option<Told> {
        let (Some((begin, end)), Some(from)) = (within, self.from.get()) else { return Some(self) };
        let to = self.dur.get().map(|ns| from.saturating_add(ns));
        if from >= end || to.is_some_and(|to| to <= begin) || to.is_none() && !self.unfinished && from < begin
        {
            return None;
        }
        let kept = from.max(begin);
        self.from = Timestamp::new(kept);
        if let Some(to) = to {
            self.dur = Nanos::new(to.min(end) - kept);
        }
        Some(self)
    }
}

/// What the graph kept of a call that it has just seen.
#[cold]
fn kept<'a>(graph: &'a Graph, seen: &Seen<'_>) -> Option<&'a LongCall> {
    let last = graph.timeline(seen.call.tid)?.calls.last()?;
    (last.from == seen.call.ts && last.syscall == seen.call.syscall).then_some(last)
}
