//! Locks: futex waits and wakes by address.

use super::shared_futexes::SharedFutexes;
use crate::args::futex::{is_futex, is_mutex, wakes};
use crate::exemplar::{Exemplar, Exemplars};
use crate::pattern::pattern_of;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use crate::{Fold, When};
use hashbrown::HashMap;
use std::collections::VecDeque;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallFlags, Errno, Nanos, Syscall, Timestamp};

/// One address that threads wait on: a mutex, a condition variable, a thread's own parking place.
#[derive(Debug, Default)]
pub struct LockFacts {
    /// Waits that slept, finished or not.
    pub waits: u64,
    /// Time in them, ns.
    pub wait_ns: u64,
    /// Of the waits, those whose duration is known.
    pub timed: u64,
    /// Waits whose expected value says a mutex that others want too (glibc, musl and Rust: 2; or FUTEX_LOCK_PI).
    pub mutex_waits: u64,
    /// Waits that did not sleep: the value had changed just before (EAGAIN), the lock was handed on in that moment.
    pub changed_first: u64,
    /// Waits that ended because their own time limit passed.
    pub timed_out: u64,
    /// Wakes.
    pub wakes: u64,
    /// Threads that those woke.
    pub woken: u64,
    /// Who waits: the first few threads.
    pub waiters: Vec<Party>,
    /// Who wakes: the first few threads that woke somebody.
    pub wakers: Vec<Party>,
    /// The longest wait.
    pub longest: Option<Box<LockWait>>,
    /// Lines of waits.
    pub exemplars: Exemplars,
    /// What the holder was doing while others waited: the slow calls during which it held the lock.
    pub held_across: Vec<HeldAcross>,
    last_wake: Wake,
    /// Slow calls before a wake of this lock, the longest of each kind.
    slow_calls: Vec<SlowCall>,
    /// The last times that it was handed on after one of them.
    handed_on: VecDeque<HandedOn>,
}

/// A slow call that a holder makes with the lock held: it began after the lock was handed on to somebody, its thread then
/// woke one who waits for the lock, and a third one slept through it.
#[derive(Clone, Debug)]
pub struct HeldAcross {
    /// The call.
    pub syscall: Syscall,
    /// What its descriptor leads to; of several files whose names differ by numbers their pattern.
    pub target: Option<Box<str>>,
    /// Waits that passed so, whole or in part.
    pub waits: u64,
    /// Time of those waits that passed so, ns.
    pub wait_ns: u64,
    /// The longest such call; its thread is the holder.
    pub longest: Exemplar,
}

/// True for names of one thing, and for those of files of one kind, whose names differ by numbers.
fn is_alike(one: Option<&str>, other: Option<&str>) -> bool {
    let is_path = |name: &str| name.starts_with('/');
    one == other
        || one.zip(other).is_some_and(|(one, other)| {
            is_path(one) && is_path(other) && pattern_of(one) == pattern_of(other)
        })
}

/// Of two names that are alike, what stands for both.
fn join_names(name: &mut Option<Box<str>>, other: Option<&str>) {
    if name.as_deref() != other
        && let Some(pattern) = other.map(pattern_of)
        && name.as_deref() != Some(&*pattern)
    {
        *name = Some(pattern.into());
    }
}

/// A slow call of a thread.
#[derive(Clone, Debug)]
struct SlowCall {
    syscall: Syscall,
    target: Option<Box<str>>,
    exemplar: Exemplar,
}

/// A slow call between two wakes of a lock, by the thread of the second: others who slept meanwhile waited for it.
#[derive(Clone, Copy, Debug)]
struct HandedOn {
    tid: Tid,
    /// The call, as far as it lies between the two wakes, ns.
    from: u64,
    to: u64,
    /// Its place in the lock's `slow_calls`.
    call: u8,
}

/// A thread's part.
#[derive(Clone, Copy, Debug)]
pub struct Party {
    /// The thread.
    pub tid: Tid,
    /// Its waits, or wakes.
    pub times: u64,
    /// Its time in waits, ns.
    pub ns: u64,
}

/// One wait and who ended it.
#[derive(Clone, Debug)]
pub struct LockWait {
    /// Who waited.
    pub tid: Tid,
    /// Since when.
    pub ts: Timestamp,
    /// How long.
    pub dur: Nanos,
    /// Who woke it, and when that call began; `None` where the capture does not show it.
    pub waker: Option<(Tid, Timestamp)>,
    /// The line.
    pub exemplar: Exemplar,
    /// The line of the wake.
    pub wake_exemplar: Option<Exemplar>,
}

