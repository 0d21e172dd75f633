//! # mmap-lock-contention
//!
//! ## What it is
//! Threads of one process wait for each other at the lock of its memory map (`mmap_lock`): in mmap, munmap, mprotect and madvise, and in page faults.
//!
//! ## Why it is slow
//! A process has one memory map, and each change of it takes one lock for all its threads. While one thread maps or unmaps, others that do so wait, and
//! so do page faults. More threads then make it slower, and processes instead of threads would not.
//!
//! ## Example
//! ```text
//! 4 threads: mmap(NULL, 65536, …) = 0x7f…; munmap(0x7f…, 65536) = 0
//! waits: rwsem_down_write_slowpath < __vm_munmap < __x64_sys_munmap
//! ```
//!
//! ## What to do instead
//! Change the map less often: keep buffers and use them again, an allocator that keeps freed memory (jemalloc, mimalloc, a higher M_MMAP_THRESHOLD and M_TRIM_THRESHOLD),
//! read by `pread` instead of mapping files. Fault in at once what is needed (MAP_POPULATE). Linux 6.4 and later take page faults without that lock.
//!
//! ## When it is wrong
//! One thread alone waits for nobody, however much it maps: that is mmap-churn. Where another program reads `/proc/PID/smaps` meanwhile, that is who holds the
//! lock (smaps-stall): where the process itself hardly changes its map, nothing is said here.

use crate::callers;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::{self, WARNING_SHARE};
use crate::kernel_waits;
use whyslow_facts::samples::Site;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{CallStats, Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "mmap-lock-contention",
    group: "waits",
    summary: "threads wait for each other at the lock of their memory map",
    source: include_str!("mmap_lock_contention.rs"),
    needs: &[Need::Scheduling, Need::Table("offcpu"), Need::Counts],
    check,
};

/// Fewer are those of a start: then somebody else holds the lock.
const MIN_CHANGES: u64 = 500;
/// Threads that change it, at least: one waits for nobody.
const MIN_THREADS: usize = 2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // Each thread is a place: it is their sum that has to be felt.
    for wait in kernel_waits::for_map(facts, 0.0) {
        let Some(changes) = facts.process_of_thread(wait.tid).and_then(|process| Changes::of(facts, process))
        else {
            continue;
        };
        let subject = wait.subject();
        let holder = changes.longest_in;
        let at = holder.map_or_else(
            || wait.at(),
            |site| format!(", which is held longest in {}", callers::short(&site)),
        );
        let time = Measurement::time("time", wait.time);
        let waits = Measurement::count("waits", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
        let calls =
            Measurement::count("calls_that_change_the_map", changes.calls.count).at_least(MIN_CHANGES as f64);
        let threads =
            Measurement::count("threads_that_change_it", changes.threads as u64).at_least(MIN_THREADS as f64);
        let rate = facts.window.per_second(changes.calls.count);
        let rate = rate.map(|rate| Measurement::per_second("calls_per_second", rate));
        let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} a second"));
        let line = format!(
            "thread {}: {waits} waits of {time} in all for the lock; {calls} calls of {threads} threads",
            wait.tid
        );
        out.report(
            wait.share.clone(),
            format!(
                "thread {} waits {time} for the lock of the memory map{at}: {threads} threads change it by {calls} calls ({})",
                wait.tid,
                changes.names()
            ),
        )
        .from_together(WARNING_SHARE)
        .at_most(Severity::Critical)
        .subject(Subject {
            syscall: Some(changes.names()),
            function: callers::function(holder.as_ref()).or(subject.function),
            ..subject
        })
        .cause(format!(
            "All threads of a process share one memory map, and each call that changes it holds its lock{often}. Who maps, unmaps or takes a page fault meanwhile sleeps. Only the longer waits are recorded with their stacks, so it is rather more."
        ))
        .measured_all([time, waits, calls, threads])
        .measured_all(rate)
        .fix("code: keep buffers and use them again (a pool for each thread) instead of mapping and unmapping; read files by pread instead of mapping them")
        .fix("allocator: jemalloc or mimalloc (LD_PRELOAD), or glibc with GLIBC_TUNABLES=glibc.malloc.mmap_threshold=268435456:glibc.malloc.trim_threshold=536870912, which give memory back seldom")
        .fix("processes instead of threads for such work: each has a map of its own; Linux 6.4 and later: page faults take no such lock")
        .verify("perf trace -s -p PID (mmap, munmap); bpftrace -e 'tracepoint:mmap_lock:mmap_lock_start_locking { @[kstack(3)] = count(); }'")
        .saving(wait.time)
        .evidence_line(facts.recording_at(facts.window.start), line)
        .file();
    }
}

/// The calls of a process that change its memory map.
struct Changes<'f> {
    calls: CallStats,
    /// Where most time of these calls on a CPU is spent: who holds the lock longest.
    longest_in: Option<Site<'f>>,
    threads: usize,
    by_name: Vec<(&'static str, u64)>,
}

impl<'f> Changes<'f> {
    #[gated]
    fn of(facts: &'f Facts, process: ProcessId) -> Option<Changes<'f>> {
        let longest_in = callers::running_calls(facts, process, kernel_waits::CHANGES_MAP);
        let mut changes =
            Changes { calls: CallStats::default(), longest_in, threads: 0, by_name: Vec::new() };
        let threads = facts.world.threads.iter().map(|(_, thread)| thread);
        for thread in threads.filter(|thread| thread.process == process) {
            let mut own = 0u64;
            for (call, stats) in thread.all_calls() {
                let name = call.info().name;
                if !kernel_waits::CHANGES_MAP.contains(&name) {
                    continue;
                }
                changes.calls.merge(stats);
                own = own.saturating_add(stats.count);
                match changes.by_name.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count = count.saturating_add(stats.count),
                    None => changes.by_name.push((name, stats.count)),
                }
            }
            changes.threads += usize::from(own >= guards::FEW_TURNS);
        }
        changes.by_name.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        (changes.calls.count >= MIN_CHANGES && changes.threads >= MIN_THREADS).then_some(changes)
    }

    /// `mmap, munmap`.
    fn names(&self) -> String {
        let names: Vec<&str> = self.by_name.iter().take(2).map(|(name, _)| *name).collect();
        names.join(", ")
    }
}
