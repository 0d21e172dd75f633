//! Waits for a CPU by figures of processes and threads (pidstat, schedstat), which tell no single waits.

use super::queue::{self, Waiter};
use super::rivals::{Rivals, recorded};
use crate::engine::Findings;
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_model::{CaptureKind, Entity, Measurement, Metric, Nanos, Severity, Trait};

/// From this part of a thread's life on (the field's rule of thumb for a saturated CPU).
pub(super) const MIN_SHARE: f64 = 0.10;
/// Less in all is nothing that anybody notices.
pub(super) const MIN_WAIT: Nanos = Nanos::from_millis(100);
/// By figures, which tell no single waits, from this part of a process's time on: at 9 % a healthy nginx beside a build
/// was warned of.
const MIN_SHARE_BY_FIGURES: f64 = 0.20;
/// A process whose threads want this part of the CPUs it may use all the time is one of those that others wait for.
const COMPETES: f64 = 0.80;
/// Where no source tells of other processes.
pub(super) const UNKNOWN: &str =
    "Who took the CPUs is unknown: no source tells what other processes took meanwhile.";

/// What figures tell.
#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    // The scheduler's account of the recorded processes says more than figures do; and whoever recorded some asked for no others.
    let recorded = recorded(facts);
    let all = !facts.capture.is_recording() || recorded.is_empty();
    let asked = |of: &Entity| match of.pid().is_some_and(|pid| recorded.contains(&pid)) {
        true => !facts.sched.is_known(),
        false => all,
    };
    let waiters = queue::waiters(facts, facts.host.processes());
    let victims = waiters.iter().filter(|one| is_victim(facts, one) && asked(one.of));
    victims.for_each(|one| report_figures(facts, out, one));
    if !facts.sched.is_known() && waiters.is_empty() {
        by_threads(facts, out);
    }
}

/// By figures: waits for a good part of its time, and not for CPUs that it fills itself.
#[gated]
fn is_victim(facts: &Facts, one: &Waiter<'_>) -> bool {
    let fills = one.wanted() >= COMPETES * one.threads().min(one.room);
    let long = one.thing.times(Metric::RunDelay).is_none_or(|s| s * 1e9 >= MIN_WAIT.or_zero() as f64);
    // In no more than the periods in which its quota stopped it, it waited for that.
    let quota = one.stopped(facts).unwrap_or(0.0);
    let share = one.share(facts).value;
    long && !fills && !is_traced(facts, one) && share.is_some_and(|part| part - quota >= MIN_SHARE_BY_FIGURES)
        // What it is bound to is another cause, with a rule of its own.
        && !one.is_pinned(facts)
}

/// True for one that strace, ltrace or a debugger stopped at each call while the figures were taken: being woken by it counts as
/// a wait for a CPU.
#[gated]
fn is_traced(facts: &Facts, one: &Waiter<'_>) -> bool {
    let seen = recorded(facts);
    // A source of calls without the scheduler's account stops threads; sysdig alone does not.
    let stops = facts.world.calls > 0 && !facts.sched.is_known() && !facts.capture.has(CaptureKind::Sysdig);
    // A trace of one process names none; figures of one process alone are of that one.
    let of_trace = match one.of.pid() {
        Some(pid) if !seen.is_empty() => seen.contains(&pid),
        _ => facts.host.processes().len() == 1,
    };
    let then = one
        .thing
        .current_reading(Metric::RunDelay)
        .is_none_or(|reading| reading.may_be_of(facts.window.start, facts.window.end));
    let tracer = one.thing.told(Trait::Tracer).and_then(|pid| pid.parse::<u32>().ok());
    stops && of_trace && then || tracer.is_some_and(|pid| pid != 0)
}

