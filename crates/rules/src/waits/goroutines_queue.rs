//! # goroutines-queue
//!
//! ## What it is
//! In a Go program several goroutines wait all the time at one place for a lock, or for one that takes what they send on a channel.
//!
//! ## Why it is slow
//! Where on average two and more wait, the lock is never free, or the receiver never done: all of them together go at the speed of the one
//! that holds it or receives. Of a lock it is enough that one waits on average. They are on no thread, so that the program's threads sleep idle
//! and no system call tells of it.
//!
//! ## Example
//! ```text
//! 14.9 goroutines wait in sync.Mutex.Lock at main.reserve (stock.go:42)
//! ```
//!
//! ## What to do instead
//! Hold the lock for less: take what waits (a request, a sync, a sleep) out of the part that it guards, or split it by key. Let several
//! goroutines receive, let the receiver do less for each, or take several at once.
//!
//! ## When it is wrong
//! Goroutines are counted some times a second: these are samples, and no times. A producer that is to be held back waits to send, too:
//! while the program computes all the while, that is no more than a notice.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, ParkedAt, ParkedFor, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "goroutines-queue",
    group: "waits",
    summary: "goroutines queue for a lock, or for a receiver of their channel, all the while",
    source: include_str!("goroutines_queue.rs"),
    needs: &[Need::Table("parked")],
    check,
};

/// Goroutines that wait on average from which on the lock is never free, or the receiver never done: one that waits may be the next one each time.
const MIN_QUEUE: f64 = 2.0;
/// The same of a lock: whoever waits for it could go on, and a program may have no more than two that have something to do. Up to
/// [`MIN_QUEUE`] it is a warning at most.
const MIN_LOCK_QUEUE: f64 = 1.0;
/// CPUs that a program keeps busy from which on its receivers may be slow because they compute.
const BUSY: f64 = 0.5;
/// Fewer of the others, on average, are not worth a word.
const MIN_OTHERS: f64 = 0.3;
/// Places of others that are told.
const MOST_OTHERS: usize = 2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for pid in facts.parked.pids() {
        let all = facts.parked.of(pid);
        let queues = |at: &&ParkedAt| matches!(at.waits, ParkedFor::Lock | ParkedFor::Send);
        let longest = all.iter().filter(queues).max_by(|a, b| a.mean.total_cmp(&b.mean));
        // They take turns at the door: nobody has anything to do.
        let is_door = |at: &ParkedAt| at.waits == ParkedFor::Accept && at.mean >= MIN_OTHERS;
        let is_idle = |queue: &ParkedAt| all.iter().any(|at| at.function == queue.function && is_door(at));
        let is_long = |queue: &ParkedAt| match queue.waits {
            ParkedFor::Lock => queue.mean >= MIN_LOCK_QUEUE,
            _ => queue.mean >= MIN_QUEUE,
        };
        if let Some(queue) = longest.filter(|queue| is_long(queue) && !is_idle(queue)) {
            tell(facts, out, pid, &all, queue);
        }
    }
}

