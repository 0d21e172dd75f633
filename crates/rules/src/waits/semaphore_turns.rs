//! Semaphores and locks on files that are handed on in turns, by the calls of the threads that take them: also where these are only counted.
//!
//! The waits are too short to be seen one by one; what all calls of a thread took is, where the kernel took the times itself.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::folds::file_locks::FileLock;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::{CHEAP_CALL, Facts};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The calls that take and give up such a lock.
const CALLS: [&str; 3] = ["semop", "semtimedop", "flock"];
/// Of the calls that took a semaphore, so many were given back by who took it: it is a lock, and no queue.
const GIVEN_BACK: f64 = 0.5;
/// Hand-overs a second from which on the program runs at the speed of wake-ups.
pub(super) const HANDED_PER_S: f64 = 1_000.0;
/// The threads wait about equally often: the least of them at least this part of the mean.
pub(super) const EVEN: f64 = 0.25;
/// A thread with fewer calls than this part of the mean takes no turn.
const PARTY: f64 = 0.1;

/// Threads that hand such a lock on.
struct Turns<'f> {
    syscall: &'static str,
    /// Who, how many calls, and the time in them, ns.
    parties: Vec<(Tid, u64, u64)>,
    lock: &'f FileLock,
}

impl Turns<'_> {
    fn calls(&self) -> u64 {
        self.parties.iter().map(|(_, calls, _)| *calls).saturating_sum()
    }

    /// Each turn takes the lock and gives it up.
    fn turns(&self) -> u64 {
        self.calls() / 2
    }

    /// Time in the calls, less what they take where nobody has the lock, ns.
    fn waited_ns(&self) -> u64 {
        let all = self.parties.iter().map(|(_, _, ns)| *ns).saturating_sum();
        all.saturating_sub(self.calls().saturating_mul(CHEAP_CALL.or_zero()))
    }

    fn mean(&self) -> Nanos {
        Nanos::new(self.waited_ns() / self.turns().max(1))
    }

    /// One place further in the queue.
    fn turn(&self) -> Nanos {
        Nanos::new(self.mean().or_zero() / (self.parties.len() as u64 - 1).max(1))
    }
}

#[gated]
fn turns_of<'f>(facts: &'f Facts, syscall: &'static str) -> Option<Turns<'f>> {
    let of_thread = |thread: &whyslow_facts::ThreadFacts| {
        let calls = thread.all_calls().filter(|(call, _)| facts.name_of(*call) == syscall);
        let (count, ns) = calls.fold((0u64, 0u64), |(count, ns), (_, stats)| {
            (count.saturating_add(stats.count), ns.saturating_add(stats.total().or_zero()))
        });
        (thread.tid, count, ns)
    };
    let mut parties: Vec<(Tid, u64, u64)> = facts
        .world
        .threads
        .iter()
        .map(|(_, thread)| of_thread(thread))
        .filter(|(_, calls, _)| *calls > 0)
        .collect();
    let all = parties.iter().map(|(_, calls, _)| *calls).saturating_sum();
    let mean = all as f64 / parties.len().max(1) as f64;
    parties.retain(|(_, calls, _)| *calls as f64 >= PARTY * mean);
    let locks = facts.file_locks.rows.iter().filter(|lock| facts.name_of(lock.syscall) == syscall);
    let lock = locks.max_by_key(|lock| lock.asked)?;
    let is_lock = syscall == "flock" || lock.given_back as f64 >= GIVEN_BACK * lock.asked as f64;
    let turns = Turns { syscall, parties, lock };
    let even = turns.parties.iter().map(|(_, calls, _)| *calls).min()? as f64 * turns.parties.len() as f64;
    (is_lock
        && turns.parties.len() >= LockFacts::TURN_WAITERS
        && turns.turns() >= LockFacts::TURNS
        && turns.turn() <= LockFacts::LONGEST_TURN
        && even >= EVEN * turns.calls() as f64)
        .then_some(turns)
}