impl LockWait {
    /// True where it lasted at the moment `ts`, or ended at it.
    pub fn covers(&self, ts: Timestamp) -> bool {
        self.ts.is_known() && ts.is_known() && self.ts <= ts && ts <= self.ts.plus(self.dur)
    }
}

#[derive(Clone, Debug, Default)]
struct Wake {
    tid: Tid,
    ts: Timestamp,
    end: Timestamp,
}

impl LockFacts {
    /// Threads kept apart on each side.
    const MAX_PARTIES: usize = 64;
    /// Waits shorter than this are not kept as the longest: they would only be copied.
    const SHORTEST_KEPT_NS: u64 = 100_000;
    /// Calls with the lock held that are told apart.
    const MAX_HELD_ACROSS: usize = 16;
    /// Times that it was handed on that are remembered: those during a single wait.
    const MAX_HANDED_ON: usize = 64;

    /// Time in waits; unknown where no duration is.
    pub fn waited(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.wait_ns) }
    }

    /// The mean wait; unknown where no duration is.
    pub fn mean(&self) -> Nanos {
        match self.timed {
            0 => Nanos::UNKNOWN,
            timed => Nanos::new(self.wait_ns / timed),
        }
    }

    /// True where most waits are for a lock that another has, by its value.
    pub fn is_mutex(&self) -> bool {
        self.mutex_waits > 0 && self.mutex_waits * 2 >= self.waits
    }

    /// True where most of those that wake others waited there themselves, three and more of them: a lock goes round. At a queue or
    /// a condition some wait, and others wake.
    pub fn is_passed_on(&self) -> bool {
        const LEAST: usize = 3;
        let waited = |tid: Tid| self.waiters.iter().any(|waiter| waiter.tid == tid);
        let both = self.wakers.iter().filter(|waker| waited(waker.tid)).count();
        both >= LEAST && both * 2 >= self.wakers.len()
    }

    /// Fewer waits are no lock that is handed on in turns.
    pub const TURNS: u64 = 500;
    /// Fewer waiters are two threads in each other's way, which is contention.
    pub const TURN_WAITERS: usize = 3;
    /// A wait, for each thread that is before it in the queue, is at most this long: a wake-up and a short section.
    pub const LONGEST_TURN: Nanos = Nanos::new(200_000);

    /// True where many threads wait often and shortly: the lock is held for moments, but always wanted.
    pub fn is_handed_in_turns(&self) -> bool {
        self.waits >= Self::TURNS
            && self.waiters.len() >= Self::TURN_WAITERS
            && self.mutex_waits * 2 >= self.waits
            && self.turn().get().is_some_and(|turn| turn > 0 && turn <= Self::LONGEST_TURN.or_zero())
    }

    /// The mean wait for each thread that is before one in the queue; unknown where no duration is, or one thread waits alone.
    pub fn turn(&self) -> Nanos {
        let before = self.waiters.len().saturating_sub(1) as u64;
        self.mean().get().and_then(|mean| mean.checked_div(before)).map_or(Nanos::UNKNOWN, Nanos::new)
    }

    /// Who wakes most.
    pub fn main_waker(&self) -> Option<&Party> {
        self.wakers.iter().max_by_key(|party| party.times)
    }

    fn wait(&mut self, call: &Call<'_>, is_mutex: bool) {
        match call.errno {
            Errno::EAGAIN => {
                self.changed_first += 1;
                return;
            }
            Errno::ETIMEDOUT => self.timed_out += 1,
            _ => {}
        }
        self.waits += 1;
        self.mutex_waits += is_mutex as u64;
        let ns = call.dur.or_zero();
        self.timed += call.dur.is_known() as u64;
        self.wait_ns = self.wait_ns.saturating_add(ns);
        party(&mut self.waiters, call.tid, ns);
        self.exemplars.see(call);
        self.held(call);
        let longest = self.longest.as_ref().map_or(Self::SHORTEST_KEPT_NS, |wait| wait.dur.or_zero());
        if ns > longest {
            self.keep(call);
        }
    }

    /// What of this wait passed while holders were in slow calls.
    fn held(&mut self, call: &Call<'_>) {
        let (start, end) = (call.ts.or_zero(), call.end().or_zero());
        let mut passed = [0u64; Self::MAX_HELD_ACROSS];
        for handed in self.handed_on.iter().filter(|handed| handed.tid != call.tid) {
            passed[usize::from(handed.call)] += handed.to.min(end).saturating_sub(handed.from.max(start));
        }
        for (slow, ns) in self.slow_calls.iter().zip(passed).filter(|(_, ns)| *ns > 0) {
            let same = |held: &HeldAcross| {
                held.syscall == slow.syscall && is_alike(held.target.as_deref(), slow.target.as_deref())
            };
            let at = self.held_across.iter().position(same).unwrap_or_else(|| {
                self.held_across.push(HeldAcross {
                    syscall: slow.syscall,
                    target: slow.target.clone(),
                    waits: 0,
                    wait_ns: 0,
                    longest: slow.exemplar.clone(),
                });
                self.held_across.len() - 1
            });
            let held = &mut self.held_across[at];
            join_names(&mut held.target, slow.target.as_deref());
            held.waits += 1;
            held.wait_ns = held.wait_ns.saturating_add(ns);
            if slow.exemplar.dur > held.longest.dur {
                held.longest = slow.exemplar.clone();
            }
        }
    }

    /// Takes note of what the thread that hands the lock on did since it got it, at the earliest at the wake before.
    fn handed_on(&mut self, call: &Call<'_>, behind: &[SlowCall]) {
        let since = self.last_wake.ts.or_zero();
        for slow in behind {
            let line = &slow.exemplar;
            let from = line.ts.or_zero().max(since);
            let to = line.ts.plus(line.dur).or_zero().min(call.ts.or_zero());
            if from >= to {
                continue;
            }
            let same = |known: &SlowCall| {
                known.syscall == slow.syscall && is_alike(known.target.as_deref(), slow.target.as_deref())
            };
            let at = match self.slow_calls.iter().position(same) {
                Some(at) => {
                    let known = &mut self.slow_calls[at];
                    join_names(&mut known.target, slow.target.as_deref());
                    if line.dur > known.exemplar.dur {
                        known.exemplar = slow.exemplar.clone();
                    }
                    at
                }
                None if self.slow_calls.len() < Self::MAX_HELD_ACROSS => {
                    self.slow_calls.push(slow.clone());
                    self.slow_calls.len() - 1
                }
                None => continue,
            };
            if self.handed_on.len() >= Self::MAX_HANDED_ON {
                self.handed_on.pop_front();
            }
            self.handed_on.push_back(HandedOn { tid: call.tid, from, to, call: at as u8 });
        }
    }

    #[cold]
    fn keep(&mut self, call: &Call<'_>) {
        let mut wait = LockWait {
            tid: call.tid,
            ts: call.ts,
            dur: call.dur,
            waker: None,
            exemplar: Exemplar::of(call),
            wake_exemplar: None,
        };
        // A wake that was seen whole before the waiter came back.
        if call.errno == Errno::NONE && wait.covers(self.last_wake.ts) && self.last_wake.tid != call.tid {
            wait.waker = Some((self.last_wake.tid, self.last_wake.ts));
        }
        self.longest = Some(Box::new(wait));
    }

    fn wake(&mut self, call: &Call<'_>, woken: u64, behind: &[SlowCall]) {
        self.wakes += 1;
        self.woken += woken;
        if woken == 0 {
            return;
        }
        party(&mut self.wakers, call.tid, 0);
        self.handed_on(call, behind);
        self.last_wake = Wake { tid: call.tid, ts: call.ts, end: call.end() };
        // The waiter may come back before the call that woke it ends.
        if let Some(wait) =
            self.longest.as_deref_mut().filter(|wait| wait.covers(call.ts) && wait.tid != call.tid)
            && self.last_wake.end >= wait.ts.plus(wait.dur)
        {
            wait.waker = Some((call.tid, call.ts));
            wait.wake_exemplar = Some(Exemplar::of(call));
        }
    }

    /// Several addresses that are one lock, each wait counted as one for a lock that another has.
    pub(crate) fn as_one<'a>(places: impl Iterator<Item = &'a LockFacts>) -> LockFacts {
        let mut one = LockFacts::default();
        for place in places {
            one.waits += place.waits;
            one.wait_ns = one.wait_ns.saturating_add(place.wait_ns);
            one.timed += place.timed;
            one.changed_first += place.changed_first;
            one.timed_out += place.timed_out;
            one.wakes += place.wakes;
            one.woken += place.woken;
            for (mine, theirs) in [(&mut one.waiters, &place.waiters), (&mut one.wakers, &place.wakers)] {
                for party in theirs {
                    add_party(mine, *party);
                }
            }
            one.exemplars.merge(&place.exemplars);
            one.held_across.extend(place.held_across.iter().cloned());
            let longest = place.longest.as_ref();
            if longest.map(|wait| wait.dur) > one.longest.as_ref().map(|wait| wait.dur) {
                one.longest = longest.cloned();
            }
        }
        one.mutex_waits = one.waits;
        one
    }

    fn absorb(&mut self, other: LockFacts) {
        self.waits += other.waits;
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
        self.timed += other.timed;
        self.mutex_waits += other.mutex_waits;
        self.changed_first += other.changed_first;
        self.timed_out += other.timed_out;
        self.wakes += other.wakes;
        self.woken += other.woken;
    }
}

