//! # smaps-stall
//!
//! ## What it is
//! A program reads /proc/PID/smaps or smaps_rollup of other processes, and each reading takes long.
//!
//! ## Why it is slow
//! The kernel walks all page tables of the process for it, 10 ms for a gigabyte and more, and holds the lock of its
//! address space meanwhile: threads of that process that map, unmap or fault in memory wait for the monitor.
//!
//! ## Example
//! ```text
//! read(9, "55e0c0a00000-55e0c0a02000 r--p"..., 4096) = 4083 <0.048119>
//! ```
//!
//! ## What to do instead
//! Resident memory from statm or status, a group's from memory.current: both are counters. Proportional shares (PSS) once
//! an hour, of one process.
//!
//! ## When it is wrong
//! Small processes are read in well under a millisecond, whose readers are not judged.

use super::proc_files::Reading;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "smaps-stall",
    group: "process",
    summary: "reading smaps of a process takes long, and stops its threads meanwhile",
    source: include_str!("smaps_stall.rs"),
    needs: &[Need::Calls, Need::Durations, Need::Descriptors],
    check,
};

/// A reading that takes this long is felt by a thread that waits for it (a frame of a game, a request of a cache).
const SLOW: Nanos = Nanos::from_millis(10);
/// Readings: one may be somebody's question.
const MIN_READINGS: u64 = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let reading = Reading::of(facts, |name| matches!(name, "smaps" | "smaps_rollup"));
    let each = Nanos::new(reading.time_ns / reading.opens.max(1));
    let Some(worst) = reading.worst.filter(|_| reading.opens >= MIN_READINGS && each >= SLOW) else { return };
    let path = worst.path.to_string();
    out.report(reading.share(facts), format!("smaps of processes read {} times, {each} each: their threads wait meanwhile", words::count(reading.opens)))
        .at_least(Severity::Notice)
        .confidence(0.8)
        .subject(Subject {
            path: Some(path.clone()),
            ..reading.tid.map_or(Subject::default(), |tid| Subjects::thread(facts, tid))
        })
        .cause(format!("For each reading the kernel walks all page tables of the process and holds the lock of its address space: whoever maps, unmaps or faults in memory there waits for it (most time: {path}). The share is the reader's; what the process that is read loses stands in no trace of the reader."))
        .fix("resident memory from /proc/PID/statm or status, a group's from memory.current: counters, no walk")
        .fix("process-exporter: -gather-smaps=false; Datadog, Prometheus and other agents have the like; else once an hour")
        .verify("bcc: funclatency smaps_rollup or show_smap, funcslower; perf trace -p PID_OF_THE_PROCESS shows its mmap and munmap wait")
        .saving(Nanos::new(reading.time_ns))
        .evidence_all(reading.lines())
        .file();
}
