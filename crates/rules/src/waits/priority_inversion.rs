//! # priority-inversion
//!
//! ## What it is
//! A thread waits for a lock. Who holds it could run, and gets next to no CPU: others with more weight have it. So the thread that waits, however
//! important, is as slow as the least important one.
//!
//! ## Why it is slow
//! The scheduler does not know that somebody waits for the holder. Under real-time threads, at nice 19, in SCHED_IDLE or in a group
//! with a small `cpu.weight` a few milliseconds of work under a lock take seconds, and nothing shows in the holder's own code.
//!
//! ## Example
//! ```text
//! 19425 control  futex(0x55af281561a0, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <1.170312>
//! 19426 curvefit on CPU 24.5 ms, runnable 4.04 s
//! ```
//!
//! ## What to do instead
//! A mutex that lends the waiter's priority to its holder (pthread_mutexattr_setprotocol with PTHREAD_PRIO_INHERIT: futex(2), FUTEX_LOCK_PI).
//! The same weight for all who take the lock. Less work under it: copy, compute without it, store.
//!
//! ## When it is wrong
//! Priorities are not in a recording: that the holder has less weight than others is told by what it gets. Where as many threads
//! want the CPUs that an equal share is as little, it is a queue (run-queue-delay). What a quota takes is cpu-throttled's. A holder that waits for a CPU now and then, as anybody does,
//! is not told: its waits for one must be half of the time for which others wait for it.

use crate::callers;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use hashbrown::HashMap;
use whyslow_chain::{Explainer, Path, PathKind, Scope};
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_facts::{Facts, SchedTime};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "priority-inversion",
    group: "waits",
    summary: "a thread waits for a lock whose holder gets no CPU",
    source: include_str!("priority_inversion.rs"),
    needs: &[Need::Scheduling, Need::Durations, Need::Clock],
    check,
};

/// A shorter queue is a burst of others.
const MIN_QUEUED: Nanos = Nanos::from_millis(100);
/// Of the time in which a thread waited for the holder, this part was a queue for the CPU.
const PART: f64 = 0.5;
/// The holder gets at most this part of what an equal share of the CPUs would be.
const OF_FAIR: f64 = 0.25;
/// An equal share where the host's queue is not known: five threads that want each CPU.
const FAIR: f64 = 0.2;
/// From this part of its waits for a CPU on a quota stops the holder.
const OF_QUOTA: f64 = 0.25;
/// Who waits gets a CPU so many times as readily as the holder.
const READIER: f64 = 4.0;
/// Intervals whose paths are looked at, the longest ones.
const MAX_SPANS: usize = 500;

/// What one thread waits for another that holds a lock.
#[derive(Default)]
struct Held<'a> {
    queued_ns: u64,
    ns: u64,
    longest: Option<(u64, &'a LongCall)>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let fair = fair_share(facts);
    let starved = |time: &SchedTime| {
        // The kernel's count of what a quota took leaves out what passes until the stopped threads are back in a queue.
        let is_quotas = time.throttled_ns as f64 >= OF_QUOTA * time.runnable_ns as f64;
        !is_quotas && queued(time) >= MIN_QUEUED.or_zero() && got(time) <= OF_FAIR * fair
    };
    let starves = facts.world.threads.iter().any(|(_, thread)| thread.sched.as_deref().is_some_and(starved));
    if !starves {
        return;
    }
    let explainer = Explainer::new(facts);
    let (scope, mut spans) = explainer.spans();
    spans.truncate(MAX_SPANS);
    let (mut whole, mut held) = (0u64, HashMap::<(Tid, Tid), Held<'_>>::new());
    for span in &spans {
        let path = explainer.path(span.tid, span.from, span.to);
        whole = whole.saturating_add(path.total());
        for segment in &path.segments {
            let Some((waiter, wait)) = waits_for_lock(&path, segment.stay) else { continue };
            let one = held.entry((waiter, path.stays[segment.stay].tid)).or_default();
            one.ns = one.ns.saturating_add(segment.ns);
            if segment.kind == PathKind::RunQueue {
                one.queued_ns = one.queued_ns.saturating_add(segment.ns);
            }
            let dur = wait.to.since(wait.from).or_zero();
            if one.longest.is_none_or(|(longest, _)| dur > longest) {
                one.longest = Some((dur, wait));
            }
        }
    }
    let sched = |tid: Tid| facts.world.threads.thread_of(tid)?.sched.as_deref();
    let mut found: Vec<_> = held.into_iter().filter(|(_, held)| is_for_cpu(held, whole)).collect();
    found.sort_by_key(|((waiter, holder), held)| (std::cmp::Reverse(held.queued_ns), *waiter, *holder));
    for ((waiter, holder), held) in found {
        let (Some(own), Some(time)) = (sched(waiter), sched(holder)) else { continue };
        if starved(time) && got(own) >= READIER * got(time) {
            report(&explainer, out, (waiter, holder), (&held, whole, scope), (time, fair));
        }
    }
}

/// True where a good part of all time is the holder's queue for a CPU, and most of the wait for it.
#[gated]
fn is_for_cpu(held: &Held<'_>, whole: u64) -> bool {
    held.queued_ns >= MIN_QUEUED.or_zero()
        && held.queued_ns as f64 >= PART * held.ns as f64
        && held.queued_ns as f64 >= guards::WARNING_SHARE * whole as f64
}

/// Who waits for a lock that the thread of this stay gave free, and the call.
fn waits_for_lock<'a>(path: &Path<'a>, stay: usize) -> Option<(Tid, &'a LongCall)> {
    let (before, wait) = path.stays[stay].came_from?;
    let wait = wait.filter(|wait| matches!(wait.what, Resource::Lock { .. } | Resource::Semaphore(_)))?;
    Some((path.stays[before].tid, wait))
}

