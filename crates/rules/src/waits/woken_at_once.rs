//! Conditions at which each wake wakes a whole pool, and one thread finds something to do.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Severity, Subject};

/// Threads woken by one wake: at a barrier or the begin of a parallel loop as many threads as CPUs have work.
const MIN_EACH: f64 = 16.0;
/// Wake-ups a second: with two switches and two calls each, some 10 us, a fiftieth of a CPU.
const WAKE_UPS_PER_S: f64 = 2_000.0;
/// Wakes of many: fewer are a start or an end.
const MIN_WAKES: u64 = 50;
/// Of a recording that gave calls up for a part of the time, wakes of many that tell as much as those at least.
const LEAST_WAKES: u64 = 10;
/// The part of their time that the threads sleep there all the same: who is woken for work works then.
const SLEEPING: f64 = 0.5;

struct Crowd<'f> {
    process: ProcessId,
    address: u64,
    lock: &'f LockFacts,
    /// Wakes that woke somebody.
    wakes: u64,
    /// Threads that they woke, and those that were just about to sleep and had to look again, as the value had changed.
    woken: u64,
    rate: f64,
}

/// Reports conditions of pools.
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) {
    let crowds = facts.locks.iter().filter_map(|(process, address, lock)| {
        let woken = lock.woken.saturating_add(lock.changed_first);
        let rate = facts.window.per_second(woken)?;
        let wakes = lock.wakers.iter().map(|waker| waker.times).sum();
        Some(Crowd { process, address, lock, wakes, woken, rate })
    });
    let mut crowds: Vec<Crowd<'_>> = crowds.filter(|crowd| is_herd(facts, crowd)).collect();
    crowds.sort_by_key(|crowd| (std::cmp::Reverse(crowd.woken), crowd.address));
    crowds.iter().for_each(|crowd| tell(facts, out, crowd));
}

#[gated]
fn is_herd(facts: &Facts, crowd: &Crowd<'_>) -> bool {
    let lock = crowd.lock;
    let many = crowd.wakes >= least_wakes(facts) && each(crowd) >= MIN_EACH && crowd.rate >= WAKE_UPS_PER_S;
    // At a barrier who comes last wakes the others, and each has its part of the work.
    let waits = |tid| lock.waiters.iter().any(|waiter| waiter.tid == tid);
    let by_others = lock.main_waker().is_some_and(|waker| !waits(waker.tid));
    // Those that look again before they sleep are awake for that alone.
    let looks_again = lock.changed_first > lock.woken;
    let is_idle = looks_again || sleeping(facts, lock).is_none_or(|part| part >= SLEEPING);
    many && by_others && !lock.is_mutex() && is_idle
}

/// What [`MIN_WAKES`] is of the time in which calls were recorded.
#[gated]
fn least_wakes(facts: &Facts) -> u64 {
    match (facts.recording.told().get(), facts.window.whole().get()) {
        (Some(told), Some(whole)) if whole > 0 => {
            let part = told as f64 / whole as f64;
            ((MIN_WAKES as f64 * part) as u64).max(LEAST_WAKES)
        }
        _ => MIN_WAKES,
    }
}

fn each(crowd: &Crowd<'_>) -> f64 {
    crowd.woken as f64 / crowd.wakes.max(1) as f64
}

/// The part of the time in which calls were recorded that the threads slept there; `None` where no durations are known.
#[gated]
fn sleeping(facts: &Facts, lock: &LockFacts) -> Option<f64> {
    let known = facts.recording.told().get().or(facts.window.whole().get());
    let window = known.filter(|ns| *ns > 0)? as f64;
    let slept: u64 = lock.waiters.iter().map(|waiter| waiter.ns).sum();
    lock.waited().get().map(|_| slept as f64 / (window * lock.waiters.len().max(1) as f64))
}

fn tell(facts: &Facts, out: &mut Findings<'_>, crowd: &Crowd<'_>) {
    let lock = crowd.lock;
    let waker = lock.main_waker().map_or(0, |waker| waker.tid);
    let name = format!("{:#x}", crowd.address);
    let threads = facts.world.threads.known_process(crowd.process).and_then(|process| process.name());
    let whose = threads.map_or(String::new(), |name| format!(" of {name}"));
    let each = Measurement::number("woken_by_each_wake", each(crowd)).at_least(MIN_EACH);
    let rate = Measurement::per_second("wake_ups_per_second", crowd.rate).at_least(WAKE_UPS_PER_S);
    let wakes = Measurement::count("wakes", crowd.wakes).at_least(least_wakes(facts) as f64);
    let woken = Measurement::count("threads_woken", crowd.woken);
    let sleeping = sleeping(facts, lock)
        .map(|part| Measurement::share("sleeping_share", part.min(1.0)).at_least(SLEEPING));
    let title = format!(
        "thread {waker} wakes all that wait at {name}{whose}: {each} threads each time, {rate} per second, and they go to sleep again"
    );
    out.report(Share::unknown(), title)
        .at_least(Severity::Warning)
        .at_most(Severity::Warning)
        .subject(Subject {
            lock: Some(name),
            syscall: Some("futex".to_string()),
            ..Subjects::thread(facts, waker)
        })
        .cause(format!(
            "{wakes} calls woke {woken} threads, which wait at the same address again. Where each wake is for one piece of work, one thread gets it and the others ran for nothing."
        ))
        .measured_all([each, rate, wakes, woken])
        .measured_all(sleeping)
        .fix("code: wake one for one piece of work: notify_one, pthread_cond_signal, Condvar::notify_one, a semaphore; notify_all only where the state changes for all (the end)")
        .fix("code: fewer threads, as many as CPUs; conditions of their own for those that wait for different things")
        .verify("strace -f -e trace=futex -p PID: FUTEX_WAKE returns 1; pidstat -w 1 (cswch/s falls)")
        .evidence_all(lock.exemplars.iter().take(2))
        .file();
}
