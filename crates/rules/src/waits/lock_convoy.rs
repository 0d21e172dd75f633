//! # lock-convoy
//!
//! ## What it is
//! Several threads take one lock in turn, each for a moment, and each time by sleeping and being woken: the lock is always
//! wanted, and handed from one to the next.
//!
//! ## Why it is slow
//! The work under the lock takes a microsecond, the hand-over by a wake-up and a switch of threads takes ten to a hundred. Once
//! threads have queued up, each one finds the queue again when it comes back: the program runs at the speed of wake-ups, whatever
//! the number of CPUs.
//!
//! ## Example
//! ```text
//! 514 futex(0x5561c0, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.000112>
//! 514 futex(0x5561c0, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000021>
//! ```
//!
//! Semaphores (semop) and locks on files (flock) are judged by what all calls of the threads that take them took.
//!
//! ## What to do instead
//! Take the lock less often: work in batches, gather in a buffer of the thread and hand over many at once. A lock that
//! spins for a moment before it sleeps (adaptive mutexes). Counters a thread, atomics, a sharded map.
//!
//! ## When it is wrong
//! A lock made of semaphores or of a condition is known by the order in which threads wake each other; one of Java, whose threads park each at
//! an address of its own, by the stacks of waits of a millisecond and more. A barrier wakes many at once and is met once a phase. A tracer that stops each call makes a convoy of any busy lock: there
//! the finding is a notice, and a recording tells (whyslow record).

use super::lock_holder::{self, share_of_waits};
use super::semaphore_turns::{self, EVEN, HANDED_PER_S};
use super::stack_turns;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "lock-convoy",
    group: "waits",
    summary: "one lock, held for moments, is handed from thread to thread by sleeping and waking",
    source: include_str!("lock_convoy.rs"),
    needs: &[
        Need::Durations,
        Need::Clock,
        Need::AnyOf(&["futex", "futex_time64", "semop", "semtimedop", "flock"]),
    ],
    check,
};

/// Wake-ups wake one: more is a barrier or a broadcast.
const WOKEN_EACH: f64 = 1.2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    semaphore_turns::tell(facts, out);
    let convoys = lock_holder::known_locks(facts).filter(|known| is_convoy(facts, known.process, known.lock));
    let Some(known) = convoys.min_by_key(|known| (std::cmp::Reverse(known.lock.wait_ns), known.address))
    else {
        return stack_turns::tell(facts, out);
    };
    let lock = known.lock;
    let share = share_of_waits(facts, known.process, lock, lock.wait_ns);
    let traced = facts.sched.stretches == 0;
    let names = ["waits_per_second", "waits_per_second_untraced"];
    let rates = guards::rate_figures(facts, names, facts.window.per_second(lock.waits), HANDED_PER_S);
    let rate = rates.first().map_or(String::new(), |rate| format!(", {rate} per second"));
    let waits = Measurement::count("waits", lock.waits).at_least(LockFacts::TURNS as f64);
    let threads = Measurement::count("threads", lock.waiters.len() as u64);
    let turn = Measurement::time("time_per_turn", lock.turn());
    let mean = Measurement::time("time_per_wait", lock.mean());
    let waited = Measurement::time("time", lock.waited());
    let share_figure = share.figure().at_least(guards::WARNING_SHARE);
    let saving = format!("up to {waited} of waiting");
    let first = lock.waiters.iter().max_by_key(|waiter| waiter.ns).map_or(0, |waiter| waiter.tid);
    let subject = Subject {
        lock: Some(known.all_names()),
        syscall: Some("futex".to_string()),
        ..Subjects::thread(facts, first)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let by_order = known.handed.map_or(String::new(), lock_holder::by_order);
    let tracer = if traced {
        " The tracer stops each of these calls and makes the queue longer; record without it to know."
    } else {
        ""
    };
    out.report(
        share,
        // The figures come last: where the sentence is too long, they go first.
        format!(
            "{} take turns at the lock {}: {waits} times{rate}, {mean} a wait, by sleeping and waking",
            words::plural(lock.waiters.len() as u64, "thread"),
            known.name(),
        ),
    )
    .at_most(if traced { Severity::Notice } else { Severity::Critical })
    .confidence(if traced { 0.5 } else { 0.8 })
    .subject(subject)
    .cause(format!(
        "Each wait is short and all threads wait about equally often: the lock is held for moments, but always wanted, and each hand-over costs a wake-up and a switch. {waited} were spent so.{by_order}{tracer}"
    ))
    .measured(threads.at_least(LockFacts::TURN_WAITERS as f64))
    .measured(waits)
    .measured_all(rates)
    .measured(mean)
    .measured(turn.at_most(LockFacts::LONGEST_TURN.or_zero() as f64))
    .measured(waited)
    .measured(Measurement::number("fewest_waits_by_mean", fewest_by_mean(lock)).at_least(EVEN))
    .measured_all(woken_each(lock).map(|each| Measurement::number("woken_per_wake", each).at_most(WOKEN_EACH)))
    .measured_all(known.handed.map(lock_holder::order_figures).unwrap_or_default())
    .measured(share_figure)
    .fix("code: take it less often: gather in a buffer of the thread, hand over a batch; take several items from a queue at once")
    .fix("code: a lock that spins shortly before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP, parking_lot, absl::Mutex); atomics for counters; shards")
    .fix("settings: fewer threads: as many as there are CPUs")
    .verify(format!("perf stat -e context-switches -p {pid} -- sleep 5   (switches per unit of work, before and after)"))
    .saving_text(saving)
    .evidence_all(lock.exemplars.iter().take(1))
    .file();
}

#[gated]
fn is_convoy(facts: &Facts, process: ProcessId, lock: &LockFacts) -> bool {
    let waiters = lock.waiters.len();
    if !lock.is_handed_in_turns() {
        return false;
    }
    let even = fewest_by_mean(lock) >= EVEN;
    let single = woken_each(lock).is_none_or(|each| each <= WOKEN_EACH);
    // Each of them hands it on: a producer that wakes its workers is none.
    let handed = lock.wakers.iter().filter(|waker| lock.waiters.iter().any(|waiter| waiter.tid == waker.tid));
    let worth = share_of_waits(facts, process, lock, lock.wait_ns);
    even && single
        && handed.count() * 2 >= waiters
        && facts
            .window
            .per_second(lock.waits)
            .is_some_and(|rate| facts.pace.untraced(Some(rate)) >= Some(HANDED_PER_S))
        && worth.value.is_some_and(|share| share >= guards::WARNING_SHARE)
}

/// The waits of the thread that waited least often, as a part of the mean.
fn fewest_by_mean(lock: &LockFacts) -> f64 {
    let fewest = lock.waiters.iter().map(|waiter| waiter.times).min().unwrap_or(0);
    fewest as f64 * lock.waiters.len() as f64 / lock.waits.max(1) as f64
}

/// Threads that a wake woke, on average; `None` where no wake was seen.
#[gated]
fn woken_each(lock: &LockFacts) -> Option<f64> {
    (lock.wakes > 0).then(|| lock.woken as f64 / lock.wakes as f64)
}