fn party(parties: &mut Vec<Party>, tid: Tid, ns: u64) {
    add_party(parties, Party { tid, times: 1, ns });
}

fn add_party(parties: &mut Vec<Party>, more: Party) {
    match parties.iter().position(|party| party.tid == more.tid) {
        Some(at) => {
            parties[at].times += more.times;
            parties[at].ns = parties[at].ns.saturating_add(more.ns);
        }
        None if parties.len() < LockFacts::MAX_PARTIES => parties.push(more),
        None => {}
    }
}

/// All addresses. Bounded: when there are too many, the less waited-for half is merged into one row.
#[derive(Debug, Default)]
pub struct Locks {
    by_address: HashMap<(ProcessId, u64), LockFacts, foldhash::fast::RandomState>,
    /// Addresses that were merged away, together.
    pub merged: LockFacts,
    /// How many those are.
    pub merged_addresses: u64,
    shared: SharedFutexes,
    /// By thread, its last slow calls.
    slow: HashMap<Tid, Vec<SlowCall>, foldhash::fast::RandomState>,
}

impl Locks {
    /// Addresses kept apart. A row is some 300 bytes with its lines.
    const MAX_ADDRESSES: usize = 4096;
    /// Threads whose slow calls are remembered.
    const MAX_SLOW: usize = 2048;
    /// Slow calls remembered of a thread: the last ones.
    const LAST_SLOW: usize = 4;