/// The one that is waited for longest, with what its waits take of the threads' time, and how often a second it is handed on. A tracer that
/// stops each call makes a convoy of any busy lock: only where there was none.
#[gated]
fn longest(facts: &Facts) -> Option<(Turns<'_>, Share, f64)> {
    if facts.sched.stretches == 0 {
        return None;
    }
    let turns =
        CALLS.into_iter().filter_map(|syscall| turns_of(facts, syscall)).max_by_key(Turns::waited_ns)?;
    // Calls that were only counted are of all of a thread's life, and not of the time in which each call was recorded.
    let life = |(tid, ..): &(Tid, u64, u64)| {
        let mut threads = facts.world.threads.iter().map(|(_, thread)| thread);
        threads
            .find(|thread| thread.tid == *tid)
            .map_or(0, |thread| thread.last.since(thread.first).or_zero())
    };
    let lives: Vec<u64> = turns.parties.iter().map(life).collect();
    let longest = lives.iter().max().filter(|ns| **ns > 0)?;
    let rate = turns.turns() as f64 * 1e9 / *longest as f64;
    let part = turns.waited_ns() as f64 / lives.into_iter().saturating_sum().max(1) as f64;
    let of = format!("the time of the {} threads that wait", turns.parties.len());
    let share = Share::of_time(Some(part.min(1.0)), of);
    let is_much = share.value.is_some_and(|share| share >= guards::WARNING_SHARE);
    (is_much && rate >= HANDED_PER_S).then_some((turns, share, rate))
}

/// The name of the lock that is told of.
pub(super) fn told(facts: &Facts) -> Option<&str> {
    longest(facts).map(|(turns, ..)| &*turns.lock.name)
}

/// Tells of it.
#[gated]
pub(super) fn tell(facts: &Facts, out: &mut Findings<'_>) {
    let Some((turns, share, rate)) = longest(facts) else { return };
    let rate = Some(rate);
    let threads =
        Measurement::count("threads", turns.parties.len() as u64).at_least(LockFacts::TURN_WAITERS as f64);
    let count = Measurement::count("turns", turns.turns()).at_least(LockFacts::TURNS as f64);
    let mean = Measurement::time("time_per_wait", turns.mean());
    let waited = Measurement::time("time", Nanos::new(turns.waited_ns()));
    let rates =
        guards::rate_figures(facts, ["turns_per_second", "turns_per_second_untraced"], rate, HANDED_PER_S);
    let each = rates.first().map_or(String::new(), |rate| format!(", {rate} per second"));
    let first =
        turns.parties.iter().max_by_key(|(tid, _, ns)| (*ns, std::cmp::Reverse(*tid))).map_or(0, |one| one.0);
    let title = format!(
        "{} take turns at {}: {count} times{each}, {mean} a wait, by sleeping and waking",
        words::plural(turns.parties.len() as u64, "thread"),
        turns.lock.name,
    );
    let share_figure = share.figure().at_least(guards::WARNING_SHARE);
    out.report(share, title)
        .at_most(Severity::Critical)
        .subject(Subject {
            path: Some(turns.lock.name.to_string()).filter(|name| name.starts_with('/')),
            lock: Some(turns.lock.name.to_string()),
            syscall: Some(turns.syscall.to_string()),
            ..Subjects::thread(facts, first)
        })
        .cause(format!(
            "Each wait is short and all threads wait about equally often: the lock is held for moments, but always wanted, and each hand-over costs a wake-up and a switch. {waited} were spent so."
        ))
        .measured_all([threads, count])
        .measured_all(rates)
        .measured_all([mean, Measurement::time("time_per_turn", turns.turn()).at_most(LockFacts::LONGEST_TURN.or_zero() as f64)])
        .measured_all([waited.clone(), share_figure])
        .fix("code: take it less often: gather by each process or thread, and hand over a batch")
        .fix("code: what all change under it in shared memory: atomics, or a pthread mutex of kind PTHREAD_PROCESS_SHARED, which makes no system call while nobody waits")
        .fix("settings: fewer processes or threads: as many as there are CPUs")
        .verify("perf stat -e context-switches -p PID -- sleep 5   (switches per unit of work, before and after)")
        .saving_text(format!("up to {waited} of waiting"))
        .evidence_all(turns.lock.brief_exemplars.iter())
        .file();
}
