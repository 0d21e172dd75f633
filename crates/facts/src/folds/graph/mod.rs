//! The wait-for graph: for each thread its long calls, what they waited for, and which thread ended them.
//!
//! Kept are the calls of [`SLOW_CALL`] and longer; of the time between them the thread's sums tell what it was. Who ended
//! a wait is known from the kernel's wake-ups where they were recorded, else from the calls that wake: at the same
//! futex, at the other end of the same pipe or socket, at a thread's end. Where nothing fits, nobody is named.

mod calls;
mod channels;
mod futexes;
mod names;
mod others;
#[cfg(test)]
mod tests;
mod timeline;
mod wait;

pub use names::NameId;
pub use timeline::{Birth, Stall, Timeline};
pub use wait::{End, Ended, How, Line, LongCall, Resource, Sums, Waker};

use crate::world::ids::ObjectId;
use crate::world::{Seen, World};
use crate::{CaptureFacts, Fold, SLOW_CALL, When};
use channels::Channels;
use futexes::Futexes;
use hashbrown::HashMap;
use names::Names;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Exit, Nanos, Stretch, Syscall, Timestamp, WakeContext, Wakeup};

/// A thread went on because another one gave it what it waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandBack {
    /// The thread that waited.
    pub(crate) tid: Tid,
    /// Who gave.
    pub(crate) by: Tid,
    /// When.
    pub(crate) ts: Timestamp,
}

impl HandBack {
    fn of(call: &LongCall) -> Option<HandBack> {
        let waker = call.waker.filter(|_| call.is_for_work())?;
        Some(HandBack { tid: call.tid, by: waker.tid, ts: waker.ts })
    }
}

/// The graph. Bounded: past the cap the shorter half of what is kept is dropped, and counted.
#[derive(Debug, Default)]
pub struct Graph {
    timelines: HashMap<Tid, Timeline, foldhash::fast::RandomState>,
    kept: usize,
    /// A call must be longer than this to be kept, ns: grows when the cap is reached.
    threshold_ns: u64,
    /// Long calls and waits for a CPU that were dropped.
    pub dropped: u64,
    names: Names,
    futexes: Futexes,
    channels: Channels,
    wakeups: HashMap<Tid, Wakeup, foldhash::fast::RandomState>,
    /// The threads that wait for the end of another one, which the capture did not show yet.
    joins: HashMap<Tid, Vec<(Tid, Timestamp)>, foldhash::fast::RandomState>,
    met: Vec<futexes::Met>,
    /// A lock of a file was asked for: closing a file may end a wait.
    file_locks: bool,
    /// Who was just given back what it waited for.
    back: Option<HandBack>,
    /// The long call just kept whose request is to be named: its thread, and the socket.
    unnamed: Option<(Tid, i32)>,
}

impl Graph {
    /// Long calls and stalls kept, some 200 bytes each.
    const MAX_KEPT: usize = 131_072;
    /// Threads with a timeline.
    const MAX_THREADS: usize = 32_768;
    /// Threads whose last wake-up is remembered.
    const MAX_WAKEUPS: usize = 65_536;
    /// Threads whose end somebody waits for.
    const MAX_JOINS: usize = 4_096;

    /// The shortest call that is kept.
    pub fn threshold(&self) -> Nanos {
        Nanos::new(self.threshold_ns.max(SLOW_CALL.or_zero()))
    }

    /// What is kept of a thread number, which several threads may have had one after the other.
    pub fn timeline(&self, tid: Tid) -> Option<&Timeline> {
        self.timelines.get(&tid)
    }

    /// All timelines, in no order.
    pub fn timelines(&self) -> impl Iterator<Item = (Tid, &Timeline)> {
        self.timelines.iter().map(|(tid, timeline)| (*tid, timeline))
    }

    /// All long calls, in no order of threads; those of a thread in order of time.
    pub fn calls(&self) -> impl Iterator<Item = &LongCall> {
        self.timelines.values().flat_map(|timeline| timeline.calls.iter())
    }

    /// The longest call of `tid` that lasted at the moment `ts`.
    pub fn call_at(&self, tid: Tid, ts: Timestamp) -> Option<&LongCall> {
        let calls = &self.timelines.get(&tid)?.calls;
        calls.iter().filter(|call| call.from <= ts && ts <= call.to).max_by_key(|call| call.dur())
    }

