//! Sleeps of `sleep-polling` within requests: who serves one gives work to another thread and sleeps for a fixed time, instead of being told that it
//! is done. What it looks at then is in its memory, and in no call.

use crate::callers;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use whyslow_facts::folds::requests::Side;
use whyslow_facts::folds::sleeps::Sleep;
use whyslow_facts::{Facts, ProcessId, WaitKind};
use whyslow_model::{Measurement, Nanos, SaturatingSum, ShareOf, Subject, Syscall};

/// Longer periods are background timers: once a second is the usual tick of watchdogs and statistics.
pub(super) const LONGEST_PERIOD: Nanos = Nanos::from_millis(500);
/// Fewer sleeps of all threads that serve are retries.
const MIN_SLEEPS: u64 = 20;
/// Right before this part of the sleeps it gave something away.
const HANDED_OVER: f64 = 0.7;
/// This part of the sleeps lies within requests: others are pauses between them.
const IN_REQUESTS: f64 = 0.7;
/// A shorter sleep may be a turn of a lock that spins first.
const SHORTEST: Nanos = Nanos::from_millis(1);

/// The sleeps of the threads of one process.
struct Sleeps<'f> {
    rows: Vec<&'f Sleep>,
    times: u64,
    slept_ns: u64,
    handed_over: u64,
}

/// `told`: processes of which the sleeps are told by what they look at.
#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>, told: &[ProcessId]) {
    let mut processes: BTreeMap<ProcessId, Sleeps<'_>> = BTreeMap::new();
    let is_long = |row: &&Sleep| row.length() >= SHORTEST && row.length() <= LONGEST_PERIOD;
    let rows = facts.sleeps.rows.iter().filter(is_long).filter(|row| !told.contains(&row.process));
    for row in rows.filter(|row| !row.in_turns && hands_over(row)) {
        let none = || Sleeps { rows: Vec::new(), times: 0, slept_ns: 0, handed_over: 0 };
        let sleeps = processes.entry(row.process).or_insert_with(none);
        sleeps.times = sleeps.times.saturating_add(row.times);
        sleeps.slept_ns = sleeps.slept_ns.saturating_add(row.slept_ns);
        sleeps.handed_over = sleeps.handed_over.saturating_add(row.handed_over);
        sleeps.rows.push(row);
    }
    for (process, sleeps) in processes {
        let kinds: BTreeSet<usize> =
            sleeps.rows.iter().filter_map(|row| Some(kind_of(row)? as usize)).collect();
        let kinds = WaitKind::ALL.iter().filter(|kind| kinds.contains(&(**kind as usize)));
        let in_requests = kinds.map(|kind| facts.requests.served_waits(*kind)).saturating_sum();
        if sleeps.times >= MIN_SLEEPS && in_requests as f64 >= IN_REQUESTS * sleeps.slept_ns as f64 {
            report(facts, out, process, &sleeps);
        }
    }
}

/// What waits in such a call are, whatever ends them; `None` for polls of descriptors, which wait for these.
fn kind_of(row: &Sleep) -> Option<WaitKind> {
    match row.syscall {
        Syscall::FUTEX => Some(WaitKind::Lock),
        Syscall::NANOSLEEP | Syscall::CLOCK_NANOSLEEP => Some(WaitKind::Timer),
        _ => row.period.is_known().then_some(WaitKind::Timer),
    }
}

/// True where it gave something away right before nearly each sleep.
#[gated]
fn hands_over(row: &Sleep) -> bool {
    kind_of(row).is_some() && row.times > 0 && row.handed_over as f64 >= HANDED_OVER * row.times as f64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, process: ProcessId, sleeps: &Sleeps<'_>) {
    let served = facts.requests.threads().filter(|(side, of, ..)| (*side, *of) == (Side::Server, process));
    let (count, served) = served.fold((0u64, 0u64), |(count, ns), (.., group)| {
        (count.saturating_add(group.stats.count), ns.saturating_add(group.stats.total().or_zero()))
    });
    let Some(longest) = sleeps.rows.iter().max_by_key(|row| (row.slept_ns, row.tid)) else { return };
    let part = (served > 0).then(|| (sleeps.slept_ns as f64 / served as f64).min(1.0));
    let share = Share::of_time(part, ShareOf::Requests);
    let mean = Measurement::time("period", Nanos::new(sleeps.slept_ns / sleeps.times.max(1)));
    let mean = mean.at_most(LONGEST_PERIOD.or_zero() as f64);
    let times = Measurement::count("sleeps", sleeps.times).at_least(MIN_SLEEPS as f64);
    let behind =
        Measurement::share("handed_over_share", sleeps.handed_over as f64 / sleeps.times.max(1) as f64);
    let behind = behind.at_least(HANDED_OVER);
    let call = facts.name_of(longest.syscall);
    let site = callers::of_calls(facts, longest.tid, &[call]);
    let place = site.as_ref().map_or(String::new(), |site| format!(", in {}", callers::short(site)));
    let thread = Subjects::thread(facts, longest.tid);
    let name = facts.world.threads.process(process).name().unwrap_or("the program").to_string();
    let pid = thread.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let slept = Measurement::time("time", Nanos::new(sleeps.slept_ns));
    out.report(
        share,
        format!(
            "{name} (process {pid}) hands work over within its requests and sleeps {mean} before it looks for the result{place}: {times} sleeps \
             in {}",
            words::plural(count, "request"),
        ),
    )
    .measured_all([mean, times, behind.clone(), slept.clone()])
    .measured(Measurement::count("requests", count))
    .subject(Subject {
        tid: None,
        syscall: Some(call.to_string()),
        function: callers::function(site.as_ref()),
        ..thread
    })
    .cause(format!(
        "Right before {behind} of the sleeps the thread had woken another one, or sent something: it waits for what comes of that, {slept} in all. The \
         answer is noticed when the sleep ends, not when it is there."
    ))
    .fix("code: wait for the result itself: a condition variable, a future, a blocking queue, an eventfd in the poll set")
    .fix("code: where the sleep is a limit of the rate, let it stand outside of the requests")
    .verify(format!("whyslow requests -p {pid} -d 10s"))
    .evidence_all(longest.exemplars.iter().take(2))
    .file();
}
