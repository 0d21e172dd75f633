//! # lock-contention
//!
//! ## What it is
//! Several threads wait for one lock: many futex waits on one address that is a held mutex, and they take a good part of
//! the threads' time.
//!
//! ## Why it is slow
//! Only the holder goes on; the others sleep, and each hand-over costs a wake-up and a switch of threads. More threads
//! then bring no more work done. Where the holder does I/O with the lock held, all wait for that I/O.
//!
//! ## Example
//! ```text
//! 11091 futex(0x7f004c01e354, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.012043>
//! 24594 futex(0x7f004c01e354, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000012>
//! ```
//!
//! A server that has a process for each session (PostgreSQL) keeps its locks on rows and tables itself. There the requests of one session
//! wait until another session, at its COMMIT, signals that process:
//!
//! ```text
//! 10034 recvfrom(6, "Q\0\0\0\vCOMMIT\0", 8192, 0, NULL, NULL) = 12 <0.000009>
//! 10034 kill(10041, SIGURG) = 0 <0.000011>
//! 10041 <... epoll_wait resumed>...) = 1 <0.424356>
//! ```
//!
//! Processes that are forked behind the mapping share a lock at one address (a semaphore, a mutex in shared memory): the futex calls have no
//! `_PRIVATE` then, and it is one lock, told of the first process that used it.
//!
//! In a Go program whoever waits for a lock is a goroutine on no thread. They are counted by where they wait:
//!
//! ```text
//! 14.9 goroutines wait all the time in sync.Mutex.Lock at main.reserve (stock.go:42)
//! ```
//!
//! ## What to do instead
//! Hold the lock for less: no I/O, logging or allocation under it. Split it (a lock a shard, a queue a thread), replace it
//! by an atomic or a read-mostly structure, or hand over in batches.
//!
//! ## When it is wrong
//! A worker that waits on a condition variable is idle, not held up: such waits are not counted. A mutex is known by
//! the value 2 that glibc, musl and Rust store in one that is wanted, or by FUTEX_LOCK_PI. Locks of the JVM
//! park each thread at an address of its own, and Go's threads sleep at their scheduler's, so that a trace of system calls cannot tell waiting
//! for a lock from having nothing to do: record it live, or take a thread dump (jstack) or a mutex profile (pprof) there. Goroutines are
//! counted some times a second; those that wait at the door of a channel or a socket may have no work. A semaphore or a condition counts where those
//! that wait have a request in hand, or where who was woken wakes the next one. A lock around the end of a queue, under which one worker
//! waits for a job and the others for their turn, is none. A hand-cut excerpt of long
//! waits is reported as a notice with who woke whom.

use super::lock_holder::{self, MIN_WAITS, SHORT_WAIT, share_of_waits};
use super::root_holder::{self, RootHolder};
use super::{goroutine_locks, lock_excerpt, session_locks, stack_locks};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::locks::LockFacts;
use whyslow_model::{Measurement, Nanos, Severity, Subject, Tid};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "lock-contention",
    group: "waits",
    summary: "threads spend their time waiting for one lock",
    source: include_str!("lock_contention.rs"),
    needs: &[Need::Either(&[OF_CALLS[0], GOROUTINES]), Need::Either(&[OF_CALLS[1], GOROUTINES])],
    check,
};

/// What tells of locks that threads wait for.
const OF_CALLS: [Need; 2] = [Need::Durations, Need::AnyOf(&["futex", "futex_time64", "kill"])];
/// What tells of those of Go.
const GOROUTINES: Need = Need::Table("parked");

/// Findings of this rule in one diagnosis.
const MAX_REPORTED: usize = 3;

type Lock<'a> = lock_holder::KnownLock<'a>;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // What threads of such a program wait for at futexes is the runtime's.
    let of_go = goroutine_locks::report(facts, out);
    if let Some((missing, supply)) = OF_CALLS.iter().find_map(|need| need.missing(facts)) {
        if of_go.is_empty() {
            out.not_judged(missing, supply);
        }
        return;
    }
    session_locks::report(facts, out);
    let is_of_go = |process| {
        let pid = facts.world.threads.known_process(process).and_then(|process| process.pid);
        pid.is_some_and(|pid| of_go.contains(&pid))
    };
    let mut locks: Vec<(Share, Lock<'_>)> = lock_holder::known_locks(facts)
        .filter(|known| is_contended(known.lock) && !is_of_go(known.process))
        .map(|known| (share_of_waits(facts, known.process, known.lock, known.lock.wait_ns), known))
        .filter(|(share, _)| share.value.is_some_and(|value| value >= guards::WARNING_SHARE))
        .collect();
    locks.sort_by_key(|(_, known)| (std::cmp::Reverse(known.lock.wait_ns), known.address));
    let all = locks.len();
    for (i, (share, lock)) in locks.into_iter().take(MAX_REPORTED).enumerate() {
        let more = if i + 1 == MAX_REPORTED { all - MAX_REPORTED } else { 0 };
        report(facts, out, share, lock, more);
    }
    if all == 0
        && of_go.is_empty()
        && !stack_locks::report(facts, out)
        && facts.total_calls() < guards::FEW_CALLS
    {
        lock_excerpt::report(facts, out);
    }
}