    /// The name behind a number.
    pub fn name(&self, id: NameId) -> Option<&str> {
        self.names.get(id)
    }

    fn timeline_mut(&mut self, tid: Tid) -> Option<&mut Timeline> {
        if self.timelines.len() >= Self::MAX_THREADS && !self.timelines.contains_key(&tid) {
            return None;
        }
        Some(self.timelines.entry(tid).or_default())
    }

    fn keep(&mut self, call: LongCall) {
        if call.dur().or_zero() < self.threshold_ns {
            self.dropped += 1;
            return;
        }
        let Some(timeline) = self.timeline_mut(call.tid) else {
            self.dropped += 1;
            return;
        };
        timeline.keep(call);
        self.back = HandBack::of(&call);
        self.count_kept();
    }

    fn count_kept(&mut self) {
        self.kept += 1;
        if self.kept > Self::MAX_KEPT {
            self.drop_short();
        }
    }

    #[cold]
    fn drop_short(&mut self) {
        let mut lengths: Vec<u64> = self.timelines.values().flat_map(Timeline::lengths).collect();
        let middle = lengths.len() / 2;
        let (_, median, _) = lengths.select_nth_unstable(middle);
        // Equal ones go too: the half must become free.
        self.threshold_ns = *median + 1;
        let before = self.kept;
        self.kept = self.timelines.values_mut().map(|timeline| timeline.drop_below(*median + 1)).sum();
        self.dropped += before.saturating_sub(self.kept) as u64;
    }

    fn meet(&mut self, (tid, from, waker): futexes::Met) {
        if let Some(call) = self.timelines.get_mut(&tid).and_then(|timeline| timeline.last_from(from))
            && call.waker.is_none()
        {
            call.waker = Some(waker);
            self.back = HandBack::of(call);
        }
    }

    /// Calls of one exchange between hosts may be so far apart, ns.
    pub(crate) fn tolerate_clocks(&mut self, ns: u64) {
        self.channels.tolerate_clocks(ns);
    }

    /// A recorder saw the kernel wake a thread.
    #[inline]
    pub(crate) fn wakeup(&mut self, wakeup: &Wakeup) {
        if self.wakeups.len() < Self::MAX_WAKEUPS || self.wakeups.contains_key(&wakeup.wakee) {
            self.wakeups.insert(wakeup.wakee, *wakeup);
        }
    }

    /// The kernel's wake-up that ended a sleep between `from` and `to`: who, or that it was in an interrupt.
    fn woken(&self, tid: Tid, from: Timestamp, to: Timestamp) -> (Option<Waker>, bool) {
        let during = |wakeup: &&Wakeup| from <= wakeup.ts && wakeup.ts <= to;
        match self.wakeups.get(&tid).filter(during) {
            Some(Wakeup { waker: Some(waker), ts, .. }) if *waker != tid => {
                (Some(Waker { tid: *waker, ts: *ts, how: How::Wakeup }), false)
            }
            Some(wakeup) => (None, wakeup.context != WakeContext::Task),
            None => (None, false),
        }
    }

    /// A recorder saw a stretch on a CPU, with the wait before it.
    #[inline]
    pub(crate) fn stretch(&mut self, stretch: &Stretch) {
        let (blocked, runnable) = (stretch.blocked.or_zero(), stretch.runnable.or_zero());
        let long = self.threshold_ns.max(SLOW_CALL.or_zero());
        let left_as = stretch.left_as;
        if blocked.max(runnable) < long {
            if let Some(timeline) = self.timelines.get_mut(&stretch.tid) {
                timeline.left_as = Some(left_as);
            }
            return;
        }
        let Some(timeline) = self.timeline_mut(stretch.tid) else { return };
        let kept = timeline.stalled(stretch);
        timeline.left_as = Some(left_as);
        if kept {
            self.count_kept();
        }
    }

