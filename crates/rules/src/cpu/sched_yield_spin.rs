//! # sched-yield-spin
//!
//! ## What it is
//! A thread calls `sched_yield` thousands of times a second, one call right behind the other.
//!
//! ## Why it is slow
//! `sched_yield` is no wait: if no other thread wants this CPU it returns at once. A loop around it burns the CPU until
//! what it waits for happens, keeps the CPU's clock and its hyper-thread sibling busy, and under a CPU limit uses up
//! the quota of the thread it waits for.
//!
//! ## Example
//! ```text
//! sched_yield() = 0 <0.000004>
//! sched_yield() = 0 <0.000004>
//! ```
//!
//! ## What to do instead
//! Wait for the event: a mutex and condition variable, a futex, a blocking queue, an eventfd in the poll set. Spin a
//! bounded number of times at most, then park.
//!
//! ## When it is wrong
//! A few yields before parking are how good locks begin. Programs that own their CPUs (MPI ranks, one a core) may
//! spin by design; they then must not have more threads than CPUs.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, sums, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::busy::Yields;
use whyslow_model::{SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "sched-yield-spin",
    group: "cpu",
    summary: "a thread waits by calling sched_yield in a loop",
    source: include_str!("sched_yield_spin.rs"),
    needs: &[Need::Counts],
    check,
};

/// The call.
const CALL: &str = "sched_yield";
/// In a table of counts, which shows no time: fewer calls than this are locks that spin a little.
const MANY_CALLS: u64 = 10_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if check_sums(facts, out) {
        return;
    }
    if facts.world.calls == 0 {
        return check_table(facts, out);
    }
    let mut rows: Vec<&Yields> = facts
        .busy
        .yields
        .iter()
        .filter(|row| guards::is_spin(facts, &row.laps, &guards::share_of_laps(facts, row.tid, &row.laps)))
        .filter(|row| is_often(facts, row))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.laps.time_ns, row.laps.turns)));
    for row in rows {
        let timed = row.laps.time().is_known();
        let time = if timed {
            format!("{} of its time", row.laps.time())
        } else {
            "its time, how much is not shown,".to_string()
        };
        let site = callers::of_calls(facts, row.tid, &[CALL]);
        let function = callers::function(site.as_ref());
        let subject =
            Subject { syscall: Some(CALL.to_string()), function, ..Subjects::thread(facts, row.tid) };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        let by = subject.tid.map_or(String::new(), |_| format!(" by {}", Subjects::words(&subject)));
        let share = guards::share_of_laps(facts, row.tid, &row.laps);
        let figures = guards::spin_figures(facts, &row.laps, &share);
        let report = out
            .report(share, format!("sched_yield is called {}{by}{}", row.laps.often(), callers::words(site.as_ref())))
            .at_most(if timed { Severity::Critical } else { Severity::Warning })
            .subject(subject)
            .cause(format!("Thread {} waits for something by giving up the CPU and taking it back at once, with no data moved in between: {time} goes into it.", row.tid))
            .measured_all(figures)
            .saving(row.laps.time())
            .evidence_all(row.laps.exemplars.iter());
        fixes(report, &pid).file();
    }
}

/// Where calls were recorded one by one for a part of the time, and counted for the rest: how often it yields over all of that.
#[gated]
fn is_often(facts: &Facts, row: &Yields) -> bool {
    let Some(thread) = facts.world.threads.thread_of(row.tid).filter(|thread| thread.counted.is_some())
    else {
        return true;
    };
    let calls = thread.all_calls().filter(|(call, _)| call.info().name == CALL);
    let calls = calls.map(|(_, stats)| stats.count).saturating_sum();
    facts.window.whole().as_secs_f64().is_none_or(|whole| calls as f64 >= guards::SPIN_TURNS_PER_S * whole)
}

/// Sums of calls: a thread that yields over and over.
fn check_sums(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let storms = sums::storms(facts, &[CALL], guards::SPIN_TURNS_PER_S);
    for storm in storms.iter() {
        let site = callers::of_calls(facts, storm.sums.thread.tid, &[CALL]);
        let function = callers::function(site.as_ref());
        let subject = Subject { function, ..storm.subject(facts) };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        let (by, at) = (Subjects::words(&subject), callers::words(site.as_ref()));
        let title = format!("sched_yield is called {} by {by}{at}", storm.often());
        let (place, line) = storm.line(facts);
        let report = out
            .report(storm.share.clone(), title)
            .subject(subject)
            .cause(format!("Thread {} waits for something by giving up the CPU and taking it back at once: {} of its time goes into it. Calls were only counted.", storm.sums.thread.tid, storm.calls.total()))
            .measured_all(storm.figures())
            .saving(storm.calls.total())
            .evidence_line(place, line);
        fixes(report, &pid).file();
    }
    !storms.is_empty()
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let Some((_, stats)) = facts.syscalls().iter().find(|(name, _)| name == "sched_yield") else {
        return;
    };
    let count = stats.count;
    let share = guards::share_of_calls(facts, count);
    if count < MANY_CALLS || share.value.is_none_or(|share| share < guards::STORM_CALL_SHARE) {
        return;
    }
    let report = out
        .report(share, format!("sched_yield is {} of {}", words::plural(count, "call"), words::count(facts.total_calls())))
        .at_most(Severity::Warning)
        .subject(Subject { syscall: Some("sched_yield".to_string()), ..Subject::default() })
        .measured_all(guards::of_all_calls(facts, count, MANY_CALLS))
        .cause("Threads wait for something by giving up the CPU and taking it back. The table does not show which threads, nor how long they did so: strace -f -ttT -p PID does.");
    fixes(report, "PID").file();
}

fn fixes<'f, 'a>(report: crate::engine::Report<'f, 'a>, pid: &str) -> crate::engine::Report<'f, 'a> {
    report
        .fix("see who asks for it: strace -f -k -e trace=sched_yield -p PID (the stack names the loop)")
        .fix("code: replace the loop by a condition variable, a futex, a blocking queue or std::sync primitives; spin at most some hundred times before parking")
        .fix("settings: MPI: mpirun --mca mpi_yield_when_idle 0 with one rank a core; OpenMP: OMP_WAIT_POLICY=passive; no more runnable threads than CPUs")
        .verify(format!("perf stat -e syscalls:sys_enter_sched_yield -p {pid} -- sleep 5   (before and after)"))
}
