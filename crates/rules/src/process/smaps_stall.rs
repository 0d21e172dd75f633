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
//! The one that is read shows it too: of its mmap and munmap calls most take microseconds, and some as long as a reading. In a recording with
//! stacks it waits in the kernel for the lock of its own address space, though it has no other thread that takes it; and who woke it is the
//! one that reads.
//!
//! ## What to do instead
//! Resident memory from statm or status, a group's from memory.current: both are counters. Proportional shares (PSS) once
//! an hour, of one process.
//!
//! ## When it is wrong
//! Small processes are read in well under a millisecond, whose readers are not judged. Where other threads of the process change its map, or
//! a thread of the kernel woke the one that waits, this says nothing. Wakeups are counted, not held against each wait: who wakes a thread
//! often for other reasons may be named in place of the reader.

use super::proc_files::Reading;
use crate::callers;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, WARNING_SHARE};
use crate::kernel_threads;
use crate::kernel_waits::{self, CHANGES_MAP, KernelWait};
use whyslow_facts::{Facts, ProcessId, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Entity, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "smaps-stall",
    group: "process",
    summary: "reading smaps of a process takes long, and stops its threads meanwhile",
    source: include_str!("smaps_stall.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Table("offcpu")]),
        Need::Either(&[Need::Durations, Need::Table("offcpu")]),
    ],
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
/// The part of a thread's waits for the lock that another process ended by letting it go: of the rest the waker may not be recorded.
const MOSTLY_WOKEN: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_readers(facts, out);
    let waiting = of_waiting_victims(facts, out);
    of_victims(facts, out, &waiting);
}

/// Threads that wait in the kernel for the lock of their address space, as stacks tell, where no other thread of their process changes the map
/// and another process wakes them: it holds the lock from outside. Tells which threads are told.
#[gated]
fn of_waiting_victims(facts: &Facts, out: &mut Findings<'_>) -> Vec<Tid> {
    let mut told = Vec::new();
    for wait in kernel_waits::for_map(facts, WARNING_SHARE) {
        let Some(process) = facts.process_of_thread(wait.tid) else { continue };
        if others_change(facts, process, wait.tid) {
            continue;
        }
        let Some((reader, wakes)) = waker_outside(facts, process, wait.tid) else { continue };
        if (wakes as f64) < MOSTLY_WOKEN * wait.waits as f64 {
            continue;
        }
        told.push(wait.tid);
        report_waiting(facts, out, &wait, reader, wakes);
    }
    told
}

/// True where another thread of the process changes its map more than now and then.
#[gated]
fn others_change(facts: &Facts, process: ProcessId, tid: Tid) -> bool {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let others = threads.filter(|thread| thread.process == process && thread.tid != tid);
    let changes = others
        .flat_map(|thread| thread.all_calls())
        .filter(|(call, _)| CHANGES_MAP.contains(&call.info().name));
    changes.map(|(_, stats)| stats.count).saturating_sum() >= guards::FEW_TURNS
}

/// The thread of another program that woke this one most, and how often programs outside woke it.
#[gated]
fn waker_outside(facts: &Facts, process: ProcessId, tid: Tid) -> Option<(Tid, u64)> {
    let is_outside = |waker: Tid| {
        let of = Entity::Process(waker);
        let is_kernels = facts.host.thing(&of).is_some_and(|thing| kernel_threads::is_kernel(&of, thing));
        facts.process_of_thread(waker) != Some(process) && !is_kernels
    };
    let wakers = facts.sched.wakers_of(tid).into_iter().filter_map(|(waker, count)| Some((waker?, count)));
    let outside: Vec<(Tid, u64)> = wakers.filter(|(waker, _)| is_outside(*waker)).collect();
    let (most, _) = outside.first()?;
    Some((*most, outside.iter().map(|(_, count)| *count).saturating_sum()))
}

fn report_waiting(facts: &Facts, out: &mut Findings<'_>, wait: &KernelWait<'_>, reader: Tid, wakes: u64) {
    let time = Measurement::time("time", wait.time);
    let waits = Measurement::count("waits", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let wakes = Measurement::count("wakes_by_others", wakes).at_least(MOSTLY_WOKEN * wait.waits as f64);
    let part = wait.share.figure().at_least(WARNING_SHARE);
    let subject = wait.subject();
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let reader = facts.host.name_of(&Entity::Process(reader));
    let line = format!(
        "thread {}: {waits} waits of {time} in all for the lock; {wakes} wakes by other programs",
        wait.tid
    );
    out.report(
        wait.share.clone(),
        format!(
            "{} waits {time} while {reader} reads its smaps or its memory{}",
            Subjects::words(&subject),
            wait.at()
        ),
    )
    .at_most(Severity::Critical)
    .subject(Subject { syscall: Some(CHANGES_MAP.join(", ")), function: callers::function(wait.site.as_ref()), ..subject })
    .cause(format!("No other thread of the process changes the map, and {reader} woke it as it let the lock go: it reads /proc/{pid}/smaps, smaps_rollup or numa_maps and walks all pages, or reads the memory by ptrace or process_vm_readv(2). Who maps, unmaps or faults in memory waits meanwhile."))
    .measured_all([time, part, waits, wakes])
    .fix(format!("see what {reader} reads: strace -f -e trace=openat,process_vm_readv -p its pid; bpftrace -e 'kprobe:show_smap,kprobe:show_smaps_rollup {{ @[comm, pid] = count(); }}'"))
    .fix("in the reader: resident memory from /proc/PID/statm or status, a group's from memory.current: counters, no walk; once an hour where smaps must be")
    .verify(format!("perf trace -s -p {pid}   (mmap: the maximum falls to that of other calls)"))
    .saving(wait.time)
    .evidence_line(facts.recording_at(facts.window.start), line)
    .file();
}

/// Processes of one busy thread whose calls of mmap and munmap now and then take long, and its other cheap calls do not: the lock
/// of the address space is held from outside.
#[gated]
fn of_victims(facts: &Facts, out: &mut Findings<'_>, told: &[Tid]) {
    let lasted = |thread: &&ThreadFacts| !thread.exited || facts.world.threads.process(thread.process).exited;
    let threads = || facts.world.threads.iter().map(|(_, thread)| thread).filter(lasted);
    for thread in threads().filter(|thread| !told.contains(&thread.tid)) {
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
