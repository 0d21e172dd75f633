//! A hand-cut excerpt of long waits for locks: who woke whom, and what that one had waited for.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_facts::folds::locks::LockWait;
use whyslow_model::{ChainLink, Measurement, Nanos, Severity, Subject};

/// Waits that a user would notice.
const LONG_WAIT: Nanos = Nanos::from_millis(500);

/// Reports the longest wait whose waker is seen, and which had itself been waiting.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) {
    let waits = facts.locks.iter().filter_map(|(process, address, lock)| {
        let wait = lock.longest.as_deref().filter(|wait| wait.dur >= LONG_WAIT && wait.dur.is_known())?;
        let (waker, _) = wait.waker?;
        let (behind, behind_wait) =
            facts.locks.iter().filter(|(owner, ..)| *owner == process).find_map(|(_, other, lock)| {
                let theirs = lock.longest.as_deref()?;
                (theirs.tid == waker && other != address && overlap(wait, theirs) * 2 >= wait.dur.or_zero())
                    .then_some((other, theirs))
            })?;
        Some((address, wait, waker, behind, behind_wait))
    });
    let Some((address, wait, waker, behind, behind_wait)) =
        waits.max_by_key(|(address, wait, ..)| (wait.dur, *address))
    else {
        return;
    };
    let share = guards::share_of_ns(facts, Some(wait.tid), wait.dur, 1);
    let link = |wait: &LockWait, address: u64| {
        let at = facts.evidence(&wait.exemplar).source;
        ChainLink {
            who: format!("thread {}", wait.tid),
            waits_for: format!("futex {address:#x}"),
            ns: wait.dur,
            evidence: at,
        }
    };
    let subject = Subject {
        lock: Some(format!("{address:#x}")),
        syscall: Some("futex".to_string()),
        ..Subjects::thread(facts, wait.tid)
    };
    let time = Measurement::time("longest", wait.dur);
    let behind_time = Measurement::time("longest_of_waker", behind_wait.dur);
    out.report(share, format!("thread {} waits {time} at futex {address:#x}, woken by thread {waker}", wait.tid))
        .at_most(Severity::Notice)
        .confidence(0.5)
        .subject(subject)
        .cause(format!(
            "Thread {waker}, which woke it, had itself waited {behind_time} at futex {behind:#x}: the cause lies behind that one. An excerpt does not show whether the first thread had work to do."
        ))
        .measured(time.at_least(LONG_WAIT.or_zero() as f64))
        .measured(behind_time)
        .fix(format!("find who wakes futex {behind:#x}, and what that thread waits for: record all threads, strace -f -ttT -o trace.st -p PID"))
        .verify("jstack PID (Java), gdb -p PID -batch -ex 'thread apply all bt' (others), during such a wait")
        .link(link(wait, address))
        .link(link(behind_wait, behind))
        .evidence(Some(&wait.exemplar))
        .evidence(wait.wake_exemplar.as_ref())
        .evidence(Some(&behind_wait.exemplar))
        .file();
}

/// How long both waits lasted together, ns.
#[gated]
fn overlap(a: &LockWait, b: &LockWait) -> u64 {
    let (Some(a_start), Some(b_start)) = (a.ts.get(), b.ts.get()) else { return 0 };
    let end = (a_start + a.dur.or_zero()).min(b_start + b.dur.or_zero());
    end.saturating_sub(a_start.max(b_start))
}