/// Many waits for a held mutex, by more than one thread or with the one who hands it on in sight.
#[gated]
fn is_contended(lock: &LockFacts) -> bool {
    let waker_seen =
        lock.wakers.iter().any(|waker| lock.waiters.iter().any(|waiter| waiter.tid != waker.tid));
    lock.waits + lock.changed_first >= MIN_WAITS
        && lock.mutex_waits * 2 >= lock.waits
        && (lock.waiters.len() >= 2 || waker_seen)
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, share: Share, known: Lock<'_>, more: usize) {
    let Lock { process, address, lock, handed } = known;
    let name = known.name();
    let mut waiters = lock.waiters.clone();
    waiters.sort_by_key(|waiter| (std::cmp::Reverse(waiter.ns), waiter.tid));
    let waits = Measurement::count("waits", lock.waits);
    let waited = Measurement::time("time", lock.waited());
    let mean = Measurement::time("time_per_wait", lock.mean());
    let changed_first = Measurement::count("waits_without_sleep", lock.changed_first);
    let title = format!(
        "{} {} {waited} for the lock {name}: {waits} waits, {mean} each on average",
        words::plural(waiters.len() as u64, "thread"),
        if waiters.len() == 1 { "waits" } else { "wait" },
    );
    let who: Vec<String> =
        waiters.iter().take(4).map(|waiter| format!("{} ({})", waiter.tid, Nanos::new(waiter.ns))).collect();
    let holder = lock_holder::main_waker_words(lock);
    let doing = lock_holder::doing(facts, lock);
    let by_order = handed.map_or(String::new(), lock_holder::by_order);
    let changed = if lock.changed_first > 0 {
        format!(
            " {changed_first} more waits did not sleep, as the lock changed hands in that moment (EAGAIN)."
        )
    } else {
        String::new()
    };
    let rest = if more > 0 {
        format!(" {} more are contended too.", words::plural(more as u64, "lock"))
    } else {
        String::new()
    };
    let first = waiters.first().map_or(0, |waiter| waiter.tid);
    let places: &[u64] = handed.map_or(std::slice::from_ref(&address), |handed| &handed.places);
    // Of a lock that processes share, each has waiters.
    let is_waiter = |tid: Tid| lock.waiters.iter().any(|waiter| waiter.tid == tid);
    let root = root_holder::of(facts, |call| {
        is_waiter(call.tid) && call.lock().is_some_and(|address| places.contains(&address))
    });
    let held_by = root.as_ref().map_or(String::new(), RootHolder::words);
    let subject = Subject {
        lock: Some(known.all_names()),
        syscall: Some("futex".to_string()),
        // What is done under the lock is what to change.
        function: root.as_ref().and_then(|root| callers::function(root.site.as_ref())),
        ..Subjects::thread(facts, first)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let longest = lock.longest.as_deref();
    // A tracer makes a convoy of any busy lock.
    let is_traced_convoy = facts.sched.stretches == 0 && lock.is_handed_in_turns();
    let is_much = share.value.is_some_and(|value| value >= guards::CRITICAL_SHARE) && !is_traced_convoy;
    let short = lock.mean() < SHORT_WAIT && !is_much;
    let tracer = if short {
        " The waits are short: without the tracer, which slows what is done under the lock, they may be next to nothing."
    } else {
        ""
    };
    let share_figure = share.figure().at_least(guards::WARNING_SHARE);
    let saving = format!("up to {waited} of waiting, if the lock were free");
    let found = out
        .report(share, format!("{title}{held_by}"))
        .measured(Measurement::count("threads", waiters.len() as u64))
        .measured(waited)
        .measured(waits)
        .measured(mean)
        .measured(changed_first)
        .measured(
            Measurement::count("contended_attempts", lock.waits + lock.changed_first).at_least(MIN_WAITS as f64),
        )
        .measured_all(handed.is_none().then(|| Measurement::count("mutex_waits", lock.mutex_waits)))
        .measured(share_figure)
        .measured_all(lock_holder::figures(lock))
        .measured_all(handed.map(lock_holder::order_figures).unwrap_or_default())
        .measured_all((more > 0).then(|| Measurement::count("other_locks", more as u64)))
        .at_most(if short { Severity::Notice } else { Severity::Critical })
        .confidence(if short { 0.5 } else { 0.9 })
        .subject(subject)
        .cause(format!("Waiting: {}.{by_order}{changed}{holder}{doing}{rest}{tracer}", who.join(", ")))
        .fix(lock_holder::first_fix(facts, lock, &pid))
        .fix("code: no I/O, logging, allocation or calls to others under the lock; copy what is needed, unlock, then work")
        .fix("code: split it: a lock a shard or key, a queue a thread, per-thread counters added up on reading; read-mostly data: RCU or an atomic pointer")
        .fix("settings: fewer threads than wait now; malloc's own locks: MALLOC_ARENA_MAX up, or jemalloc/tcmalloc by LD_PRELOAD")
        .verify(format!("perf lock contention -ab -p {pid} -- sleep 5, or bcc: futexctn -p {pid} 5   (before and after)"))
        .saving_text(saving)
        .evidence(longest.map(|wait| &wait.exemplar))
        .evidence(longest.and_then(|wait| wait.wake_exemplar.as_ref()))
        .evidence_all(lock.exemplars.iter());
    lock_holder::shown(facts, found, process, address, lock).file();
}
