//! # clock-syscall
//!
//! ## What it is
//! Reading a clock makes up a good part of all system calls: `clock_gettime`, `gettimeofday` or `time`.
//!
//! ## Why it is slow
//! Wall and monotonic time are normally read in the process itself (vDSO) in some 25 ns. They become system calls of
//! some 100 to 1,000 ns where the kernel's clock source cannot be read so (hpet, acpi_pm, xen), in some sandboxes
//! (gVisor), in static binaries without the vDSO, or through `syscall(2)`. CPU-time clocks
//! (`CLOCK_THREAD_CPUTIME_ID`, `CLOCK_PROCESS_CPUTIME_ID`) are always system calls.
//!
//! ## Example
//! ```text
//! clock_gettime(CLOCK_MONOTONIC, {tv_sec=3162510, tv_nsec=551700172}) = 0
//! ```
//!
//! ## What to do instead
//! Give the machine a clock source that the vDSO can read (tsc, kvm-clock, hyperv_clocksource). Read the clock once
//! for each turn of a loop or each request and pass the value on; use `CLOCK_MONOTONIC_COARSE` where 4 ms will do. Turn
//! off per-task CPU accounting that nobody looks at.
//!
//! ## When it is wrong
//! Under strace each call costs some 50 us more, so the share of the time is the tracer's; the count is true. A loop
//! that spins for another reason reads the clock at each turn: then the spin is the cause.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::passed;
use crate::often::{self, Often};
use crate::{callers, guards, sums, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::busy::{BusyClock, CLOCK_CALLS};
use whyslow_model::{Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "clock-syscall",
    group: "cpu",
    summary: "the clock is read by a system call, again and again",
    source: include_str!("clock_syscall.rs"),
    needs: &[Need::Counts],
    check,
};

/// A program that reads the clock this often a second pays for it even untraced: 10,000 system calls of 0.3 us and
/// their entry are about 1 % of a CPU.
const STORM_PER_S: f64 = 10_000.0;
/// The part of all calls from which on reading the clock is what the program asks the kernel for.
const STORM_CALL_SHARE: f64 = 0.30;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if check_sums(facts, out) {
        return;
    }
    if facts.world.calls == 0 {
        return check_table(facts, out);
    }
    for clock in [BusyClock::Time, BusyClock::CpuTime] {
        let reads = facts.busy.reads(clock);
        let count = reads.calls.count;
        let window = if facts.capture.has_clock() { facts.window } else { reads.told() };
        let rate = window.per_second(count);
        let of_calls = guards::share_of_calls(facts, count);
        let busy = guards::is_busy(facts, &window);
        let storm = facts.pace.untraced(rate).is_some_and(|rate| rate >= STORM_PER_S)
            || (busy && of_calls.value.is_some_and(|share| share >= STORM_CALL_SHARE));
        if count < guards::FEW_TURNS || !storm {
            continue;
        }
        // A short excerpt shows the habit, not what it costs.
        let most = if count < guards::FEW_CALLS { Severity::Notice } else { Severity::Warning };
        let often = Often::of(&often::CALLS, count, rate, &facts.work).per_second_from(facts, STORM_PER_S);
        let times = words::plural(count, "time") + &often.behind_comma();
        let of_calls = of_calls.figure();
        let of_calls = if busy { passed(of_calls, STORM_CALL_SHARE) } else { of_calls };
        let name = match clock {
            BusyClock::Time => "the clock",
            BusyClock::CpuTime => "a CPU-time clock",
        };
        let share = guards::share_of_storm(facts, None, reads.calls.total(), count);
        let (tid, call) = busiest(facts);
        let site = callers::of_calls(facts, tid, &CLOCK_CALLS);
        let function = callers::function(site.as_ref());
        let subject = Subject { syscall: Some(call), function, ..Subjects::thread(facts, tid) };
        let by =
            subject.tid.map_or(String::new(), |_| format!(", most often by {}", Subjects::words(&subject)));
        let cause = match clock {
            BusyClock::Time => format!(
                "{of_calls} of all calls are reads of the clock that the vDSO would answer without the kernel: here it cannot (clock source, sandbox, static binary), or the program goes round it. The tracer makes each look dearer than it is; the count is true."
            ),
            BusyClock::CpuTime => format!(
                "{of_calls} of all calls ask for the CPU time of a thread or process, which is always a system call: the program accounts for itself at each step. The tracer makes each look dearer than it is; the count is true."
            ),
        };
        let report = out
            .report(
                share,
                format!("{name} is read by a system call {times}{by}{}", callers::words(site.as_ref())),
            )
            .at_most(most)
            .subject(subject)
            .cause(cause)
            .measured(Measurement::count("calls", count).at_least(guards::FEW_TURNS as f64))
            .measured_all(often.figures())
            .measured(of_calls)
            .saving(cheap_saving(reads.calls.total(), count))
            .evidence_all(reads.exemplars.iter());
        fixes(report, clock).file();
    }
}

