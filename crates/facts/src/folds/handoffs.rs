//! Locks that no value tells: made of a condition, of semaphores or of parking places of threads (an interpreter's lock, a queue lock). They
//! are known by who wakes whom: what was woken wakes the next one, and hardly more than one is awake at a time.
//!
//! Who waits there with a request in hand, at one place with the others, waits for no work: then the one that has the lock may be a thread that
//! never waits for it, and all others sleep meanwhile.
//!
//! A producer does not wait where it wakes, a barrier wakes several, a pool that gives itself work has all asleep between two bursts, or
//! several awake in one; in a pipeline each thread is woken by the same one before it.

use crate::Fold;
use crate::WaitKind;
use crate::args::futex::{is_futex, is_mutex, wakes};
use crate::folds::locks::{LockFacts, Locks, Party};
use crate::folds::requests::Requests;
use crate::folds::shared_futexes::SharedFutexes;
use crate::recording::RecordingFacts;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use whyslow_model::event::Tid;
use whyslow_model::{Errno, SaturatingSum, Syscall, Timestamp};

/// A wait or a wake.
#[derive(Clone, Copy, Debug)]
struct Step {
    tid: Tid,
    /// Without the bit that tells the two groups of a condition's waiters apart.
    address: u64,
    /// Of a wait from its begin to its end; of a wake when it was called, twice. ns.
    from: u64,
    to: u64,
    kind: StepKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StepKind {
    /// A wait that another thread ended.
    Woken,
    /// A wait that its own limit ended.
    TimedOut,
    /// A wake that woke so many.
    Wakes(u32),
}

/// A lock by who wakes whom.
#[derive(Debug)]
pub struct HandedLock {
    /// The process.
    pub process: ProcessId,
    /// Where its waiters wait, the most waited-for place first: one, or a place a thread.
    pub places: Vec<u64>,
    /// All of its places together, each wait counted as one for a lock that another has.
    pub lock: LockFacts,
    /// Wakes by the thread that was woken last, as a part of all.
    pub handed_on: f64,
    /// Of its waiters, how many did not wait there at a time, on average.
    pub awake: f64,
    /// The part of the time in which all of them waited.
    pub all_asleep: f64,
    /// The part of the waiting that is within requests, at the least, where that is what tells a lock.
    pub held_up: Option<f64>,
}

/// Such locks.
#[derive(Debug, Default)]
pub struct Handoffs {
    /// Known once [`crate::Facts::finish`] was called.
    pub rows: Vec<HandedLock>,
    steps: HashMap<ProcessId, VecDeque<Step>, foldhash::fast::RandomState>,
    shared: SharedFutexes,
}

impl Handoffs {
    /// The last steps kept of each process (40 bytes each): seconds of a busy lock, and all of a slow one.
    const MAX_STEPS: usize = 4_096;
    /// Processes whose steps are kept.
    const MAX_PROCESSES: usize = 64;
    /// glibc's condition variable has two words of waiters side by side, which take turns.
    const GROUP_BIT: u64 = 4;
    /// Fewer threads that wait and wake are two that work in turns.
    pub const MIN_THREADS: usize = 3;
    /// Fewer wakes tell no order.
    pub const MIN_WAKES: usize = 20;
    /// From this part of the wakes on that come from the one woken last, it is a lock. Measured on recordings: interpreters' and queue
    /// locks 0.76 to 1.00, schedulers of goroutines and pools 0.00 to 0.47, a pipeline of three 0.55.
    pub const HANDED_ON: f64 = 0.70;
    /// More threads awake at a time do not exclude each other. One has the lock; a second one may work without it, or have just been woken.
    pub const MOST_AWAKE: f64 = 2.0;
    /// While all wait, nobody has it: more of the time is waiting for something from outside.
    pub const MOST_ASLEEP: f64 = 0.10;
    /// Wakes wake one: more is a barrier or a broadcast.
    pub const WOKEN_EACH: f64 = 1.2;
    /// From this part of the waiting on that is within requests, it is no wait for them.
    pub const HELD_UP: f64 = 0.5;