/// What it waited for a CPU, without what its quota took, ns.
fn queued(time: &SchedTime) -> u64 {
    time.runnable_ns.saturating_sub(time.throttled_ns)
}

/// The part of the time that it wanted a CPU in which it had one.
fn got(time: &SchedTime) -> f64 {
    time.on_cpu_ns as f64 / time.on_cpu_ns.saturating_add(queued(time)).max(1) as f64
}

/// What a thread gets that has the weight of all others: the CPUs for those that want one.
#[gated]
fn fair_share(facts: &Facts) -> f64 {
    let of_host = |metric| figures::of_host(facts, metric).filter(|value| *value > 0.0);
    match of_host(Metric::CpuCount).zip(of_host(Metric::Runnable)) {
        Some((cpus, runnable)) => (cpus / runnable).min(1.0),
        None => FAIR,
    }
}

#[gated]
fn report(
    explainer: &Explainer<'_>,
    out: &mut Findings<'_>,
    (waiter, holder): (Tid, Tid),
    (held, whole, scope): (&Held<'_>, u64, Scope),
    (time, fair): (&SchedTime, f64),
) {
    let facts = explainer.facts();
    let of = match scope {
        Scope::Requests => "the requests' time",
        Scope::MainThreads => "the program's own time",
    };
    let share = Share::of_time(held.queued_ns as f64 / whole.max(1) as f64, of.to_string());
    let waited = Measurement::time("time", Nanos::new(held.queued_ns)).at_least(MIN_QUEUED.or_zero() as f64);
    let part =
        Measurement::share("share_of_wait", held.queued_ns as f64 / held.ns.max(1) as f64).at_least(PART);
    let got = Measurement::share("share_of_cpu_wanted", got(time)).at_most(OF_FAIR * fair);
    let fair = Measurement::share("equal_share", fair);
    let (on, ready) = (Nanos::new(time.on_cpu_ns), Nanos::new(queued(time)));
    let subject = Subjects::thread(facts, waiter);
    let lock = held.longest.and_then(|(_, call)| call.lock()).map(|address| format!("{address:#x}"));
    let (who, whom) = (explainer.who(waiter), explainer.who(holder));
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let site = callers::computing(facts, holder);
    let place = site.as_ref().map_or(String::new(), |site| format!(", in {}", callers::short(site)));
    out.report(
        share,
        format!("{who} waits {waited} for a lock of {whom}{place}, which is ready to run but gets {got} of the CPU that it wants"),
    )
    .measured_all([waited.clone(), part.clone(), got.clone(), fair.clone()])
    .subject(Subject { lock, ..subject })
    .cause(format!(
        "{whom} ran {on} and was ready for {ready} more: threads of one weight would have had {fair} of it, so others go before it (its nice \
         value, SCHED_IDLE, cpu.weight of its group, or real-time threads beside it). {part} of the wait for it is that queue."
    ))
    .fix("code: a mutex that lends the waiter's priority to its holder: pthread_mutexattr_setprotocol(PTHREAD_PRIO_INHERIT), or FUTEX_LOCK_PI")
    .fix(format!("give all who take the lock the same weight: renice -n 0 -p {holder}, chrt -p {holder}, cpu.weight of its group; or the others less"))
    .fix("code: hold the lock for the shared data only: copy, compute without it, store")
    .verify(format!("whyslow path -p {pid} -d 10s; whyslow threads -p {pid} -d 10s   (the holder's runnable time falls)"))
    .saving_text(format!("up to {} of waiting", words::duration(Nanos::new(held.queued_ns))))
    .evidence_line(facts.recording_at(time.first()), format!("thread {holder}: {}", facts.account(time)))
    .file();
}
