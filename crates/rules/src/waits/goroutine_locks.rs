//! Locks of Go: who waits for one is on no thread, so that no system call tells of it. The counts of goroutines do, and where they wait.

use super::goroutines::{self, Queue};
use crate::callers;
use crate::engine::Findings;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_facts::samples::Site;
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, ParkedAt, ParkedFor, SampleKind, Severity, Subject};

/// Goroutines that wait for a lock on average from which on it is never free: whoever waits for it could go on.
const MIN_LOCK_QUEUE: f64 = 1.0;
/// Below that it is a warning at most: a program may have no more than two that have something to do.
const LONG_LOCK_QUEUE: f64 = 2.0;
/// CPUs that the program keeps busy, and the part of its samples in one function, from which on the holder may be there.
const HOLDS_BUSY: f64 = 0.25;
const HOLDS_PART: f64 = 0.5;

/// Goroutines in a call on average, in the function that takes the lock, from which on it is made with the lock held; and up to which: one at a
/// time holds it, so that more of them make the call without.
const IN_CALL: (f64, f64) = (0.5, 1.2);

/// Reports the lock that most goroutines of each process wait for, and tells which processes have one.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) -> Vec<Tid> {
    let queues = goroutines::queues(facts, ParkedFor::Lock).filter(|queue| queue.at.mean >= MIN_LOCK_QUEUE);
    let tell = |queue: Queue| {
        tell(facts, out, &queue);
        queue.pid
    };
    queues.map(tell).collect()
}

/// Reports locks whose holder waits for an answer or a connection, in the function in which others wait for the lock.
#[gated]
pub(super) fn report_across_io(facts: &Facts, out: &mut Findings<'_>) -> usize {
    let queues = goroutines::queues(facts, ParkedFor::Lock).filter(|queue| queue.at.mean >= MIN_LOCK_QUEUE);
    let tell = |queue: Queue| {
        let is_one = |at: &ParkedAt| at.mean >= IN_CALL.0 && at.mean <= IN_CALL.1;
        let io = queue.others.iter().find(|at| is_io(at.waits) && is_one(at))?;
        tell_across_io(out, &queue, io);
        Some(())
    };
    queues.filter_map(tell).count()
}

/// What a lock need not be held for. Who reads (`Io`) may wait for a client's next request.
fn is_io(waits: ParkedFor) -> bool {
    matches!(waits, ParkedFor::Answer | ParkedFor::Connection)
}

#[gated]
fn tell_across_io(out: &mut Findings<'_>, queue: &Queue, io: &ParkedAt) {
    let mean = queue.mean().at_least(MIN_LOCK_QUEUE);
    let part = queue.part();
    let holders = Measurement::number("goroutines_in_call", io.mean).at_least(IN_CALL.0);
    let pid = queue.pid;
    out.report(
        Share::of_time(part.value, "the waits of its goroutines, by counts"),
        format!(
            "the lock at {} is held during {} ({}): {mean} goroutines wait for it all the time",
            queue.at.site(),
            io.call,
            io.place.as_deref().unwrap_or("unknown line"),
        ),
    )
    .measured(mean)
    .measured(part)
    .measured(queue.waiting())
    .measured(holders.clone())
    .subject(Subject { pid: Some(pid), function: Some(queue.at.function.clone()), ..Subject::default() })
    .cause(format!(
        "While they wait in {}, {holders} of the same function is in {} on average. {}",
        queue.at.call,
        io.call,
        goroutines::COUNTED
    ))
    .fix(format!("code: unlock before {}: copy what it needs under the lock, ask, lock again to store the result", io.call))
    .fix("code: a cache: a placeholder for what is being fetched (singleflight), so that only those who need that entry wait")
    .verify(format!("whyslow diagnose -p {pid}   (after: fewer goroutines that wait there)"))
    .file();
}

/// What the holder does: below the function in which the lock is taken another one waits; else one function has most of the CPU time.
enum Holder<'f> {
    Waits(String),
    Computes(Site<'f>, f64),
    Unknown,
}

#[gated]
fn holder<'f>(facts: &'f Facts, queue: &Queue) -> Holder<'f> {
    let others = queue.others_counted();
    if !others.is_empty() {
        return Holder::Waits(others);
    }
    let computes = goroutines::busy(facts, queue.pid).is_some_and(|cpus| cpus >= HOLDS_BUSY);
    let process = facts.world.threads.last_process(queue.pid).filter(|_| computes);
    let site = process.and_then(|process| facts.samples.own_site(SampleKind::OnCpu, process, None, |_| true));
    match site {
        Some((site, part)) if part >= HOLDS_PART => Holder::Computes(site, part),
        _ => Holder::Unknown,
    }
}

#[gated]
fn tell(facts: &Facts, out: &mut Findings<'_>, queue: &Queue) {
    let part = queue.part();
    let mean = queue.mean().at_least(MIN_LOCK_QUEUE);
    let holder = holder(facts, queue);
    // Workers that take turns at a channel or a connection may wait for work.
    let may_be_work = |waits| {
        matches!(waits, ParkedFor::Condition | ParkedFor::Io | ParkedFor::Receive | ParkedFor::Select)
    };
    let most = match queue.others.iter().any(|at| may_be_work(at.waits)) {
        true => Severity::Notice,
        false if queue.at.mean >= LONG_LOCK_QUEUE => Severity::Critical,
        false => Severity::Warning,
    };
    let meanwhile = match &holder {
        Holder::Waits(others) => {
            format!("Who holds it may be one of those below the same function. Meanwhile {others}.")
        }
        Holder::Computes(site, part) => format!(
            "Who holds it is on a thread meanwhile: {:.0} % of the program's CPU time is in {}.",
            100.0 * part,
            callers::short(site)
        ),
        Holder::Unknown => {
            "Who holds it is on a thread meanwhile: it computes, or is in a system call.".to_string()
        }
    };
    let (computing, computes) = match &holder {
        Holder::Computes(site, part) => (
            format!("; meanwhile {} computes", callers::short(site)),
            Some(Measurement::share("share_of_cpu_in_one_function", *part).at_least(HOLDS_PART)),
        ),
        _ => (String::new(), None),
    };
    // What is done under the lock is what to change.
    let function = match &holder {
        Holder::Computes(site, _) => site.function.to_string(),
        _ => queue.at.function.clone(),
    };
    out.report(
        Share::of_time(part.value, "the waits of its goroutines, by counts"),
        format!(
            "{mean} goroutines wait all the time in {}: {part} of those that wait{computing}",
            queue.at.words()
        ),
    )
    .at_most(most)
    .measured(mean)
    .measured(part)
    .measured(queue.waiting())
    .measured_all(computes)
    .subject(Subject { pid: Some(queue.pid), function: Some(function), ..Subject::default() })
    .cause(format!(
        "Only one goroutine at a time goes on, and the lock is never free. {meanwhile} {}",
        goroutines::COUNTED
    ))
    .fix("code: hold the lock for less: do requests, syncs, sleeps and long computing before it is taken or after it is given back")
    .fix("code: split it: a lock a key or shard; sync.RWMutex where most only read")
    .verify(format!("whyslow diagnose -p {}   (after: fewer goroutines that wait there)", queue.pid))
    .file();
}
