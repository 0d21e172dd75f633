//! Futex wakes by address, and the waits that they ended.

use super::wait::{How, Waker};
use crate::ProcessId;
use crate::args::futex::is_private;
use hashbrown::HashMap;
use std::collections::VecDeque;
use whyslow_model::event::Tid;
use whyslow_model::{Call, Timestamp, text};

/// Where a futex lives: an address in a process; without a process, in memory that processes share.
type Place = (Option<ProcessId>, u64);

/// A call that woke somebody.
#[derive(Clone, Copy, Debug)]
struct Wake {
    tid: Tid,
    ts: Timestamp,
    end: Timestamp,
    /// Of the threads that it woke, those whose waits were not met yet.
    left: u64,
    /// It moved the other waiters to this address (FUTEX_REQUEUE).
    moved_to: Option<u64>,
}

impl Wake {
    /// No wait can be met by it any more.
    fn is_spent(&self) -> bool {
        self.left == 0 && self.moved_to.is_none()
    }
}

/// A wait that ended before the call that woke it did.
#[derive(Clone, Copy, Debug)]
struct Early {
    tid: Tid,
    from: Timestamp,
    to: Timestamp,
}

#[derive(Debug, Default)]
struct Address {
    wakes: VecDeque<Wake>,
    early: VecDeque<Early>,
    used: u64,
}

/// A wait whose waker is known now: the thread, when it began, who.
pub(super) type Met = (Tid, Timestamp, Waker);

/// The last wakes of each address. Bounded: past the cap the half that was not used for longest is dropped.
#[derive(Debug, Default)]
pub(super) struct Futexes {
    by_place: HashMap<Place, Address, foldhash::fast::RandomState>,
    turn: u64,
}

impl Futexes {
    /// Addresses with wakes, some 500 bytes each.
    const MAX_ADDRESSES: usize = 8192;
    /// Wakes and early waits remembered of one address: more threads than this meet at one only in a crowd.
    const REMEMBERED: usize = 16;

    fn address(&mut self, place: Place) -> &mut Address {
        self.turn += 1;
        let turn = self.turn;
        if self.by_place.len() >= Self::MAX_ADDRESSES && !self.by_place.contains_key(&place) {
            let oldest = turn.saturating_sub(Self::MAX_ADDRESSES as u64 / 2);
            self.by_place.retain(|_, address| address.used > oldest);
        }
        let address = self.by_place.entry(place).or_default();
        address.used = turn;
        address
    }

    /// A wait at `address` ended: who woke it, if that is known already.
    pub(super) fn ended(
        &mut self,
        process: ProcessId,
        address: u64,
        shared: bool,
        call: &Call<'_>,
    ) -> Option<Waker> {
        let wait = Early { tid: call.tid, from: call.ts, to: call.end() };
        if !wait.to.is_known() {
            return None;
        }
        if let Some(waker) = self.find(Some(process), address, wait) {
            return Some(waker);
        }
        if shared && let Some(waker) = self.find(None, address, wait) {
            return Some(Waker { how: How::SharedFutex, ..waker });
        }
        let early = &mut self.address((Some(process), address)).early;
        if early.len() >= Self::REMEMBERED {
            early.pop_front();
        }
        early.push_back(wait);
        None
    }

