//! # page-fault-major
//!
//! ## What it is
//! Threads stop at memory that is not there: each touch of such a page reads it from disk, in the middle of the code,
//! where no system call shows.
//!
//! ## Why it is slow
//! A fault that reads from a disk takes a hundred microseconds to ten milliseconds, a touch of memory a tenth of a
//! microsecond. The pages are those of a mapped file, of the program itself, or of memory that was swapped out.
//!
//! ## Example
//! ```text
//! thread 7 search: 4,210 major page faults; uninterruptible 6.10 s of 9.98 s
//! ```
//!
//! ## What to do instead
//! Have the pages there before they are needed: read the file in order, `madvise(MADV_WILLNEED)`, `MAP_POPULATE`, `mlock`;
//! give the group enough memory that its pages stay.
//!
//! ## When it is wrong
//! A program's start reads its code this way, as does a first pass over a cold file: in the first two seconds of a
//! process it is not counted as a fault. What blocked the thread is taken from the state it waited in (no signal could
//! end it); where the recording has the stacks of waits, they tell which part of that is for pages, as short waits have none. By a host's figures alone a process that reads far more by calls
//! than its faults can bring in is not judged.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, words};
use crate::{figures, kernel_threads};
use whyslow_facts::samples::SiteTime;
use whyslow_facts::{Facts, SchedTime, ThreadFacts};
use whyslow_model::{
    Entity, Measurement, Metric, Nanos, SampleKind, SaturatingSum, Severity, Subject, ThreadTotals,
};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "page-fault-major",
    group: "memory",
    summary: "threads stop at memory that must first be read from disk",
    source: include_str!("page_fault_major.rs"),
    needs: &[
        Need::Either(&[Need::Scheduling, FAULTS]),
        Need::Either(&[Need::Table("process_stats"), FAULTS]),
    ],
    check,
};

const FAULTS: Need = figures::tasks(&[Metric::MajorFaults]);
/// Most that a fault brings in with the pages around it (kernel: read-ahead of 128 KiB as a rule).
const AROUND: f64 = 131_072.0;
/// Where no wait is measured, a warning from this many a second on: at 100 us each on flash, 5 % of a thread.
const MANY_PER_S: f64 = 500.0;
/// Fewer are a start or a cold corner of the program.
const MIN_FAULTS: u64 = 50;
/// Fewer a second cost nothing that is felt, even on a slow disk.
const MIN_PER_S: f64 = 5.0;
/// Functions of the kernel that take a page fault in, by their names' ends on all architectures.
const FAULT_FUNCTIONS: [&str; 3] = ["handle_mm_fault", "filemap_fault", "do_swap_page"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let mut suspects: Vec<(&ThreadFacts, &SchedTime, &ThreadTotals, u64)> = threads
        .filter_map(|thread| {
            let (time, totals) = (thread.sched.as_deref()?, thread.totals.as_deref()?);
            Some((thread, time, totals, totals.major_faults?))
        })
        .filter(|(thread, time, _, faults)| {
            let seconds = time.covered().as_secs_f64().unwrap_or(0.0);
            // Guard 4: a start reads the program itself.
            let starts =
                facts.world.threads.process(thread.process).started && time.covered() < guards::STARTUP;
            *faults >= MIN_FAULTS && !starts && *faults as f64 >= MIN_PER_S * seconds
        })
        .collect();
    suspects.sort_by_key(|(thread, time, ..)| (std::cmp::Reverse(time.uninterruptible_ns), thread.tid));
    for (thread, time, totals, faults) in suspects {
        report(facts, out, thread, time, totals, faults);
    }
    // Its threads say more than its sum.
    let recorded = |of: &Entity| {
        let process = of.pid().and_then(|pid| facts.world.threads.last_process(pid));
        facts.has_table("process_stats") && process.is_some()
    };
    let faulting = kernel_threads::programs_with(facts, Metric::MajorFaults);
    let faulting = faulting.into_iter().filter(|(rate, of, thing)| {
        let many = thing.times(Metric::MajorFaults).is_none_or(|times| times >= MIN_FAULTS as f64);
        let read = thing.current(Metric::ReadBytes).unwrap_or(0.0);
        let by_faults = rate * AROUND >= read / 2.0;
        *rate >= MIN_PER_S && many && by_faults && !figures::just_started(thing) && !recorded(of)
    });
    for (rate, of, _) in faulting {
        report_figures(facts, out, rate, of);
    }
}