    /// Each address with its process (of those that share it the first) and facts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (ProcessId, u64, &LockFacts)> {
        self.by_address.iter().map(|((process, address), lock)| (*process, *address, lock))
    }

    /// The longest wait of `tid` that lasted at the moment `ts`, with its address.
    pub fn wait_at(&self, process: ProcessId, tid: Tid, ts: Timestamp) -> Option<(u64, &LockWait)> {
        let waits = self.iter().filter(|(owner, ..)| *owner == process);
        let waits = waits.filter_map(|(_, address, lock)| Some((address, lock.longest.as_deref()?)));
        waits
            .filter(|(_, wait)| wait.tid == tid && wait.covers(ts))
            .max_by_key(|(address, wait)| (wait.dur, *address))
    }

    #[inline]
    fn entry(&mut self, process: ProcessId, address: u64) -> &mut LockFacts {
        if self.by_address.len() >= Self::MAX_ADDRESSES && !self.by_address.contains_key(&(process, address))
        {
            self.merge_least();
        }
        self.by_address.entry((process, address)).or_default()
    }

    #[cold]
    fn merge_least(&mut self) {
        let mut weights: Vec<(u64, u64)> =
            self.by_address.values().map(|lock| (lock.wait_ns, lock.waits)).collect();
        weights.sort_unstable();
        let middle = weights.get(weights.len() / 2).copied().unwrap_or_default();
        let gone: Vec<_> = self
            .by_address
            .extract_if(|_, lock| (lock.wait_ns, lock.waits) <= middle)
            .map(|(_, lock)| lock)
            .collect();
        self.merged_addresses += gone.len() as u64;
        for lock in gone {
            self.merged.absorb(lock);
        }
    }
}

