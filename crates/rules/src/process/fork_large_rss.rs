//! # fork-large-rss
//!
//! ## What it is
//! A process with much memory forks, and each fork takes milliseconds: the kernel copies the page tables of all of it, though the child mostly
//! executes another program at once.
//!
//! ## Why it is slow
//! Page tables have 8 bytes for each 4 kB: a fork takes some 10 ms for each GB of resident memory, in which the thread stands still. Then each
//! page that is written again costs a page fault, as long as the child has it too.
//!
//! ## Example
//! ```text
//! clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f1e5a) = 4711 <0.026888>
//! ```
//!
//! ## What to do instead
//! Start programs by posix_spawn or vfork, which share the memory until the child executes (subprocess of Python without preexec_fn, Go, Java do).
//! Or start a small helper process early, before memory is taken, and let it start the children. Huge pages make page tables small.
//!
//! ## When it is wrong
//! A small parent forks in 0.1 to 0.3 ms, also where a tracer adds to it: that is quiet. Forks that take long for want of a CPU are few among
//! quick ones: the median counts.

use super::forking;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, kernel_waits};
use whyslow_facts::{Facts, Forks, ProcessId};
use whyslow_model::{CallStats, Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "fork-large-rss",
    group: "process",
    summary: "forks of a process with much memory take long",
    source: include_str!("fork_large_rss.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["fork", "clone", "clone3"]), Need::Table("offcpu")])],
    check,
};

/// The median fork from which on the parent is large: ten times that of a small one, and more than a tracer adds.
const LONG: Nanos = Nanos::from_millis(2);
/// Fewer forks are a start.
const MIN_FORKS: u64 = 3;

const CALLS: &[&str] = &["clone", "clone3", "fork"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut parents: Vec<(ProcessId, &Forks)> = facts
        .spawns
        .by_parent
        .iter()
        .filter(|(_, forks)| is_large(forks))
        .map(|(process, forks)| (*process, forks))
        .collect();
    parents.sort_by_key(|(process, forks)| (std::cmp::Reverse(forks.copies.total_ns), *process));
    for (process, forks) in &parents {
        report(facts, out, *process, forks);
    }
    if parents.is_empty() {
        by_samples(facts, out);
    }
}

#[gated]
fn is_large(forks: &Forks) -> bool {
    let median = forks.copies.percentile(0.5);
    forks.copies.count >= MIN_FORKS && median.is_known() && median >= LONG
}

fn report(facts: &Facts, out: &mut Findings<'_>, process: ProcessId, forks: &Forks) {
    let copies = &forks.copies;
    let tid = Some(forks.tid).filter(|_| !forks.shared);
    let share = guards::share_of_ns(facts, tid, copies.total(), copies.count);
    let count = Measurement::count("forks", copies.count).at_least(MIN_FORKS as f64);
    let median = Measurement::time("p50", copies.percentile(0.5)).at_least(LONG.or_zero() as f64);
    let took = Measurement::time("time", copies.total());
    let resident = forking::resident(facts, process);
    let memory =
        resident.as_ref().map_or(String::new(), |bytes| format!(" It has {bytes} of resident memory."));
    let faults = forking::on_cpu(facts, process, forking::COPIES_ON_WRITE);
    let faults = (faults > 0).then(|| Measurement::time("time_of_copies_on_write", Nanos::new(faults)));
    let behind = faults.as_ref().map_or(String::new(), |time| {
        format!(" Copies of pages that it wrote to behind the forks took {time} more.")
    });
    let site = callers::of_calls(facts, forks.tid, CALLS);
    let subject = Subjects::thread(facts, forks.tid);
    let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
    let program = forks.favourite().map_or(String::new(), |(path, _)| format!(", mostly to start {path}"));
    out.report(
        share,
        format!("{who} forks {count} times{program}: half of the forks take {median} and more, {took} in all{}", callers::words(site.as_ref())),
    )
    .subject(Subject {
        function: callers::function(site.as_ref()),
        syscall: Some("clone/clone3/fork".to_string()),
        path: forks.favourite().map(|(path, _)| path.to_string()),
        ..subject
    })
    .cause(format!(
        "A fork without CLONE_VM copies the page tables of all memory that the process has, and the thread stands still meanwhile; a small process takes 0.1 to 0.3 ms.{memory}{behind}"
    ))
    .measured(count)
    .measured(median)
    .measured(took)
    .measured(Measurement::time("longest", copies.max()))
    .measured_all(resident)
    .measured_all(faults)
    .fix(FIX_SPAWN)
    .fix(FIX_HELPER)
    .fix(FIX_SMALLER)
    .verify("perf trace -s -e clone,clone3,vfork -p PID;  strace -f -T -e trace=clone,clone3,fork,vfork -p PID")
    .saving(copies.total())
    .evidence_all(forks.copy_lines.iter())
    .file();
}

const FIX_SPAWN: &str = "start programs by posix_spawn or vfork: Python subprocess without preexec_fn (or close_fds=False below 3.10), Ruby's spawn and `…`, Node 22 and later, PHP proc_open; C and C++ posix_spawn instead of fork and exec";
const FIX_HELPER: &str = "start a small helper process before memory is taken, and send it what to start (Python multiprocessing: set_start_method('forkserver'))";
const FIX_SMALLER: &str = "fewer page tables: huge pages for the large part (madvise(MADV_HUGEPAGE)), memory that children do not need marked so (madvise(MADV_DONTFORK)); or many items for one child";

/// The mean of a process's forks, recorded or counted, without clone3, by which glibc makes threads; `None` where their times are not known.
#[gated]
fn mean_fork(facts: &Facts, process: ProcessId) -> Option<Nanos> {
    let threads =
        facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == process);
    let calls = threads.flat_map(|thread| thread.all_calls());
    let mut forks = CallStats::default();
    let is_fork = |name: &str| CALLS.contains(&name) && name != "clone3";
    calls.filter(|(call, _)| is_fork(call.info().name)).for_each(|(_, stats)| forks.merge(stats));
    Some(forks.mean()).filter(|mean| mean.is_known())
}

/// Where calls were only counted: the kernel's stacks tell who copies page tables.
#[gated]
fn by_samples(facts: &Facts, out: &mut Findings<'_>) {
    let is_fork =
        |time: &whyslow_facts::samples::SiteTime<'_>| time.call.is_some_and(|call| CALLS.contains(&call));
    let Some(wait) = kernel_waits::longest(facts, forking::COPIES, true, is_fork) else { return };
    let Some(process) = facts.process_of_thread(wait.tid) else { return };
    // Many short ones are fork-per-task's.
    if mean_fork(facts, process).is_some_and(|mean| mean < LONG) {
        return;
    }
    let took = Measurement::time("time", wait.time);
    let samples = Measurement::count("samples", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let resident = forking::resident(facts, process);
    let memory = resident
        .as_ref()
        .map_or(String::new(), |bytes| format!(" The process has {bytes} of resident memory."));
    let share = wait.share.clone();
    let subject = Subject { syscall: Some("clone/clone3/fork".to_string()), ..wait.subject() };
    let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
    out.report(share, format!("{who} is in forks for {took}, copying its page tables{}", wait.at()))
        .subject(subject)
        .cause(format!("A fork without CLONE_VM copies the page tables of all memory that the process has, and the thread stands still meanwhile.{memory}"))
        .measured(took)
        .measured(samples)
        .measured_all(resident)
        .fix(FIX_SPAWN)
        .fix(FIX_HELPER)
        .fix(FIX_SMALLER)
        .verify("perf top -p PID   (copy_page_range and copy_pte_range fall)")
        .saving(wait.time)
        .file();
}