    /// Tells the locks. The steps are given back.
    pub(crate) fn finish(&mut self, locks: &Locks, requests: &Requests, recording: &RecordingFacts) {
        let held_up = HeldUp::of(locks, requests);
        let mut places: BTreeMap<ProcessId, BTreeMap<u64, Vec<&LockFacts>>> = BTreeMap::new();
        for (process, address, lock) in locks.iter() {
            if self.steps.contains_key(&process) && !lock.is_mutex() {
                places.entry(process).or_default().entry(address & !Self::GROUP_BIT).or_default().push(lock);
            }
        }
        for (process, steps) in std::mem::take(&mut self.steps) {
            for group in places.get(&process).map(groups).unwrap_or_default() {
                self.rows.extend(handed(process, &steps, &group, locks, &held_up, recording));
            }
        }
        self.rows.sort_by(|a, b| b.lock.wait_ns.cmp(&a.lock.wait_ns).then_with(|| a.places.cmp(&b.places)));
    }
}

/// Which places may be one lock: each at which several threads wait and wake, and together all at which one thread waits that others
/// wake, most of them several. The last steps alone may show an order that changes later.
fn groups(places: &BTreeMap<u64, Vec<&LockFacts>>) -> Vec<BTreeSet<u64>> {
    /// Woken by one alone is the next step of a pipeline.
    const LEAST_WAKERS: usize = 2;
    let mut parked = BTreeSet::new();
    let mut by_several = 0;
    let mut groups = Vec::new();
    for (address, words) in places {
        let tids = |of: fn(&LockFacts) -> &Vec<Party>| -> BTreeSet<Tid> {
            words.iter().flat_map(|lock| of(lock)).map(|party| party.tid).collect()
        };
        let (waiters, wakers) = (tids(|lock| &lock.waiters), tids(|lock| &lock.wakers));
        let others = wakers.difference(&waiters).count();
        if waiters.len() == 1 && others > 0 {
            parked.insert(*address);
            by_several += (others >= LEAST_WAKERS) as usize;
        } else if waiters.intersection(&wakers).count() >= Handoffs::MIN_THREADS {
            groups.push(BTreeSet::from([*address]));
        }
    }
    if by_several >= Handoffs::MIN_THREADS && by_several * 2 >= parked.len() {
        groups.push(parked);
    }
    groups
}

/// What of the waiting on locks is within requests that are served.
struct HeldUp {
    within_ns: u64,
    all_ns: u64,
}

impl HeldUp {
    fn of(locks: &Locks, requests: &Requests) -> HeldUp {
        HeldUp {
            within_ns: requests.served_waits(WaitKind::Lock),
            all_ns: locks.iter().map(|(.., lock)| lock.wait_ns).saturating_sum(),
        }
    }