    /// The last wake during the wait that has woken somebody who is not met yet; behind a move, at the new address.
    fn find(&mut self, process: Option<ProcessId>, address: u64, wait: Early) -> Option<Waker> {
        let here = self.by_place.get_mut(&(process, address))?;
        let fits = |wake: &Wake| wake.tid != wait.tid && wait.from <= wake.ts && wake.ts <= wait.to;
        // In order of their ends: what ended before the wait began has only such before it.
        let over = |wake: &Wake| wake.end.is_known() && wake.end < wait.from;
        let lasting = (0..here.wakes.len()).rev().take_while(|at| !over(&here.wakes[*at]));
        let mut fitting = lasting.filter(|at| here.wakes[*at].left > 0 && fits(&here.wakes[*at]));
        if let Some(at) = fitting.next() {
            let how = if fitting.next().is_some() { How::OneOfSeveral } else { How::FutexWake };
            let wake = &mut here.wakes[at];
            wake.left -= 1;
            let waker = Waker { tid: wake.tid, ts: wake.ts, how };
            if wake.is_spent() {
                here.wakes.remove(at);
            }
            return Some(waker);
        }
        let moved = here.wakes.iter().rev().find(|wake| fits(wake) && wake.moved_to.is_some())?;
        let (moved_to, from) = (moved.moved_to?, moved.ts);
        if moved_to == address {
            return None;
        }
        // From there it is not moved again: glibc and musl move from a condition to its mutex.
        let there = self.by_place.get_mut(&(process, moved_to))?;
        let fits = |wake: &&mut Wake| wake.tid != wait.tid && from <= wake.ts && wake.ts <= wait.to;
        let wake = there.wakes.iter_mut().rev().filter(|wake| wake.left > 0).find(fits)?;
        wake.left -= 1;
        Some(Waker { tid: wake.tid, ts: wake.ts, how: How::OneOfSeveral })
    }

    /// A call woke threads or moved them: the waits that had ended before it returned are met now.
    pub(super) fn woke(&mut self, process: ProcessId, call: &Call<'_>, futex: &Woke, met: &mut Vec<Met>) {
        let wake =
            Wake { tid: call.tid, ts: call.ts, end: call.end(), left: futex.woken, moved_to: futex.moved_to };
        for address in [Some(futex.address), futex.second].into_iter().flatten() {
            let here = self.address((Some(process), address));
            let left = here.meet(wake, met);
            here.remember(Wake { left, ..wake });
            if futex.shared {
                self.address((None, address)).remember(wake);
            }
        }
    }
}

impl Address {
    fn meet(&mut self, wake: Wake, met: &mut Vec<Met>) -> u64 {
        let mut left = wake.left;
        if self.early.is_empty() {
            return left;
        }
        self.early.retain(|wait| {
            let during = wait.from <= wake.ts && wake.ts <= wait.to && wait.to <= wake.end;
            if left == 0 || !during || wait.tid == wake.tid {
                return true;
            }
            left -= 1;
            met.push((wait.tid, wait.from, Waker { tid: wake.tid, ts: wake.ts, how: How::FutexWake }));
            false
        });
        left
    }

    fn remember(&mut self, wake: Wake) {
        if wake.is_spent() {
            return;
        }
        if self.wakes.len() >= Futexes::REMEMBERED {
            self.wakes.pop_front();
        }
        self.wakes.push_back(wake);
    }
}

/// What a call that wakes did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Woke {
    pub(super) address: u64,
    /// The other address of FUTEX_WAKE_OP.
    pub(super) second: Option<u64>,
    pub(super) moved_to: Option<u64>,
    pub(super) woken: u64,
    pub(super) shared: bool,
}

/// Reads a futex call that wakes, by futex(2); `None` where it is none, or woke nobody.
pub(super) fn woke(call: &Call<'_>, address: u64, operation: &[u8]) -> Option<Woke> {
    let returned = u64::try_from(call.ok()?).ok()?;
    let shared = !is_private(operation);
    let other = || call.arg(4).and_then(|text| text.strip_prefix(b"0x")).and_then(crate::args::numbers::hex);
    let plain = Woke { address, second: None, moved_to: None, woken: returned, shared };
    let woke = if operation.starts_with(b"FUTEX_WAKE_OP") {
        Woke { second: other(), ..plain }
    } else if operation.starts_with(b"FUTEX_WAKE") {
        plain
    } else if operation.starts_with(b"FUTEX_UNLOCK_PI") {
        // It returns 0, and hands the lock to the first that waits.
        Woke { woken: 1, ..plain }
    } else if operation.starts_with(b"FUTEX_REQUEUE") || operation.starts_with(b"FUTEX_CMP_REQUEUE") {
        // FUTEX_CMP_REQUEUE returns the moved ones too: at most as many as asked were woken.
        let most = call.arg(2).and_then(text::number).and_then(|most| u64::try_from(most).ok())?;
        Woke { moved_to: other(), woken: returned.min(most), ..plain }
    } else {
        return None;
    };
    (woke.woken > 0 || woke.moved_to.is_some()).then_some(woke)
}