/// The thread that reads clocks most, and by which call.
#[gated]
fn busiest(facts: &Facts) -> (u32, String) {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let rows = threads.flat_map(|thread| {
        thread.by_syscall.iter().map(|(syscall, stats)| (stats.count, thread.tid, syscall))
    });
    let reads = rows.filter(|(_, _, syscall)| CLOCK_CALLS.contains(&syscall.info().name));
    reads
        .max()
        .map_or((0, "clock_gettime".to_string()), |(_, tid, syscall)| (tid, syscall.info().name.to_string()))
}

/// What the calls cost without a tracer is at most what it showed (guard 6).
fn cheap_saving(total: Nanos, count: u64) -> Nanos {
    match total.get() {
        Some(total) => Nanos::new(total.min(count.saturating_mul(whyslow_facts::CHEAP_CALL.or_zero()))),
        None => Nanos::UNKNOWN,
    }
}

/// Sums of calls: a thread that reads clocks over and over. Which clock is not among them.
fn check_sums(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let storms = sums::storms(facts, &CLOCK_CALLS, STORM_PER_S);
    for storm in storms.iter() {
        let site = callers::of_calls(facts, storm.sums.thread.tid, &CLOCK_CALLS);
        let function = callers::function(site.as_ref());
        let subject = Subject { function, ..storm.subject(facts) };
        let (by, at) = (Subjects::words(&subject), callers::words(site.as_ref()));
        let title = format!("the clock is read by a system call {}, by {by}{at}", storm.often());
        let (place, line) = storm.line(facts);
        let report = out
            .report(storm.share.clone(), title)
            .at_most(Severity::Warning)
            .subject(subject)
            .cause("Reads of the clock that the vDSO would answer without the kernel, or of CPU-time clocks, which it cannot. Calls were only counted: which clock is not recorded.")
            .measured_all(storm.figures())
            .saving(storm.calls.total())
            .evidence_line(place, line);
        fixes(report, BusyClock::Time).file();
    }
    !storms.is_empty()
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let all = facts.syscalls();
    let count: u64 = all
        .iter()
        .filter(|(name, _)| CLOCK_CALLS.contains(&name.as_str()))
        .map(|(_, stats)| stats.count)
        .saturating_sum();
    let share = guards::share_of_calls(facts, count);
    if count < guards::FEW_CALLS || share.value.is_none_or(|share| share < STORM_CALL_SHARE) {
        return;
    }
    let title = format!(
        "the clock is read by a system call: {} of {}",
        words::plural(count, "call"),
        words::count(facts.total_calls())
    );
    let report = out
        .report(share, title)
        .at_most(Severity::Warning)
        .subject(Subject { syscall: Some("clock_gettime".to_string()), ..Subject::default() })
        .measured_all(guards::of_all_calls(facts, count, guards::FEW_CALLS))
        .cause("Reads of the clock that the vDSO would answer without the kernel, or of CPU-time clocks, which it cannot. The table does not show which clock: strace -f -e trace=clock_gettime -p PID does.");
    fixes(report, BusyClock::Time).file();
}

fn fixes<'f, 'a>(report: crate::engine::Report<'f, 'a>, clock: BusyClock) -> crate::engine::Report<'f, 'a> {
    let report = match clock {
        BusyClock::Time => report
            .fix("shell: cat /sys/devices/system/clocksource/clocksource0/current_clocksource; where tsc or kvm-clock is in available_clocksource: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource")
            .fix("kernel command line: clocksource=tsc tsc=reliable (where the hardware's TSC is constant)")
            .fix("code: read the clock once per turn or request and pass the value on; CLOCK_MONOTONIC_COARSE where 4 ms will do"),
        BusyClock::CpuTime => report
            .fix("code: measure CPU time once per request or second, not at each step; or switch the accounting off (profilers, per-task statistics)")
            .fix("code: where elapsed time will do, CLOCK_MONOTONIC is read without a system call"),
    };
    report.verify("perf stat -e syscalls:sys_enter_clock_gettime -p PID -- sleep 5   (before and after)")
}