    /// A thread ended: who waited for that goes on.
    pub(crate) fn exit(&mut self, exit: &Exit<'_>) {
        for (tid, from) in self.joins.remove(&exit.tid).unwrap_or_default() {
            let to = self
                .timelines
                .get_mut(&tid)
                .and_then(|timeline| timeline.last_from(from))
                .map(|call| call.to);
            // The kernel wakes first and tells of the end afterwards.
            let ts = to.filter(|to| *to < exit.ts).unwrap_or(exit.ts);
            self.meet((tid, from, Waker { tid: exit.tid, ts, how: How::Exit }));
        }
        if let Some(timeline) = self.timelines.get_mut(&exit.tid) {
            timeline.ended(exit.ts);
        }
    }

    /// Who was given back what it waited for by the call that was just seen.
    #[inline]
    pub(crate) fn handed_back(&mut self) -> Option<HandBack> {
        self.back.take()
    }

    /// When `by` last gave `tid` something to do, before `until`, as far as nobody else can have done so since.
    pub(crate) fn given_work(&self, tid: Tid, by: Tid, until: Timestamp) -> Option<Timestamp> {
        self.timelines.get(&tid)?.given_work_by(by, until)
    }

    /// The socket whose last request is to be named, where a wait for an answer was just kept.
    #[inline]
    pub(crate) fn wants_request(&self) -> Option<i32> {
        self.unnamed.map(|(_, fd)| fd)
    }

    /// What was asked on it.
    #[cold]
    pub(crate) fn request(&mut self, asked: Option<String>) {
        let Some((tid, _)) = self.unnamed.take() else { return };
        let Some(asked) = asked.map(|asked| self.names.intern(&asked)) else { return };
        if let Some(call) = self.timelines.get_mut(&tid).and_then(|timeline| timeline.calls.last_mut()) {
            call.asked = asked;
        }
    }

    /// On what the long call was spent that `tid` began at `from`, as the accounts of threads name it.
    #[cold]
    pub(crate) fn spent_on(&mut self, tid: Tid, from: Timestamp, object: ObjectId) {
        if let Some(call) = self.timelines.get_mut(&tid).and_then(|timeline| timeline.last_from(from)) {
            call.object = object;
        }
    }

    /// Takes away who ended a wait by the times of two clocks that have nothing to do with each other.
    fn forget_other_clocks(&mut self, world: &World, capture: &CaptureFacts) {
        let source = |tid: Tid| world.threads.thread_of(tid).map(|thread| thread.source);
        for call in self.timelines.values_mut().flat_map(|timeline| &mut timeline.calls) {
            let by_another = |waker: &Waker| {
                source(waker.tid).is_some_and(|other| !capture.share_clock(call.line.source, other))
            };
            if call.waker.as_ref().is_some_and(by_another) {
                call.waker = None;
            }
        }
    }

    /// The capture ended: what waits still, waits up to here.
    pub(crate) fn finish(&mut self, world: &World, capture: &CaptureFacts, end: Timestamp) {
        if capture.traces.len() > 1 {
            self.forget_other_clocks(world, capture);
        }
        for (_, thread) in world.threads.iter() {
            if let Some(timeline) = self.timelines.get_mut(&thread.tid) {
                let ended = if thread.exited && thread.last.is_known() { thread.last } else { end };
                timeline.finish(thread.last_call, ended);
            }
        }
        for timeline in self.timelines.values_mut() {
            timeline.finish(Timestamp::UNKNOWN, end);
        }
        // What was needed only on the way.
        self.futexes = Futexes::default();
        self.channels = Channels::default();
        self.wakeups = HashMap::default();
        self.joins = HashMap::default();
    }
}

impl Fold for Graph {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    /// All calls that may end another thread's wait; of the others those that are long.
    fn when(&self, syscall: Syscall) -> When {
        let wakes = crate::args::futex::is_futex(syscall)
            || syscall.info().moves != Moves::None
            || matches!(
                syscall,
                Syscall::CLONE
                    | Syscall::CLONE3
                    | Syscall::FORK
                    | Syscall::VFORK
                    | Syscall::CLOSE
                    | Syscall::SENDMMSG
                    | Syscall::RECVMMSG
                    | Syscall::SHUTDOWN
            )
            || matches!(
                syscall.info().name,
                "flock" | "fcntl" | "fcntl64" | "semop" | "semtimedop" | "kill" | "tkill" | "tgkill"
            );
        if wakes { When::Always } else { When::Slow }
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if !world.threads.is_rest(seen.thread) {
            self.take(seen, world);
        }
    }
}
