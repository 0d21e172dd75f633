//! # lock-held-across-io
//!
//! ## What it is
//! A thread holds a lock while it reads, writes, syncs or waits for a peer, and others sleep at the lock meanwhile.
//!
//! ## Why it is slow
//! The lock then takes as long as the disk or the network: one slow call stops all who need the lock, and adding threads
//! adds waiters. What it protects rarely needs it during the call.
//!
//! ## Example
//! ```text
//! 24594 fsync(7) = 0 <0.011042>
//! 24594 futex(0x7f004c01e354, FUTEX_WAKE_PRIVATE, 1) = 1 <0.000012>
//! 11091 <... futex resumed>) = 0 <0.011630>
//! ```
//!
//! ## What to do instead
//! Copy what the call needs under the lock, unlock, call, and lock again to store the result. For a log or a journal: a
//! queue and one thread that writes for all (group commit). For a cache that fills itself: a placeholder (single flight).
//!
//! ## When it is wrong
//! The lock of a write-ahead log is held across its sync on purpose; there the fix is to let others join the commit. A
//! mutex is known by the value 2 that glibc, musl and Rust store; locks of other making (CPython's are semaphores) by threads
//! that wait for them and then wake the next one. Workers of a pool may do so at their queue, too: where requests are served, such a lock
//! counts only if a thread that answers one waits for it. Locks of the JVM are not seen. Of Go a lock counts
//! where, in the function that takes it, a goroutine waits for an answer or a connection meanwhile, which are parked: one that is in a call (fsync) is on a thread, and not counted.

use super::goroutine_locks;
use super::lock_holder::{self, share_of_waits};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::locks::{HeldAcross, LockFacts};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, Nanos, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "lock-held-across-io",
    group: "waits",
    summary: "a lock is held during a slow call, and others sleep through it",
    source: include_str!("lock_held_across_io.rs"),
    needs: &[Need::Either(&[OF_CALLS[0], GOROUTINES]), Need::Either(&[OF_CALLS[1], GOROUTINES])],
    check,
};

/// What tells of locks that threads wait for.
const OF_CALLS: [Need; 2] = [Need::Durations, Need::AnyOf(&["futex", "futex_time64"])];
/// What tells of those of Go.
const GOROUTINES: Need = Need::Table("parked");

/// Fewer waits slept through the call are chance.
const MIN_WAITS: u64 = 5;
/// The part of the lock's waiting that the call must explain.
const PART: f64 = 0.30;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let of_go = goroutine_locks::report_across_io(facts, out);
    if let Some((missing, supply)) = OF_CALLS.iter().find_map(|need| need.missing(facts)) {
        if of_go == 0 {
            out.not_judged(missing, supply);
        }
        return;
    }
    let mut found: Vec<(ProcessId, u64, &LockFacts, &HeldAcross)> = facts
        .locks
        .iter()
        .filter(|(_, _, lock)| {
            lock.mutex_waits * 2 >= lock.waits
                || lock.is_passed_on() && !lock_holder::is_of_a_pool(facts, lock)
        })
        .filter_map(|(process, address, lock)| {
            let held = lock.held_across.iter().filter(|held| is_io(held.syscall));
            let held = held.max_by_key(|held| held.wait_ns)?;
            let much = held.waits >= MIN_WAITS && part_of_waiting(lock, held) >= PART;
            much.then_some((process, address, lock, held))
        })
        .collect();
    found.sort_by_key(|(_, address, _, held)| (std::cmp::Reverse(held.wait_ns), *address));
    for (process, address, lock, held) in found {
        let share = share_of_waits(facts, process, lock, held.wait_ns);
        if share.value.is_none_or(|share| share < guards::WARNING_SHARE) {
            continue;
        }
        let call = lock_holder::named(facts, held);
        let waited = Measurement::time("time_during_call", Nanos::new(held.wait_ns));
        let all = Measurement::time("time", lock.waited());
        let share_figure = share.figure().at_least(guards::WARNING_SHARE);
        let saving = format!("up to {waited} of waiting");
        let holder = Subjects::thread(facts, held.longest.tid);
        let pid = holder.pid.map_or("PID".to_string(), |pid| pid.to_string());
        let title = format!(
            "the lock {address:#x} is held during {call}: {} of {} sleep through it",
            words::plural(held.waits, "wait"),
            words::plural(lock.waiters.len() as u64, "thread"),
        );
        let report = out
            .report(share, title)
            .at_most(Severity::Critical)
            .subject(Subject {
                lock: Some(format!("{address:#x}")),
                syscall: Some(facts.name_of(held.syscall).to_string()),
                path: held.target.as_deref().filter(|target| target.starts_with('/')).map(str::to_string),
                ..holder
            })
            .cause(format!(
                "{waited} of {all} in waits for this lock passed while its holder was in {call}; after it the holder woke the waiter."
            ))
            .measured(Measurement::count("waits_during_call", held.waits).at_least(MIN_WAITS as f64))
            .measured(Measurement::count("threads", lock.waiters.len() as u64))
            .measured(waited)
            .measured(all)
            .measured(Measurement::share("share_of_waiting", part_of_waiting(lock, held)).at_least(PART))
            .measured(share_figure)
            .fix(format!("code: unlock before {call}: copy what it needs under the lock, make the call, lock again to store the result"))
            .fix("code: a journal or a log: put records into a queue under the lock, and let one thread write and sync for all (group commit)")
            .fix("code: a cache: a placeholder for what is being fetched (single flight), so that only those who need that entry wait")
            .verify(format!("strace -f -k -e trace=futex,{} -p {pid}: no wake right behind the call after the change", facts.name_of(held.syscall)))
            .saving_text(saving);
        lock_holder::shown(facts, report, process, address, lock).file();
    }
}

/// The part of the lock's waiting that passed during the call.
fn part_of_waiting(lock: &LockFacts, held: &HeldAcross) -> f64 {
    held.wait_ns as f64 / lock.wait_ns.max(1) as f64
}

/// Calls that read, write, sync or open something: those that a lock need not be held for.
fn is_io(syscall: Syscall) -> bool {
    let info = syscall.info();
    let path = info.path != whyslow_model::syscall::PathArg::None;
    let descriptor = info.fd != whyslow_model::syscall::FdArg::None;
    (path || descriptor) && !matches!(info.class, Class::Wait | Class::Sync)
}
