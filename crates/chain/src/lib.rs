//! Cause chains: where the time of a thread went, followed through those that it waited for.
//!
//! [`Explainer::path`] cuts an interval of a thread into segments. Where the thread waits and the one that ended the wait
//! is known, the chain goes on in that thread, back to the begin of the wait: what the waker did until then is why the
//! wait lasted (the critical path as LTTng's Trace Compass draws it). Each nanosecond has one kind, and the kinds add up to
//! the interval. What the capture does not show is unknown, with what is missing.

mod attach;
mod blame;
mod deadlock;
mod holder;
mod kind;
mod knots;
mod parties;
mod pileups;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod tests;
mod tree;
mod words;

pub use attach::attach;
pub use blame::{Blame, CauseCost, Lengths, Scope, WaitSpan};
pub use deadlock::{Deadlock, Stuck, Whom};
pub use holder::{Hold, WaitHolder, process_words};
pub use kind::PathKind;
pub use knots::{Knot, KnotFinder};
pub use parties::{NoSuchParty, OfHosts, Parties};
pub use pileups::PileUp;
pub use tree::TimeNode;

use hashbrown::{HashMap, HashSet};
use std::cell::OnceCell;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource, Stall, Sums};
use whyslow_facts::quotas::{Throttled, throttled};
use whyslow_facts::{Facts, ThreadId, WaitKind};
use whyslow_model::event::Tid;
use whyslow_model::{SaturatingSum, Timestamp};

/// Threads that a chain goes through, at most.
const MAX_DEPTH: usize = 16;
/// Segments of one path; what lies behind them is unknown.
const MAX_SEGMENTS: usize = 65_536;

/// Why a chain ends without a cause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Missing {
    /// The capture has nothing of that thread.
    Thread(Tid),
    /// The capture shows that thread only later.
    Before(Tid),
    /// The capture does not show that thread any more.
    After(Tid),
    /// Who ended the wait is not in the capture.
    Waker,
    /// The chain is longer than [`Explainer`] follows, or leads back to a thread that it came from.
    TooDeep,
}

/// One thread on the way, over the interval in which it held up the one before it.
#[derive(Clone, Copy, Debug)]
pub struct Stay<'a> {
    /// The thread.
    pub tid: Tid,
    /// From here, ns on the capture's clock.
    pub from: u64,
    /// To here.
    pub to: u64,
    /// The stay before it, and the wait there that led here; `None` for the first. Without a wait, the thread made the
    /// one before it.
    pub came_from: Option<(usize, Option<&'a LongCall>)>,
    /// Threads before it.
    pub depth: usize,
}

/// A part of the interval, of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The stay it belongs to: a place in [`Path::stays`].
    pub stay: usize,
    /// It lies between here,
    pub from: u64,
    /// and here.
    pub to: u64,
    /// How much of that it is, ns: all, but where several short things share the time.
    pub ns: u64,
    /// What it is.
    pub kind: PathKind,
    /// The long call that it is a part of.
    pub call: Option<&'a LongCall>,
    /// Why nothing more is known.
    pub missing: Option<Missing>,
    /// False where the capture only tells the sums of a longer time, of which this is a part in proportion.
    pub exact: bool,
}

/// Where an interval of a thread went.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    /// The thread.
    pub tid: Tid,
    /// From here.
    pub from: Timestamp,
    /// To here.
    pub to: Timestamp,
    /// The threads on the way; the first is the thread itself.
    pub stays: Vec<Stay<'a>>,
    /// The parts, which add up to the interval.
    pub segments: Vec<Segment<'a>>,
}

impl<'a> Path<'a> {
    /// The length of the interval, ns.
    pub fn total(&self) -> u64 {
        self.to.since(self.from).or_zero()
    }

    /// Time by kind, the largest first.
    pub fn by_kind(&self) -> Vec<(PathKind, u64)> {
        let mut sums = [0; PathKind::ALL.len()];
        for segment in &self.segments {
            let sum: &mut u64 = &mut sums[segment.kind as usize];
            *sum = sum.saturating_add(segment.ns);
        }
        let mut all: Vec<_> = PathKind::ALL.into_iter().zip(sums).filter(|(_, ns)| *ns > 0).collect();
        all.sort_by_key(|(kind, ns)| (std::cmp::Reverse(*ns), *kind));
        all
    }