#[gated]
fn report_figures(facts: &Facts, out: &mut Findings<'_>, rate: f64, of: &Entity) {
    let Some(thing) = facts.host.thing(of) else { return };
    let name = facts.host.name_of(of);
    let threads = thing.current(Metric::Threads).unwrap_or(1.0).max(1.0);
    let waits = thing.sum_current(&[Metric::BlockDelay, Metric::SwapDelay, Metric::ThrashDelay]);
    let share = waits.map_or_else(Share::unknown, |delay| {
        Share::of_time(
            if delay <= 1.0 { delay } else { (delay / threads).min(1.0) },
            format!("the time of {name}"),
        )
    });
    let many = waits.is_none() && rate >= MANY_PER_S;
    let pid = of.pid().map_or("PID".to_string(), |pid| pid.to_string());
    let swapped = thing.current(Metric::Swapped).filter(|bytes| *bytes > 0.0);
    let swapped = swapped.map(|bytes| Measurement::bytes("swapped", bytes as u64));
    let in_swap =
        swapped.as_ref().map_or(String::new(), |bytes| format!(" {bytes} of its memory are swapped out."));
    let least = if many { MANY_PER_S } else { MIN_PER_S };
    let rate = Measurement::per_second("major_faults_per_second", rate).at_least(least);
    let faults = thing.times(Metric::MajorFaults);
    let faults =
        faults.map(|faults| Measurement::count("major_faults", faults as u64).at_least(MIN_FAULTS as f64));
    out.report(share, format!("{name} stops {rate} times a second at memory that must be read from disk"))
        .at_least(if many { Severity::Warning } else { Severity::Notice })
        .at_most(Severity::Warning)
        .subject(figures::subject(facts, of))
        .cause(format!("The pages it touched were not in memory: those of a mapped file that is larger than the cache can keep, of the program itself, or swapped out.{in_swap}"))
        .fix(format!("see which: grep -E 'VmSwap|RssFile' /proc/{pid}/status; vmstat 1 (si: swapped in), cat /proc/pressure/memory"))
        .fix("more memory for it; mapped files: madvise(MADV_WILLNEED) or MAP_POPULATE before the work, mlock what must answer fast")
        .verify(format!("pidstat -r -p {pid} 1 (majflt/s falls); whyslow record -p {pid} shows which threads wait"))
        .measured(rate)
        .measured_all(faults.into_iter().chain(swapped))
        .evidence_of(of, &[Metric::MajorFaults, Metric::BlockDelay, Metric::SwapDelay, Metric::ThrashDelay, Metric::ReadBytes])
        .file();
}

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    thread: &ThreadFacts,
    time: &SchedTime,
    totals: &ThreadTotals,
    faults: u64,
) {
    let (kind, tid) = (SampleKind::OffCpu, Some(thread.tid));
    let stacks = !facts.samples.is_empty(kind);
    let waits: u64 = facts
        .samples
        .functions(kind, thread.process, tid)
        .iter()
        .filter(|function| FAULT_FUNCTIONS.contains(&function.name))
        .map(|function| function.cum.or_zero())
        .max()
        .unwrap_or(0);
    // What no signal could end, less the calls that work on files.
    let outside_calls = time.uninterruptible_ns.saturating_sub(thread.working_ns);
    // Short waits have no stack: those that have one tell which part of all is for pages.
    let blocked: u64 = facts
        .samples
        .sites(kind, thread.process, tid)
        .iter()
        .filter(|of| of.call.is_none())
        .map(|of| of.weight.ns)
        .saturating_sum();
    let part = (waits as f64 / blocked.max(1) as f64).min(1.0);
    let in_faults = if stacks { waits.max((part * outside_calls as f64) as u64) } else { outside_calls };
    let life = time.covered().or_zero().max(1);
    let share = Share::of_time(
        (in_faults as f64 / life as f64).min(1.0),
        format!("the life of thread {}", thread.tid),
    );
    let subject = Subjects::thread(facts, thread.tid);
    let who = Subjects::words(&subject);
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    // Who waits outside calls waits for a page.
    let outside = |time: &SiteTime<'_>| time.call.is_none();
    let site = facts.samples.own_site(kind, thread.process, tid, outside).map(|(site, _)| site);
    let subject = Subject { function: callers::function(site.as_ref()), ..subject };
    let waited = Measurement::time("time", Nanos::new(in_faults));
    let title = format!(
        "{who} waits {waited} for pages to be read from disk{}: {}",
        callers::words(site.as_ref()),
        words::plural(faults, "major page fault")
    );
    let rate = time.covered().as_secs_f64().filter(|seconds| *seconds > 0.0);
    let rate = rate.map(|seconds| faults as f64 / seconds);
    let rate = rate.map(|rate| Measurement::per_second("major_faults_per_second", rate).at_least(MIN_PER_S));
    let minor = match totals.page_faults {
        Some(all) => format!(" Of {} in all.", words::plural(all, "page fault")),
        None => String::new(),
    };
    out.report(share, title)
        .at_most(if stacks { Severity::Critical } else { Severity::Warning })
        .subject(subject)
        .cause(format!("The pages it touched were not in memory: those of a mapped file that is larger than the cache can keep, of the program itself, or swapped out.{minor}"))
        .fix(format!("see which: grep -E 'VmSwap|RssFile' /proc/{pid}/status; vmstat 1 (si: swapped in), cat /proc/pressure/memory"))
        .fix("swapped out: more memory, or a higher limit of the group (memory.high, memory.max); less swappiness")
        .fix("mapped files: madvise(MADV_WILLNEED) or MAP_POPULATE before the work, mlock what must answer fast, read() with a buffer for what is passed over once")
        .verify(format!("pidstat -r -t -p {pid} 1   (majflt/s falls); bcc: filetop, swapin"))
        .measured(Measurement::count("major_faults", faults).at_least(MIN_FAULTS as f64))
        .measured(waited)
        .measured_all(rate)
        .measured_all(totals.page_faults.map(|all| Measurement::count("page_faults", all)))
        .saving(Nanos::new(in_faults))
        .evidence_line(
            facts.recording_at(time.first()),
            format!("thread {}: {}; {}", thread.tid, words::plural(faults, "major page fault"), facts.account(time)),
        )
        .file();
}
