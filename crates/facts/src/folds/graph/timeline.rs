//! What is kept of one thread over time: long calls, waits that only the scheduler saw, births and ends.

use super::wait::LongCall;
use whyslow_model::event::Tid;
use whyslow_model::{LeftAs, Stretch, Timestamp};

/// A wait that the scheduler saw: blocked, then runnable without a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stall {
    /// When it left the CPU.
    pub from: Timestamp,
    /// When it was able to run again.
    pub woken: Timestamp,
    /// When it got a CPU.
    pub to: Timestamp,
    /// No signal could end it: disk, page fault, a lock of the kernel.
    pub uninterruptible: bool,
}

/// How a thread came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Birth {
    /// Who made it.
    pub parent: Tid,
    /// When.
    pub ts: Timestamp,
}

/// What is kept of a thread number.
#[derive(Debug, Default)]
pub struct Timeline {
    /// The long calls, in order of time.
    pub calls: Vec<LongCall>,
    /// What the scheduler saw, in order of time.
    pub stalls: Vec<Stall>,
    /// When threads of that number were made, the last few.
    pub births: Vec<Birth>,
    /// When they ended, the last few.
    pub ends: Vec<Timestamp>,
    pub(super) left_as: Option<LeftAs>,
}

impl Timeline {
    /// Lives of one number that are told apart.
    const MAX_LIVES: usize = 32;
    /// How far back a wait is looked for whose waker is known only now.
    const NEAR: usize = 4;

    pub(super) fn keep(&mut self, call: LongCall) {
        match self.calls.last() {
            // Another call of the thread: it did return, and nobody knows when.
            Some(last) if !last.to.is_known() => {
                self.calls.pop();
            }
            // In order of completion a call that began before the last one ends only in damaged captures.
            Some(last) if last.to > call.from => return,
            _ => {}
        }
        self.calls.push(call);
    }

    pub(super) fn last_from(&mut self, from: Timestamp) -> Option<&mut LongCall> {
        self.calls.iter_mut().rev().take(Self::NEAR).find(|call| call.from == from)
    }

    /// When `waker` last gave the thread something to do, before `until`. Unknown where somebody else did so since, or
    /// where nobody knows who did.
    pub(super) fn given_work_by(&self, waker: Tid, until: Timestamp) -> Option<Timestamp> {
        /// Waits for answers lie between.
        const MOST: usize = 64;
        let mut waits = self.calls.iter().rev().filter(|call| call.to <= until).take(MOST);
        let given = waits.find(|call| call.is_for_work())?.waker?;
        (given.tid == waker).then_some(given.ts)
    }

    /// True where it was kept.
    pub(super) fn stalled(&mut self, stretch: &Stretch) -> bool {
        let (blocked, runnable) = (stretch.blocked.or_zero(), stretch.runnable.or_zero());
        let Some(to) = stretch.ts.get() else { return false };
        let woken = to.saturating_sub(runnable);
        let from = woken.saturating_sub(blocked);
        if self.stalls.last().is_some_and(|last| last.to.or_zero() > from) {
            return false;
        }
        self.stalls.push(Stall {
            from: Timestamp::new(from),
            woken: Timestamp::new(woken),
            to: Timestamp::new(to),
            uninterruptible: self.left_as == Some(LeftAs::Uninterruptible),
        });
        true
    }

    pub(super) fn born(&mut self, birth: Birth) {
        if self.births.len() >= Self::MAX_LIVES {
            self.births.remove(0);
        }
        self.births.push(birth);
    }

    pub(super) fn ended(&mut self, ts: Timestamp) {
        if self.ends.len() >= Self::MAX_LIVES {
            self.ends.remove(0);
        }
        self.ends.push(ts);
        self.left_as = None;
    }

    /// The capture or the thread ended: a wait that had not, lasted to here. `last_call` is when the thread's last call began.
    pub(super) fn finish(&mut self, last_call: Timestamp, end: Timestamp) {
        let Some(call) = self.calls.last_mut().filter(|call| !call.to.is_known()) else { return };
        if last_call.is_known() && last_call > call.from {
            // It called again: this call returned, and nobody knows when.
            self.calls.pop();
        } else {
            call.to = end.max(call.from);
        }
    }

    pub(super) fn lengths(&self) -> impl Iterator<Item = u64> {
        let stalls = self.stalls.iter().map(|stall| stall.to.since(stall.from).or_zero());
        self.calls.iter().map(|call| call.dur().or_zero()).chain(stalls)
    }

    /// Drops what is shorter than `ns`, and tells how much is left.
    pub(super) fn drop_below(&mut self, ns: u64) -> usize {
        self.calls.retain(|call| !call.to.is_known() || call.dur().or_zero() >= ns);
        self.stalls.retain(|stall| stall.to.since(stall.from).or_zero() >= ns);
        self.calls.len() + self.stalls.len()
    }
}
