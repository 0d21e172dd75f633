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
//! The one that is read shows it too: of its mmap and munmap calls most take microseconds, and some as long as a reading.
//!
//! ## What to do instead
//! Resident memory from statm or status, a group's from memory.current: both are counters. Proportional shares (PSS) once
//! an hour, of one process.
//!
//! ## When it is wrong
//! Small processes are read in well under a millisecond, whose readers are not judged.

use super::proc_files::Reading;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_model::{CallStats, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "smaps-stall",
    group: "process",
    summary: "reading smaps of a process takes long, and stops its threads meanwhile",
    source: include_str!("smaps_stall.rs"),
    needs: &[Need::Calls, Need::Durations],
    check,
};

/// A reading that takes this long is felt by a thread that waits for it (a frame of a game, a request of a cache).
const SLOW: Nanos = Nanos::from_millis(10);
/// Readings: one may be somebody's question.
const MIN_READINGS: u64 = 2;

/// Calls of which the median and the tail tell something.
const MIN_CALLS: u64 = 100;
/// What changing the map of memory takes at most where nobody is in the way: a page or two of the kernel's own, and a tracer's stop.
const UNDISTURBED: Nanos = Nanos::new(100_000);
/// How many times longer they are on average than half of them: what they wait for is the exception, and long.
const TAIL: u64 = 10;
/// How many times longer than its other cheap calls, which lose as much to a tracer or for want of a CPU.
const TO_OTHERS: u64 = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_readers(facts, out);
    of_victims(facts, out);
}

/// Processes of one busy thread whose calls of mmap and munmap now and then take long, and its other cheap calls do not: the lock
/// of the address space is held from outside.
#[gated]
fn of_victims(facts: &Facts, out: &mut Findings<'_>) {
    let threads = || facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| !thread.exited);
    for thread in threads() {
        let alone = threads().all(|other| {
            other.process != thread.process
                || other.tid == thread.tid
                || other.all_calls().all(|(_, calls)| calls.count == 0)
        });
        if !alone {
            continue;
        }
        let (mut maps, mut others) = (CallStats::default(), CallStats::default());
        for (syscall, calls) in thread.all_calls() {
            match facts.name_of(syscall) {
                "mmap" | "munmap" | "mremap" | "mprotect" | "brk" => maps.merge(calls),
                "close" | "fcntl" | "fstat" | "newfstatat" | "lseek" | "getpid" | "gettid" => {
                    others.merge(calls)
                }
                _ => {}
            }
        }
        let (usual, mean) = (maps.percentile(0.5), maps.mean());
        let waits = maps.count >= MIN_CALLS
            && maps.max().or_zero() >= SLOW.or_zero()
            && usual.get().is_some_and(|usual| usual <= UNDISTURBED.or_zero())
            && mean.or_zero() >= TAIL * usual.or_zero();
        let others_do_not =
            others.count >= MIN_CALLS && others.mean().or_zero().saturating_mul(TO_OTHERS) <= mean.or_zero();
        if !waits || !others_do_not {
            continue;
        }
        let most = mean.or_zero() / TO_OTHERS;
        let least = usual.or_zero().saturating_mul(TAIL);
        let mean = Measurement::time("time_per_call", mean).at_least(least as f64);
        let usual = Measurement::time("p50", usual).at_most(UNDISTURBED.or_zero() as f64);
        let longest = Measurement::time("longest", maps.max()).at_least(SLOW.or_zero() as f64);
        let calls = Measurement::count("calls", maps.count).at_least(MIN_CALLS as f64);
        let time = Measurement::time("time", maps.total());
        let other_calls = Measurement::count("other_calls", others.count).at_least(MIN_CALLS as f64);
        let other_time = Measurement::time("time_per_other_call", others.mean()).at_most(most as f64);
        let subject = Subjects::thread(facts, thread.tid);
        let who = Subjects::words(&subject);
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        // The thread's own time is that of the calls that were seen one by one.
        let whose = Some(thread.tid).filter(|_| thread.counted.is_none());
        out.report(guards::share_of_time(facts, whose, &maps), format!("{who} waits for its own address space while somebody reads its smaps: mmap and munmap take {mean}, half of them {usual} ({longest} at most)"))
            .subject(Subject { syscall: Some("mmap".to_string()), ..subject })
            .cause(format!("{calls} calls that change the map of its memory took {time} in all, and its other calls that need no device take {other_time}. The process has one thread, so another process holds the lock of its address space: whoever reads /proc/{pid}/smaps, smaps_rollup or numa_maps, and walks all of its pages meanwhile."))
            .measured_all([calls, time, mean, usual, longest, other_calls, other_time])
            .fix(format!("find the reader: bpftrace -e 'kprobe:show_smap,kprobe:show_smaps_rollup {{ @[comm, pid] = count(); }}'; or opensnoop | grep /proc/{pid}/"))
            .fix("in the reader: resident memory from /proc/PID/statm or status, a group's from memory.current: counters, no walk; once an hour where smaps must be")
            .verify(format!("perf trace -s -p {pid}   (mmap: the maximum falls to that of other calls)"))
            .saving(maps.total())
            .file();
    }
}

#[gated]
fn of_readers(facts: &Facts, out: &mut Findings<'_>) {
    let reading = Reading::of(facts, |name| matches!(name, "smaps" | "smaps_rollup"));
    let each = Nanos::new(reading.time_ns / reading.opens.max(1));
    let Some(worst) = reading.worst.filter(|_| reading.opens >= MIN_READINGS && each >= SLOW) else { return };
    let path = worst.path.to_string();
    let opens = Measurement::count("opens", reading.opens).at_least(MIN_READINGS as f64);
    let each = Measurement::time("time_per_open", each).at_least(SLOW.or_zero() as f64);
    let time = Measurement::time("time", Nanos::new(reading.time_ns));
    out.report(reading.share(facts), format!("smaps of processes read {opens} times, {each} each: their threads wait meanwhile"))
        .at_least(Severity::Notice)
        .subject(Subject {
            path: Some(path.clone()),
            ..reading.tid.map_or(Subject::default(), |tid| Subjects::thread(facts, tid))
        })
        .cause(format!("For each reading the kernel walks all page tables of the process and holds the lock of its address space: whoever maps, unmaps or faults in memory there waits for it (most time: {path}). The share is the reader's; what the process that is read loses stands in no trace of the reader."))
        .fix("resident memory from /proc/PID/statm or status, a group's from memory.current: counters, no walk")
        .fix("process-exporter: -gather-smaps=false; Datadog, Prometheus and other agents have the like; else once an hour")
        .verify("bcc: funclatency smaps_rollup or show_smap, funcslower; perf trace -p PID_OF_THE_PROCESS shows its mmap and munmap wait")
        .measured_all([opens, each, time])
        .saving(Nanos::new(reading.time_ns))
        .evidence_all(reading.lines())
        .file();
}