#[gated]
fn tell(facts: &Facts, out: &mut Findings<'_>, pid: Tid, all: &[ParkedAt], queue: &ParkedAt) {
    let is_lock = queue.waits == ParkedFor::Lock;
    // Who waits for others, or for a client, is none that could go on.
    let counts = |at: &&ParkedAt| !matches!(at.waits, ParkedFor::Group | ParkedFor::Accept);
    let waiting = all.iter().filter(counts).fold(0.0, |sum, at| sum + at.mean);
    let part = Measurement::share("share_of_goroutines", queue.mean / waiting);
    let least = if is_lock { MIN_LOCK_QUEUE } else { MIN_QUEUE };
    let mean = Measurement::number("goroutines", queue.mean).at_least(least);
    let cpus = busy(facts, pid);
    let is_busy = cpus.is_none_or(|cpus| cpus >= BUSY);
    let others: Vec<&ParkedAt> = all.iter().filter(|at| is_other(at, queue)).take(MOST_OTHERS).collect();
    let told: Vec<String> = others.iter().map(|at| at.counted()).collect();
    let meanwhile = match (told.is_empty(), is_lock) {
        (true, true) => {
            "Who holds it is on a thread meanwhile: it computes, or is in a system call.".to_string()
        }
        (true, false) => {
            "Who is to receive is on a thread meanwhile: it computes, or is in a system call.".to_string()
        }
        (false, true) => format!(
            "Who holds it may be one of those below the same function. Meanwhile {}.",
            words::list(&told, told.len())
        ),
        (false, false) => format!(
            "Who is to receive may be one of the others. Meanwhile {}.",
            words::list(&told, told.len())
        ),
    };
    let what = match is_lock {
        true => "Only one goroutine at a time goes on, and the lock is never free",
        false => "They have something to hand on, and nobody takes it: all go at the speed of the receiver",
    };
    let [first, second] = match is_lock {
        true => [
            "code: hold the lock for less: do requests, syncs and sleeps before it is taken or after it is given back",
            "code: split it: a lock a key or shard; sync.RWMutex where most only read",
        ],
        false => [
            "code: let several goroutines receive from that channel, or let the receiver take several at once",
            "code: take what waits (a request, a sync, a sleep) out of the loop that receives; a buffer alone only moves the wait",
        ],
    };
    let is_sure = match is_lock {
        // Workers that take turns at a channel or a connection may wait for work.
        true => !others.iter().any(|at| may_be_work(at.waits)),
        false => !is_busy,
    };
    let most = match (is_sure, is_lock) {
        (false, _) => Severity::Notice,
        (true, true) if queue.mean >= MIN_QUEUE => Severity::Critical,
        (true, true) => Severity::Warning,
        // That they are to be held back may be what was meant.
        (true, false) => Severity::Warning,
    };
    out.report(
        Share::of_time(part.value, "the waits of its goroutines, by counts"),
        format!("{mean} goroutines wait all the time in {}: {part} of those that wait", queue.words()),
    )
    .at_most(most)
    .measured(mean)
    .measured(part)
    .measured(Measurement::number("goroutines_waiting", waiting))
    .measured_all(cpus.filter(|_| !is_lock).map(|cpus| {
        let cpus = Measurement::seconds_per_second("cpus", cpus);
        if is_busy { cpus } else { cpus.at_most(BUSY) }
    }))
    .subject(Subject { pid: Some(pid), function: Some(queue.function.clone()), ..Subject::default() })
    .cause(format!("{what}. {meanwhile} Goroutines are counted some times a second: these are means of counts, and no times."))
    .fix(first)
    .fix(second)
    .verify(format!("whyslow diagnose -p {pid}   (after: fewer goroutines that wait there)"))
    .file();
}

/// True for waits that may be for work.
fn may_be_work(waits: ParkedFor) -> bool {
    matches!(waits, ParkedFor::Condition | ParkedFor::Io | ParkedFor::Receive | ParkedFor::Select)
}

/// True for other places where the one may wait that is waited for: below the function in which a lock is taken; of a channel any.
#[gated]
fn is_other(at: &ParkedAt, queue: &ParkedAt) -> bool {
    let is_possible = match queue.waits {
        ParkedFor::Lock => at.function == queue.function && at.waits != ParkedFor::Lock,
        _ => !matches!(at.waits, ParkedFor::Send | ParkedFor::Group | ParkedFor::Accept),
    };
    is_possible && at.mean >= MIN_OTHERS
}

/// CPUs that the threads of a process kept busy; `None` where nothing tells.
#[gated]
fn busy(facts: &Facts, pid: Tid) -> Option<f64> {
    let threads = &facts.world.threads;
    let is_its = |thread: &ThreadFacts| {
        threads.known_process(thread.process).is_some_and(|process| process.pid == Some(pid))
    };
    let threads = threads.iter().filter(|(_, thread)| is_its(thread));
    let ran: Vec<u64> = threads.filter_map(|(_, thread)| Some(thread.sched.as_deref()?.on_cpu_ns)).collect();
    let window = facts.window.whole().get().filter(|ns| *ns > 0)?;
    (!ran.is_empty()).then(|| ran.into_iter().saturating_sum() as f64 / window as f64)
}