    /// Time of one kind, ns.
    pub fn of(&self, kind: PathKind) -> u64 {
        self.segments.iter().filter(|segment| segment.kind == kind).map(|segment| segment.ns).saturating_sum()
    }

    /// The stays that a stay leads to.
    pub fn from_stay(&self, stay: usize) -> impl Iterator<Item = (usize, &Stay<'a>)> {
        let leads = move |came: Option<(usize, _)>| came.is_some_and(|(before, _)| before == stay);
        self.stays.iter().enumerate().filter(move |(_, next)| leads(next.came_from))
    }
}

/// One life of a thread number, as far as the capture shows it.
#[derive(Clone, Copy, Debug)]
struct Life {
    thread: ThreadId,
    first: u64,
    last: u64,
}

/// Answers where time went; looks at the facts once, and then as often as asked.
pub struct Explainer<'a> {
    facts: &'a Facts,
    lives: HashMap<Tid, Vec<Life>>,
    /// Patterns that the names of several files have; made when one is asked for.
    kinds_of_files: OnceCell<HashSet<String>>,
}

impl<'a> Explainer<'a> {
    /// Of these facts.
    pub fn new(facts: &'a Facts) -> Explainer<'a> {
        let mut lives: HashMap<Tid, Vec<Life>> = HashMap::new();
        for (id, thread) in facts.world.threads.iter() {
            let (Some(first), Some(last)) = (thread.first.get(), thread.last.get()) else { continue };
            if thread.merged == 1 && thread.is_active() {
                lives.entry(thread.tid).or_default().push(Life { thread: id, first, last });
            }
        }
        for (tid, of_number) in &mut lives {
            of_number.sort_by_key(|life| life.first);
            // A wait that had not ended goes on to the end of the capture.
            if let (Some(life), Some(timeline)) = (of_number.last_mut(), facts.graph.timeline(*tid))
                && let Some(call) = timeline.calls.last().filter(|call| call.ended == Ended::NotYet)
            {
                life.last = life.last.max(call.to.or_zero());
            }
        }
        Explainer { facts, lives, kinds_of_files: OnceCell::new() }
    }

    /// The facts.
    pub fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// Where the time of `tid` from `from` to `to` went. Nothing where either is unknown or the interval is empty.
    pub fn path(&self, tid: Tid, from: Timestamp, to: Timestamp) -> Path<'a> {
        let mut walk =
            Walk { explainer: self, stays: Vec::new(), segments: Vec::new(), on_the_way: Vec::new() };
        if let (Some(from), Some(to)) = (from.get(), to.get())
            && from < to
        {
            walk.thread(tid, from, to, None);
        }
        Path { tid, from, to, stays: walk.stays, segments: walk.segments }
    }

    /// The thread that had that number at a moment.
    fn thread_at(&self, tid: Tid, ts: Timestamp) -> Option<ThreadId> {
        let at = ts.get()?;
        let lives = self.lives.get(&tid)?;
        let life = lives.iter().rev().find(|life| life.first <= at)?;
        (at <= life.last).then_some(life.thread)
    }

    /// The first and last moment of the thread that had that number last; `None` where there is none.
    pub fn span(&self, tid: Tid) -> Option<(Timestamp, Timestamp)> {
        let life = self.lives.get(&tid)?.last()?;
        Some((Timestamp::new(life.first), Timestamp::new(life.last)))
    }
}

/// What the scheduler tells of a thread.
#[derive(Clone, Copy)]
struct Scheduled<'a> {
    stalls: &'a [Stall],
    throttled: &'a [Throttled],
}

struct Walk<'e, 'a> {
    explainer: &'e Explainer<'a>,
    stays: Vec<Stay<'a>>,
    segments: Vec<Segment<'a>>,
    /// The threads from the first one to here.
    on_the_way: Vec<Tid>,
}

/// What a segment says beside its time.
#[derive(Clone, Copy)]
struct Says<'a> {
    kind: PathKind,
    call: Option<&'a LongCall>,
    missing: Option<Missing>,
}

