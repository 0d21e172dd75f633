//! # file-lock-contention
//!
//! ## What it is
//! Threads or processes wait for a lock on a file (flock, fcntl) or for a semaphore (semop), again and again: in the call, or asleep between
//! tries that are refused (SQLite's busy timeout).
//!
//! ## Why it is slow
//! Such a lock is one for all processes: whoever waits does nothing else. Mostly the holder writes and syncs under it, so that
//! each wait is as long as the disk takes, and with more processes each waits for more of them.
//!
//! ## Example
//! ```text
//! 10428 flock(5, LOCK_EX) = 0 <0.003831>
//! 10429 fcntl(7, F_SETLKW, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0 <0.210044>
//! ```
//!
//! ## What to do instead
//! Hold it for less: prepare first, lock, write, unlock; sync after it where order allows. A lock a file or a range instead of one
//! for all. SQLite: WAL mode and one writer. A queue with one process that writes.
//!
//! ## When it is wrong
//! Where a tracer stops so many calls that it has no pause, what is done under the lock takes as long as the tracer does: then the
//! finding is a notice. A standby that waits for the leader's lock waits on purpose: a wait or two that last as long as the capture are not
//! counted.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::file_locks::FileLock;
use whyslow_model::{ChainLink, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "file-lock-contention",
    group: "waits",
    summary: "processes wait for a lock on a file or for a semaphore",
    source: include_str!("file_lock_contention.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["flock", "fcntl", "fcntl64", "semop", "semtimedop"])],
    check,
};

/// Fewer waits are a standby's or a start's.
const MIN_WAITS: u64 = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // What is handed on in turns is a convoy.
    let in_turns = super::semaphore_turns::told(facts);
    let contended =
        facts.file_locks.rows.iter().filter(|lock| lock.waits >= MIN_WAITS && Some(&*lock.name) != in_turns);
    let mut found: Vec<(Share, &FileLock)> = contended.map(|lock| (share(facts, lock), lock)).collect();
    found.sort_by_key(|(_, lock)| std::cmp::Reverse(lock.wait_ns));
    for (share, lock) in found {
        let worth = share.value.is_some_and(|share| share >= guards::WARNING_SHARE) && !facts.pace.saturated;
        let mean = Measurement::time("time_per_wait", Nanos::new(lock.wait_ns / lock.waits.max(1)));
        let waits = Measurement::count("waits", lock.waits);
        let waited = Measurement::time("time", lock.waited());
        let title = format!(
            "{}: {waits} {} of {mean} for the lock by {}",
            lock.name,
            if lock.waits == 1 { "wait" } else { "waits" },
            words::plural(lock.waiters.len() as u64, "thread"),
        );
        let first =
            lock.waiters.iter().max_by_key(|(tid, ns)| (*ns, std::cmp::Reverse(*tid))).map_or(0, |one| one.0);
        let held = lock.main_holder().map(|(tid, ns)| (tid, Measurement::time("time_of_holder", ns)));
        let holder = match &held {
            Some((tid, time)) => format!(" Thread {tid} had it during {time} of that."),
            // Who is behind a wait is told of those that are kept apart.
            None if facts.followed.rows().iter().any(|row| !row.is_caller()) => String::new(),
            None => " Who had it is not in the capture: its process was not traced.".to_string(),
        };
        let refused = match lock.refused {
            0 => String::new(),
            times => format!(
                " It was refused {}: who wants it sleeps, and tries again.",
                words::plural(times, "time")
            ),
        };
        let tracer = match facts.pace.saturated {
            true => {
                " The tracer had no pause, so that what is done under the lock took as long as the tracer: record without it to know."
            }
            false => "",
        };
        let mut found = out
            .report(share, title)
            .at_most(if worth { Severity::Critical } else { Severity::Notice })
            .subject(Subject {
                path: Some(lock.name.to_string()).filter(|name| name.starts_with('/')),
                lock: Some(lock.name.to_string()),
                syscall: Some(facts.name_of(lock.syscall).to_string()),
                ..Subjects::thread(facts, first)
            })
            .cause(format!(
                "It was asked for {}; {waits} waited for a millisecond or more, {waited} in all.{refused}{holder}{tracer}",
                words::plural(lock.asked, "time"),
            ))
            .measured(waits.at_least(MIN_WAITS as f64))
            .measured(mean)
            .measured(waited)
            .measured(Measurement::count("threads", lock.waiters.len() as u64))
            .measured(Measurement::count("lock_requests", lock.asked))
            .measured_all((lock.refused > 0).then(|| Measurement::count("refused_requests", lock.refused)))
            .measured_all(held.map(|(_, time)| time))
            .fix("code: shorten what is done under the lock: no fsync, network or start of programs; prepare before, unlock, then the rest")
            .fix("code: a lock for each file or record (fcntl with l_start and l_len) instead of one for all; or one process that writes, fed by a queue")
            .fix("SQLite: PRAGMA journal_mode=WAL, busy_timeout, short transactions; package managers and cron jobs: do not start them at the same minute")
            .verify("cat /proc/locks; lslocks -o COMMAND,PID,TYPE,MODE,BLOCKER,PATH   (while it waits: BLOCKER names the holder)")
            .saving_text(format!("up to {} of waiting, if the lock were free", lock.waited()))
            .evidence_all(lock.exemplars.iter());
        if let Some((line, holder)) = lock.longest.as_deref() {
            found = found.evidence(Some(line)).link(ChainLink {
                who: format!("thread {}", line.tid),
                waits_for: format!("{}, held by thread {holder}", lock.name),
                ns: line.dur,
                evidence: facts.evidence(line).source,
            });
        }
        found.file();
    }
}

/// The waits' part of the time of the threads that wait.
fn share(facts: &Facts, lock: &FileLock) -> Share {
    let waited = lock.waiters.iter().map(|(_, ns)| *ns).saturating_sum();
    guards::share_of_waiters(facts, None, lock.waiters.iter().map(|(tid, _)| *tid), waited)
}