/// By schedstat of single threads: at two times it gives seconds a second, without times seconds alone. Then the wall time is
/// not known, and a thread that seldom wants a CPU may wait for it as large a part of that: a notice.
#[gated]
fn by_threads(facts: &Facts, out: &mut Findings<'_>) {
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { .. }));
    let mut found: Vec<_> = threads
        .into_iter()
        .filter_map(|(of, thing)| {
            let ran = thing.happened(Metric::TaskCpu)?;
            let waited = thing.happened(Metric::RunDelay)?;
            let wall = thing.current_reading(Metric::RunDelay).map(|reading| reading.seconds);
            let part = waited / wall.unwrap_or(waited + ran).max(f64::MIN_POSITIVE);
            let long = waited * 1e9 >= MIN_WAIT.or_zero() as f64 && part >= MIN_SHARE_BY_FIGURES;
            long.then_some((waited, ran, part.min(1.0), wall.is_some(), of))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.4.cmp(b.4)));
    for (waited, ran, part, timed, of) in found {
        let name = facts.host.name_of(of);
        let time = |name, seconds: f64| Measurement::time(name, Nanos::new((seconds * 1e9) as u64));
        let waits = time("time", waited).at_least(MIN_WAIT.or_zero() as f64);
        let runs = time("time_on_cpu", ran);
        let waiting = Measurement::share("share_of_time", part).at_least(MIN_SHARE_BY_FIGURES);
        let whole = match timed {
            true => format!("the wall time of {name}"),
            false => format!("the time in which {name} could run"),
        };
        let pid = of.pid().map_or("PID".to_string(), |pid| pid.to_string());
        out.report(Share::of_time(part, whole), format!("{name} waited {waits} for a CPU and ran {runs}"))
            .at_most(if timed { Severity::Critical } else { Severity::Notice })
            .subject(figures::subject(facts, of))
            .cause(format!("It was runnable, but not scheduled: no CPU was free, or its group had used its quota. {UNKNOWN}"))
            .fix("see who else runs: pidstat -u 1, top; move it away, or give it less weight (nice, cpu.weight)")
            .fix(format!("see whether a quota stops it: grep -H . /sys/fs/cgroup/$(cut -d: -f3 /proc/{pid}/cgroup | tail -1)/cpu.stat (nr_throttled grows?)"))
            .verify(format!("whyslow record -p {pid} shows single waits, and who ran meanwhile"))
            .measured_all([waits, runs, waiting])
            .evidence_of(of, &[Metric::TaskCpu, Metric::RunDelay])
            .file();
    }
}

#[gated]
fn report_figures(facts: &Facts, out: &mut Findings<'_>, one: &Waiter<'_>) {
    let name = facts.host.name_of(one.of);
    let share = one.share(facts);
    let waits = share.figure().at_least(MIN_SHARE_BY_FIGURES);
    let quota = one.stopped(facts);
    let rivals = Rivals::of(facts, |of| of == one.of, Some(one.cpu));
    let blamed = rivals.as_ref().filter(|rivals| rivals.account_for(one.delay.min(1.0)));
    let others = rivals.as_ref().map_or(UNKNOWN.to_string(), |rivals| rivals.sentence(facts));
    let quota = quota.filter(|part| *part >= MIN_SHARE);
    let periods = quota.map(|part| Measurement::share("share_of_periods", part).at_least(MIN_SHARE));
    let quota = periods.as_ref().map_or(String::new(), |part| {
        format!("The quota of its group stops it in {part} of the periods (see cpu-throttled). ")
    });
    let pid = one.of.pid().map_or("PID".to_string(), |pid| pid.to_string());
    let (who, rival) = blamed.and_then(|rivals| rivals.title(facts)).unzip();
    let beside = who.map_or(String::new(), |who| format!(", {who}"));
    let mut found = out
        .report(share, format!("{name} waits for a CPU {waits} of its time{beside}"))
        .subject(figures::subject(facts, one.of))
        .cause(format!("Its threads are runnable, but not scheduled, for {} per second. {quota}{others}", Nanos::new((one.delay * 1e9) as u64)))
        .fix("give the others less weight (nice -n 19, cpu.weight of their group), bound their number, or move them to another host or hour")
        .fix(format!("give it more weight: systemd CPUWeight=, renice -n -5 -p {pid}; more CPUs only if all of the work is needed at once"))
        .verify(format!("pidstat -u -p {pid} 1 (%wait falls); vmstat 1 (r near the number of CPUs); whyslow record -p {pid} shows single waits"))
        .evidence_of(one.of, &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu, Metric::RunDelay]);
    found = found
        .measured(waits)
        .measured(Measurement::seconds_per_second("run_delay", one.delay))
        .measured_all(periods.into_iter().chain(rival));
    if let Some(rivals) = blamed {
        found = rivals.evidence(found);
    }
    found.evidence_of(&Entity::Host, &[Metric::CpuIdle, Metric::Runnable, Metric::CpuCount]).file();
}