impl Fold for Locks {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    /// What a lock may be held across are the slow calls.
    fn when(&self, syscall: Syscall) -> When {
        if is_futex(syscall) { When::Always } else { When::Slow }
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if !is_futex(call.syscall) {
            return self.slow_call(seen, world);
        }
        let Some((address, operation, rest)) = seen.futex else { return };
        let owner = self.shared.owner(seen, world, address, operation);
        if seen.waits.is_some() {
            let mutex = is_mutex(operation, rest);
            let unfinished = call.flags.contains(CallFlags::END_NOT_SEEN);
            let lock = self.entry(owner, address);
            if unfinished && !call.dur.is_known() {
                // Still waiting when the capture ends: a wait, of unknown length.
                lock.waits += 1;
                return;
            }
            lock.wait(call, mutex);
        } else if wakes(operation) {
            let woken = call.ok().map_or(0, |woken| woken.max(0) as u64);
            // The calls stay: they may have been made with several locks held.
            let behind = self.slow.remove(&call.tid).unwrap_or_default();
            self.entry(owner, address).wake(call, woken, &behind);
            if !behind.is_empty() {
                self.slow.insert(call.tid, behind);
            }
        }
    }
}

impl Locks {
    #[cold]
    fn slow_call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let full = self.slow.len() >= Self::MAX_SLOW && !self.slow.contains_key(&call.tid);
        if full || !call.end().is_known() {
            return;
        }
        let life = seen.life.and_then(|life| world.fds.get(life));
        let target = life.and_then(|life| life.target(world)).map(Into::into);
        let slow = SlowCall { syscall: call.syscall, target, exemplar: Exemplar::of(call) };
        let last = self.slow.entry(call.tid).or_default();
        if last.len() >= Self::LAST_SLOW {
            last.remove(0);
        }
        last.push(slow);
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, tid: u32, at_us: u64, dur_us: u64, args: &str, ret: i64) {
        let mut call = Call::new("futex", args);
        call.tid = tid;
        call.ts = Timestamp::new(at_us * 1_000);
        call.dur = Nanos::new(dur_us * 1_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }

    #[test]
    fn who_wakes_whom_whichever_call_ends_first() {
        for waker_first in [true, false] {
            let mut facts = Facts::default();
            push(&mut facts, 3, 0, 10, "0x7f10, FUTEX_WAKE_PRIVATE, 1", 0);
            let wait =
                |facts: &mut Facts| push(facts, 2, 100, 5_000, "0x7f10, FUTEX_WAIT_PRIVATE, 593, NULL", 0);
            let wake = |facts: &mut Facts, dur: u64| {
                let args =
                    "0x7f10, FUTEX_WAKE_OP_PRIVATE, 1, 1, 0x7f0c, {FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, 1}";
                push(facts, 3, 5_000, dur, args, 1);
            };
            if waker_first {
                wake(&mut facts, 50);
                wait(&mut facts);
            } else {
                wait(&mut facts);
                wake(&mut facts, 150);
            }
            let (_, address, lock) = facts.locks.iter().next().unwrap();
            let longest = lock.longest.as_ref().unwrap();
            assert_eq!(
                (address, longest.tid, longest.waker),
                (0x7f10, 2, Some((3, Timestamp::new(5_000_000))))
            );
            assert_eq!((lock.waits, lock.mutex_waits, lock.wakes, lock.woken), (1, 0, 2, 1));
            assert!(
                facts
                    .locks
                    .wait_at(
                        facts.world.threads.thread(facts.world.threads.iter().next().unwrap().0).process,
                        2,
                        Timestamp::new(200_000)
                    )
                    .is_some()
            );
        }
    }

    #[test]
    fn mutexes_are_known_by_their_value() {
        let mut facts = Facts::default();
        push(&mut facts, 2, 0, 500, "0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL", 0);
        push(&mut facts, 2, 1_000, 5, "0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL", -11);
        push(&mut facts, 2, 2_000, 50, "0x7f10, FUTEX_LOCK_PI_PRIVATE, NULL", 0);
        let (_, _, lock) = facts.locks.iter().next().unwrap();
        assert_eq!((lock.waits, lock.mutex_waits, lock.changed_first, lock.wait_ns), (2, 2, 1, 550_000));
    }

    #[test]
    fn addresses_are_bounded() {
        let mut facts = Facts::default();
        for address in 0..20_000u64 {
            push(
                &mut facts,
                2,
                address,
                address,
                &format!("{:#x}, FUTEX_WAIT_PRIVATE, 2, NULL", address * 8),
                0,
            );
        }
        let kept = facts.locks.iter().count();
        assert!(kept <= 4096);
        assert_eq!(kept as u64 + facts.locks.merged_addresses, 20_000);
        assert!(facts.locks.iter().any(|(_, address, _)| address == 19_999 * 8));
    }
}