    /// The part of the waiting on one lock that is within requests, at the least: all other waiting may be, too.
    fn least(&self, wait_ns: u64) -> f64 {
        let others = self.all_ns.saturating_sub(wait_ns);
        self.within_ns.saturating_sub(others) as f64 / wait_ns.max(1) as f64
    }
}

/// The lock that these places are; `None` where the order of waits and wakes is not that of a lock.
fn handed(
    process: ProcessId,
    steps: &VecDeque<Step>,
    group: &BTreeSet<u64>,
    locks: &Locks,
    held_up: &HeldUp,
    recording: &RecordingFacts,
) -> Option<HandedLock> {
    let steps: Vec<Step> = steps.iter().filter(|step| group.contains(&step.address)).copied().collect();
    let order = Order::of(&steps);
    if order.both < Handoffs::MIN_THREADS
        || order.wakes < Handoffs::MIN_WAKES
        || order.woken as f64 > Handoffs::WOKEN_EACH * order.wakes as f64
    {
        return None;
    }
    let handed_on = order.handed_on as f64 / order.wakes as f64;
    let (awake, all_asleep) = asleep(&steps, recording)?;
    if handed_on < Handoffs::HANDED_ON {
        return None;
    }
    let excludes = awake <= Handoffs::MOST_AWAKE && all_asleep <= Handoffs::MOST_ASLEEP;
    let own = locks.iter().filter(|(owner, ..)| *owner == process).map(|(_, at, lock)| (at, lock));
    let is_of = |at: u64, lock: &LockFacts| {
        group.contains(&(at & !Handoffs::GROUP_BIT)) && lock.waits > 0 && !lock.is_mutex()
    };
    let mut found: Vec<(u64, &LockFacts)> = own.filter(|(at, lock)| is_of(*at, lock)).collect();
    found.sort_by_key(|(address, lock)| (std::cmp::Reverse(lock.wait_ns), *address));
    let lock = LockFacts::as_one(found.iter().map(|(_, lock)| *lock));
    // Threads that park at places of their own wait for answers within requests, too.
    let held_up = Some(held_up.least(lock.wait_ns));
    let held_up = held_up.filter(|part| !excludes && group.len() == 1 && *part >= Handoffs::HELD_UP);
    let places = found.into_iter().map(|(address, _)| address).collect();
    let lock = HandedLock { process, places, lock, handed_on, awake, all_asleep, held_up };
    (excludes || held_up.is_some()).then_some(lock)
}

/// In which order threads were woken and woke.
#[derive(Default)]
struct Order {
    wakes: usize,
    woken: u64,
    /// Wakes by the thread that was woken last.
    handed_on: usize,
    /// Threads that wait and wake.
    both: usize,
}

impl Order {
    fn of(steps: &[Step]) -> Order {
        let mut sorted: Vec<&Step> = steps.iter().collect();
        // A wake stands before the end of the wait that it ends.
        sorted.sort_by_key(|step| (step.to, !matches!(step.kind, StepKind::Wakes(_))));
        let mut order = Order::default();
        let (mut waiters, mut wakers) = (BTreeSet::new(), BTreeSet::new());
        let mut last = None;
        for step in sorted {
            match step.kind {
                StepKind::Wakes(woken) => {
                    order.wakes += 1;
                    order.woken += u64::from(woken);
                    order.handed_on += (last == Some(step.tid)) as usize;
                    wakers.insert(step.tid);
                }
                StepKind::Woken => {
                    last = Some(step.tid);
                    waiters.insert(step.tid);
                }
                StepKind::TimedOut => {
                    waiters.insert(step.tid);
                }
            }
        }
        order.both = waiters.intersection(&wakers).count();
        order
    }
}

/// How many of the waiters were awake at a time, and the part of the time in which all of them waited: of the time in which each call was
/// recorded.
fn asleep(steps: &[Step], recording: &RecordingFacts) -> Option<(f64, f64)> {
    let waits = || steps.iter().filter(|step| !matches!(step.kind, StepKind::Wakes(_)));
    let threads: BTreeSet<Tid> = waits().map(|step| step.tid).collect();
    let mut edges: Vec<(u64, bool)> =
        waits().flat_map(|step| [(step.from, true), (step.to, false)]).collect();
    edges.sort_unstable();
    let first = edges.first()?.0;
    let (mut waiting, mut before) = (0usize, first);
    let (mut slept, mut all, mut span) = (0f64, 0f64, 0f64);
    for (at, begins) in edges {
        let length = recording.covered(Timestamp::new(before), Timestamp::new(at)).or_zero() as f64;
        span += length;
        slept += length * waiting as f64;
        if waiting >= threads.len() {
            all += length;
        }
        waiting = if begins { waiting + 1 } else { waiting.saturating_sub(1) };
        before = at;
    }
    (span > 0.0).then_some(())?;
    Some((threads.len() as f64 - slept / span, all / span))
}

impl Fold for Handoffs {
    fn wants(&self, syscall: Syscall) -> bool {
        is_futex(syscall)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let (Some((address, operation, rest)), Some(from)) = (seen.futex, call.ts.get()) else { return };
        let owner = self.shared.owner(seen, world, address, operation);
        let (to, kind) = if seen.waits.is_some() {
            if call.errno == Errno::EAGAIN || is_mutex(operation, rest) {
                return;
            }
            let Some(to) = call.end().get() else { return };
            let timed_out = call.errno == Errno::ETIMEDOUT;
            (to, if timed_out { StepKind::TimedOut } else { StepKind::Woken })
        } else if wakes(operation) {
            match call.ok().and_then(|woken| u32::try_from(woken).ok()) {
                Some(woken) if woken > 0 => (from, StepKind::Wakes(woken)),
                _ => return,
            }
        } else {
            return;
        };
        if self.steps.len() >= Self::MAX_PROCESSES && !self.steps.contains_key(&owner) {
            return;
        }
        let steps = self.steps.entry(owner).or_default();
        if steps.len() >= Self::MAX_STEPS {
            steps.pop_front();
        }
        steps.push_back(Step { tid: call.tid, address: address & !Self::GROUP_BIT, from, to, kind });
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use hashbrown::HashMap;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn futex(facts: &mut Facts, tid: u32, at_us: u64, dur_us: u64, args: &str, ret: i64) {
        let mut call = Call::new("futex", args);
        call.tid = tid;
        call.pid = Some(1);
        call.ts = Timestamp::new(at_us * 1_000);
        call.dur = Nanos::new(dur_us * 1_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }

    /// So many turns of 1 ms, of threads in that order: each waits at its place from its last turn on, works, and wakes the next one.
    fn taken_in_turn(turns: usize, order: &[u32], place: impl Fn(u32) -> u64) -> Facts {
        let mut facts = Facts::default();
        let mut gave_up_at = HashMap::new();
        for turn in 0..turns {
            let (tid, next) = (order[turn % order.len()], order[(turn + 1) % order.len()]);
            let at = turn as u64 * 1_000;
            if let Some(since) = gave_up_at.insert(tid, at + 995) {
                futex(&mut facts, tid, since, at - since, &wait(place(tid)), 0);
            }
            futex(&mut facts, tid, at + 990, 4, &format!("{:#x}, FUTEX_WAKE_PRIVATE, 1", place(next)), 1);
        }
        facts.finish();
        facts
    }

    fn wait(place: u64) -> String {
        format!("{place:#x}, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, FUTEX_BITSET_MATCH_ANY")
    }

    /// Each of four follows each other one.
    const ALL_TO_ALL: &[u32] = &[2, 3, 4, 5, 3, 2, 5, 4];

    #[test]
    fn a_condition_that_goes_round_is_a_lock_with_both_of_its_words() {
        let facts = taken_in_turn(400, &[2, 3, 4, 5], |tid| 0x5000 + u64::from(tid % 2) * 4);
        let [row] = &facts.handoffs.rows[..] else { panic!("{:?}", facts.handoffs.rows) };
        assert_eq!((row.places.len(), row.lock.waiters.len(), row.lock.mutex_waits), (2, 4, row.lock.waits));
        assert!(row.handed_on > 0.9 && row.awake < 2.0 && row.all_asleep < 0.05, "{row:?}");
    }

    #[test]
    fn parked_threads_are_a_lock_where_several_wake_each_and_a_pipeline_where_one_does() {
        let place = |tid: u32| 0x9000 + u64::from(tid) * 0x20;
        let locks = |order: &[u32]| taken_in_turn(400, order, place).handoffs.rows.len();
        assert_eq!((locks(ALL_TO_ALL), locks(&[2, 3, 4, 5])), (1, 0));
    }

    #[test]
    fn a_producer_a_barrier_and_a_pool_that_gives_itself_work_are_no_locks() {
        let idle = |bursts: &dyn Fn(&mut Facts, u64)| {
            let mut facts = Facts::default();
            for burst in 0..200 {
                bursts(&mut facts, burst * 10_000);
            }
            facts.finish();
            facts.handoffs.rows.len()
        };
        let wake = |facts: &mut Facts, tid: u32, at: u64, woken: i64| {
            futex(facts, tid, at, 5, "0x7000, FUTEX_WAKE_PRIVATE, 1", woken);
        };
        // A producer wakes each of four workers.
        let producer = |facts: &mut Facts, at: u64| {
            for tid in 2..6 {
                let woken = at + 9_000 + u64::from(tid) * 10;
                wake(facts, 9, woken, 1);
                futex(facts, tid, at, woken - at + 5, &wait(0x7000), 0);
            }
        };
        // The last one that comes wakes the three others.
        let barrier = |facts: &mut Facts, at: u64| {
            let last = 2 + (at / 10_000 % 4) as u32;
            wake(facts, last, at + 9_000, 3);
            for tid in (2..6).filter(|tid| *tid != last) {
                futex(facts, tid, at + 5_000, 4_010, &wait(0x7000), 0);
            }
        };
        // One burst of work each 10 ms: who got a part wakes the next one, and all wait for the next burst.
        let pool = |facts: &mut Facts, at: u64| {
            for tid in 2..6 {
                let woken = at + 8_000 + u64::from(tid) * 100;
                wake(facts, if tid == 2 { 5 } else { tid - 1 }, woken, 1);
                futex(facts, tid, at, woken - at + 5, &wait(0x7000), 0);
            }
        };
        assert_eq!([idle(&producer), idle(&barrier), idle(&pool)], [0, 0, 0]);
    }
}