impl<'a> Says<'a> {
    fn kind(kind: PathKind) -> Says<'a> {
        Says { kind, call: None, missing: None }
    }
    fn unknown(missing: Missing) -> Says<'a> {
        Says { kind: PathKind::Unknown, call: None, missing: Some(missing) }
    }
    fn of(kind: PathKind, call: &'a LongCall) -> Says<'a> {
        Says { kind, call: Some(call), missing: None }
    }
}

impl<'a> Walk<'_, 'a> {
    fn whole(&mut self, stay: usize, from: u64, to: u64, says: Says<'a>) {
        self.part(stay, (from, to), to.saturating_sub(from), true, says);
    }

    fn part(&mut self, stay: usize, (from, to): (u64, u64), ns: u64, exact: bool, says: Says<'a>) {
        if ns == 0 {
            return;
        }
        let Says { kind, call, missing } = says;
        self.segments.push(Segment { stay, from, to, ns, kind, call, missing, exact });
    }

    fn thread(&mut self, tid: Tid, from: u64, to: u64, came_from: Option<(usize, Option<&'a LongCall>)>) {
        let stay = self.stays.len();
        self.stays.push(Stay { tid, from, to, came_from, depth: self.on_the_way.len() });
        if self.on_the_way.len() >= MAX_DEPTH || self.segments.len() >= MAX_SEGMENTS {
            return self.whole(stay, from, to, Says::unknown(Missing::TooDeep));
        }
        let lives = self.explainer.lives.get(&tid).map_or(&[][..], |lives| lives);
        let Some(life) = lives.iter().rev().find(|life| life.first < to).copied() else {
            let missing = if lives.is_empty() { Missing::Thread(tid) } else { Missing::Before(tid) };
            return self.whole(stay, from, to, Says::unknown(missing));
        };
        self.on_the_way.push(tid);
        let begin = life.first.max(from);
        self.before_birth(stay, tid, from, begin);
        let end = life.last.min(to);
        if begin < end {
            self.life(stay, tid, life, begin, end);
        }
        self.whole(stay, end.max(begin), to, Says::unknown(Missing::After(tid)));
        self.on_the_way.pop();
    }

    /// What came before the first that is seen of a thread: what its maker did, if it was made meanwhile.
    fn before_birth(&mut self, stay: usize, tid: Tid, from: u64, first: u64) {
        if from >= first {
            return;
        }
        let births = self.explainer.facts.graph.timeline(tid).map_or(&[][..], |timeline| &timeline.births);
        let born = births.iter().rev().find(|birth| birth.ts.get().is_some_and(|ts| ts <= first));
        let unseen = Says::unknown(Missing::Before(tid));
        match born {
            Some(birth) if birth.ts.or_zero() > from && !self.on_the_way.contains(&birth.parent) => {
                self.thread(birth.parent, from, birth.ts.or_zero(), Some((stay, None)));
                self.whole(stay, birth.ts.or_zero(), first, Says::kind(PathKind::Between));
            }
            Some(birth) if birth.ts.or_zero() <= from => {
                self.whole(stay, from, first, Says::kind(PathKind::Between));
            }
            _ => self.whole(stay, from, first, unseen),
        }
    }

    /// A stretch of a thread's life that the capture shows.
    fn life(&mut self, stay: usize, tid: Tid, life: Life, from: u64, to: u64) {
        let timeline = self.explainer.facts.graph.timeline(tid);
        let calls: &'a [LongCall] = timeline.map_or(&[], |timeline| &timeline.calls);
        let scheduled = Scheduled {
            stalls: timeline.map_or(&[], |timeline| &timeline.stalls),
            throttled: self.explainer.facts.quotas.of_thread(life.thread),
        };
        let first = calls.partition_point(|call| call.to.or_zero() <= from);
        let mut at = from;
        let mut before = first.checked_sub(1).map(|before| &calls[before]);
        before = before.filter(|call| call.from.or_zero() >= life.first);
        for call in &calls[first..] {
            let begin = call.from.or_zero();
            if begin >= to {
                break;
            }
            if at < begin {
                self.gap(stay, life, (at, begin), (before, Some(call)), scheduled);
                at = begin;
            }
            let (begin, end) = (begin.max(at), call.to.or_zero().min(to));
            if begin < end {
                self.long(stay, call, begin, end, scheduled);
                at = end;
            }
            before = Some(call);
        }
        if at < to {
            let next = calls[first..].iter().find(|call| call.from.or_zero() >= to);
            let next = next.filter(|call| call.from.or_zero() <= life.last);
            self.gap(stay, life, (at, to), (before, next), scheduled);
        }
    }

    /// Time between two long calls: the thread's sums tell what it was.
    fn gap(
        &mut self,
        stay: usize,
        life: Life,
        (from, to): (u64, u64),
        (before, next): (Option<&'a LongCall>, Option<&'a LongCall>),
        scheduled: Scheduled<'a>,
    ) {
        let thread = self.explainer.facts.world.threads.thread(life.thread);
        let measured = thread.sched.is_some();
        let start = before.map_or(Sums::default(), LongCall::after);
        let end = next.map_or(
            Sums {
                working_ns: thread.working_ns,
                waiting_ns: thread.waiting_ns,
                runnable_ns: thread.sched.as_ref().map_or(0, |sched| sched.runnable_ns),
            },
            |call| call.before,
        );
        let (gap_from, gap_to) = (
            before.map_or(life.first, |call| call.to.or_zero()),
            next.map_or(life.last, |call| call.from.or_zero()),
        );
        let exact = gap_from >= from && gap_to <= to;
        let gap = gap_to.saturating_sub(gap_from).max(1);
        let stalled = self.stalls(stay, (from, to), scheduled, None);
        let mut rest = (to - from).saturating_sub(stalled);
        let all = rest;
        // A part of the gap has a part of its sums, in proportion to its length.
        let mut take = |sum: u64| {
            let share = if exact { sum } else { (sum as u128 * all as u128 / gap as u128) as u64 };
            let taken = share.min(rest);
            rest -= taken;
            taken
        };
        let mut parts = [(PathKind::System, 0); WaitKind::COUNT + 1];
        parts[0].1 = take(end.working_ns.saturating_sub(start.working_ns));
        for (part, kind) in parts[1..].iter_mut().zip(WaitKind::ALL) {
            let sum = end.waiting_ns[kind as usize].saturating_sub(start.waiting_ns[kind as usize]);
            *part = (PathKind::of_short_wait(kind), take(sum));
        }
        let queued = end.runnable_ns.saturating_sub(start.runnable_ns);
        let queued = if measured && stalled == 0 { take(queued) } else { 0 };
        for (kind, ns) in parts {
            self.part(stay, (from, to), ns, exact, Says::kind(kind));
        }
        self.part(stay, (from, to), queued, exact, Says::kind(PathKind::RunQueue));
        // It cannot have computed for longer than it was on a CPU in all: in the rest it sleeps in a call that was not recorded.
        let ran = thread.sched.as_deref().map_or(rest, |sched| sched.on_cpu_ns.min(rest));
        let own = if measured { PathKind::User } else { PathKind::Between };
        self.part(stay, (from, to), ran, exact, Says::kind(own));
        self.part(stay, (from, to), rest - ran, exact, Says::kind(PathKind::Unknown));
    }

    /// The stalls in an interval without a known wait, or at the end of one; tells how much they are.
    fn stalls(
        &mut self,
        stay: usize,
        (from, to): (u64, u64),
        scheduled: Scheduled<'a>,
        call: Option<&'a LongCall>,
    ) -> u64 {
        let mut sum = 0;
        let stalls = scheduled.stalls;
        let first = stalls.partition_point(|stall| stall.to.or_zero() <= from);
        for stall in &stalls[first..] {
            if stall.from.or_zero() >= to {
                break;
            }
            let (begin, woken) = (stall.from.or_zero().max(from), stall.woken.or_zero().clamp(from, to));
            let end = stall.to.or_zero().min(to);
            let blocked = match (call, stall.uninterruptible) {
                (None, true) => PathKind::PageFault,
                (None, false) => PathKind::Unknown,
                (Some(call), _) => kind::of_work(call),
            };
            self.whole(stay, begin.min(woken), woken, Says { kind: blocked, call, missing: None });
            self.queued(stay, (woken, end), scheduled, call);
            sum += end.max(woken) - begin.min(woken);
        }
        sum
    }

    /// Time in which it was able to run and had no CPU: what of it was for its group's quota, and the rest.
    fn queued(
        &mut self,
        stay: usize,
        (from, to): (u64, u64),
        scheduled: Scheduled<'a>,
        call: Option<&'a LongCall>,
    ) {
        let all = to.saturating_sub(from);
        let stopped = throttled(scheduled.throttled, from, to);
        let exact = stopped == 0 || stopped == all;
        for (kind, ns) in [(PathKind::Throttled, stopped), (PathKind::RunQueue, all - stopped)] {
            self.part(stay, (from, to), ns, exact, Says { kind, call, missing: None });
        }
    }

    /// A part of a long call.
    fn long(&mut self, stay: usize, call: &'a LongCall, from: u64, to: u64, scheduled: Scheduled<'a>) {
        if call.waits.is_none() {
            let stalled = self.stalls(stay, (from, to), scheduled, Some(call));
            let rest = (to - from).saturating_sub(stalled);
            let kind = if stalled > 0 { PathKind::System } else { kind::of_work(call) };
            return self.part(stay, (from, to), rest, true, Says::of(kind, call));
        }
        let Some(waker) = call.waker else {
            return self.own_wait(stay, call, from, to, scheduled);
        };
        let woken = waker.ts.or_zero().clamp(from, to);
        if woken > from {
            if self.on_the_way.contains(&waker.tid) {
                self.whole(stay, from, woken, Says { missing: Some(Missing::TooDeep), ..own(call) });
            } else if let Some(missing) = self.unseen(waker.tid, woken) {
                // What is waited for is known, though not what that thread does.
                self.whole(stay, from, woken, Says { missing: Some(missing), ..own(call) });
            } else {
                self.thread(waker.tid, from, woken, Some((stay, Some(call))));
            }
        }
        self.returning(stay, call, woken, to, scheduled);
    }

    /// Why nothing is known of what a thread did until then; `None` where something is.
    fn unseen(&self, tid: Tid, until: u64) -> Option<Missing> {
        let lives = self.explainer.lives.get(&tid).map_or(&[][..], |lives| lives);
        if lives.is_empty() {
            return Some(Missing::Thread(tid));
        }
        let has_begun = lives.iter().any(|life| life.first < until);
        (!has_begun).then_some(Missing::Before(tid))
    }

    /// A wait of which nobody is known to have ended it.
    fn own_wait(&mut self, stay: usize, call: &'a LongCall, from: u64, to: u64, scheduled: Scheduled<'a>) {
        let awaited = self.explainer.awaited(call).filter(|tid| !self.on_the_way.contains(tid));
        if let Some(tid) = awaited {
            return self.thread(tid, from, to, Some((stay, Some(call))));
        }
        let missing = match (call.ended, call.what) {
            _ if call.by_interrupt => None,
            (Ended::Done, Resource::Peer(_) | Resource::Timer | Resource::Accept(_)) => None,
            (Ended::TimedOut, _) => None,
            _ => Some(Missing::Waker),
        };
        let last = last_stall(scheduled.stalls, from, to);
        let back = last.map_or(to, |stall| stall.woken.or_zero().clamp(from, to));
        self.whole(stay, from, back, Says { missing, ..own(call) });
        self.queued(stay, (back, to), scheduled, Some(call));
    }

    /// From the wake-up to the return of the call.
    fn returning(&mut self, stay: usize, call: &'a LongCall, from: u64, to: u64, scheduled: Scheduled<'a>) {
        match last_stall(scheduled.stalls, from, to) {
            Some(stall) => {
                let ran = stall.to.or_zero().clamp(from, to);
                self.queued(stay, (from, ran), scheduled, Some(call));
                self.whole(stay, ran, to, Says::of(PathKind::System, call));
            }
            None => self.whole(stay, from, to, Says::of(PathKind::Between, call)),
        }
    }
}

fn own(call: &LongCall) -> Says<'_> {
    Says::of(kind::of_wait(call), call)
}

/// The stall that ends within a wait: its end is the wait's.
fn last_stall(stalls: &[Stall], from: u64, to: u64) -> Option<&Stall> {
    let last = stalls.partition_point(|stall| stall.to.or_zero() <= to).checked_sub(1)?;
    stalls.get(last).filter(|stall| stall.to.or_zero() > from)
}
