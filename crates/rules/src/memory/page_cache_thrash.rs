//! # page-cache-thrash
//!
//! ## What it is
//! Pages of files that were just dropped for want of memory are read again, over and over: the host's or a group's memory
//! is smaller than the files in use.
//!
//! ## Why it is slow
//! What should come from memory comes from the disk, the program's own code too. Reads rise, the disk is busy, and each
//! page that comes in pushes out another that is needed next.
//!
//! ## Example
//! ```text
//! /docker/4f1c: 18,400 refaults/s, 96.0 % of what it reads; tasks wait 61.0 % of the time; 511 MB of 512 MB in use
//! ```
//!
//! ## What to do instead
//! More memory for the group, or less in use beside the cache; scans of large files must not evict what is used
//! (`posix_fadvise(DONTNEED)`, O_DIRECT).
//!
//! ## When it is wrong
//! Reading a large file once fills memory with cache as well, but nothing is read *again*: no refaults. A database with
//! a full page cache rereads a little; where tasks wait for memory less than 5 % of the time, nothing is said.
//! Pages that a reclaimer takes ahead of need (DAMON), or that a program has dropped, are read again too: where the group, or the host
//! of a group without a limit, has room, nothing is said. In a trace the file stands for it: read several times over, with
//! reads that take as long as a device's. Those of a file that is open with O_DIRECT do so too.

use super::pressure;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::passed;
use crate::{figures, guards};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Entity, FdKind, Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "page-cache-thrash",
    group: "memory",
    summary: "pages of files are read again right after they were dropped",
    source: include_str!("page_cache_thrash.rs"),
    needs: &[Need::Either(&[figures::memory(&[Metric::Refaults]), Need::Durations])],
    check,
};

/// Pages read again, a second: at 100 us each on flash, 10 % of a thread.
const MIN_REFAULTS: f64 = 1_000.0;
/// In a trace: passes over a file from which on most of it was in memory before, of reads at random too: of twice the size 57 % are
/// of pages that were read already (1 - (1 - e^-2) / 2).
const AGAIN: u64 = 2;
/// Smaller files stay in any cache.
const LARGE: u64 = 16 << 20;
/// Larger pieces take as long to copy as a device to answer.
const SMALL: f64 = 128.0 * 1024.0;
/// What a read from flash takes at least; out of the page cache it takes a tenth.
const FROM_DEVICE: Nanos = Nanos::new(100_000);
/// Of what can be had, the part in use: the group or the host is full.
const FULL: f64 = 0.90;
/// Of what is read, the part that was in memory before from which on waits for disks are for it.
const MOSTLY: f64 = 0.5;
/// Bytes of a page.
const PAGE: f64 = 4_096.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_figures(facts, out);
    if pressure::scopes(facts).iter().all(|(_, thing)| thing.current(Metric::Refaults).is_none()) {
        of_calls(facts, out);
    }
}

/// Files of which several times as much was read as they hold, while most reads still wait for the device.
#[gated]
fn of_calls(facts: &Facts, out: &mut Findings<'_>) {
    let slow = FROM_DEVICE.or_zero().saturating_add(facts.pace.stop.or_zero());
    let again = |stream: &&Stream| {
        let reads = &stream.reads;
        stream.kind == FdKind::File
            && stream.size.is_some_and(|size| size >= LARGE && reads.calls.bytes / AGAIN >= size)
            && reads.mean_size().is_some_and(|mean| mean <= SMALL)
            && reads.calls.percentile(0.5).or_zero() >= slow
            && stream.writes.calls.count == 0
    };
    for stream in facts.streams.iter().filter(again) {
        let reads = &stream.reads;
        let Some(bytes) = stream.size else { continue };
        let size = Measurement::bytes("file_size", bytes).at_least(LARGE as f64);
        let half = Measurement::time("p50", reads.calls.percentile(0.5)).at_least(slow as f64);
        let read = Measurement::bytes("bytes", reads.calls.bytes);
        let times = Measurement::number("times_read", reads.calls.bytes as f64 / bytes as f64);
        let calls = Measurement::count("reads", reads.calls.count);
        let each =
            reads.mean_size().map(|mean| Measurement::bytes("bytes_per_read", mean as u64).at_most(SMALL));
        let share = guards::share_of_ns(facts, reads.only_thread(), reads.time(), reads.calls.count);
        out.report(share, format!("{}: {read} were read of {size}, and half of the {calls} reads still wait {half} and more: the page cache does not keep it", stream.name))
            .subject(Subject { path: stream.path.clone(), syscall: Some("read".to_string()), ..Subjects::thread(facts, reads.tid) })
            .cause("What was read once lies in the page cache, and a second reading of it takes microseconds. Here it takes as long as a device does: the pages are dropped before they are needed again, because the host or the control group has too little memory for them (or the file is opened with O_DIRECT, and the program's own cache is too small).")
            .fix("see which: grep -H . /sys/fs/cgroup/GROUP/memory.{max,current}, grep refault /sys/fs/cgroup/GROUP/memory.stat twice; cat /proc/pressure/memory")
            .fix("give the group or the host more memory, or take some from the programs beside the cache (heaps, workers)")
            .fix("hot files: mlock or vmtouch -l; what reads much once (backups, scans) must not evict the rest: posix_fadvise(POSIX_FADV_DONTNEED)")
            .verify("bcc: cachestat 1 (hit ratio); strace -T: the reads take microseconds")
            .measured_all([read, size, times.at_least(AGAIN as f64), calls, half])
            .measured_all(each)
            .saving(reads.time())
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let mut told = 0;
    for (of, thing) in pressure::scopes(facts) {
        // The host's counters hold its groups' refaults as well.
        if told >= MOST || told > 0 && *of == Entity::Host {
            return;
        }
        let Some(refaults) = thing.current(Metric::Refaults).filter(|rate| *rate >= MIN_REFAULTS) else {
            continue;
        };
        let read = thing.sum_current(&[Metric::PageIn]).or_else(|| thing.current(Metric::ReadBytes));
        let part = read.filter(|read| *read > 0.0).map(|read| (refaults * PAGE / read).min(1.0));
        // Pressure counts pages that were in use only; of a group a recording tells more.
        let cost = pressure::cost(facts, of, &[Metric::ThrashDelay]).filter(pressure::Cost::is_felt);
        let mostly_again = part.is_none_or(|part| part >= MOSTLY);
        let recorded = || pressure::disk_wait(facts, of).filter(|cost| mostly_again && cost.is_felt());
        let Some(cost) = cost.or_else(recorded) else { continue };
        let fill = pressure::fill(facts, thing);
        if fill.is_some_and(|fill| fill < FULL) {
            continue;
        }
        told += 1;
        let fill = fill.map(|fill| Measurement::share("memory_in_use", fill).at_least(FULL));
        let part = part.map(|part| passed(Measurement::share("share_of_reads", part), MOSTLY));
        let of_reads =
            part.as_ref().map_or(String::new(), |part| format!(" They are {part} of what is read."));
        let path = match of {
            Entity::Cgroup(path) => format!("/sys/fs/cgroup{path}/memory.stat"),
            _ => "/proc/vmstat".to_string(),
        };
        let refaults = Measurement::per_second("refaults_per_second", refaults).at_least(MIN_REFAULTS);
        let waits = cost.figure();
        let (in_use, memory) = pressure::in_use(thing);
        let who = facts.host.name_of(cost.of);
        let (title, subject) = match cost.reads {
            Some((tid, file)) => (
                format!(
                    "{who} waits {waits} of its busy time for pages of {file} that were dropped: {refaults} pages a second are read again in {of}"
                ),
                Subject { path: Some(file.to_string()), ..Subjects::thread(facts, tid) },
            ),
            None => (
                format!(
                    "{of}: {refaults} pages a second are read again right after they were dropped; {who} waits {waits} of its time"
                ),
                figures::subject(facts, of),
            ),
        };
        out.report(cost.share, title)
            .subject(subject)
            .cause(format!("The files in use do not fit into the memory left for the page cache, so each page that is read pushes out one that is needed soon.{of_reads}{in_use}{}", pressure::who(facts, Metric::MajorFaults, "page faults that read")))
            .fix("give the group or the host more memory, or take some from the programs beside the cache (heaps, workers)")
            .fix("what reads much once (backups, scans, copies) must not evict the rest: posix_fadvise(POSIX_FADV_DONTNEED), O_DIRECT, a memory group of its own")
            .fix("hot files and the program's code: mlock or vmtouch -l; memory.low of the group protects its cache from others")
            .verify(format!("grep refault {path} twice (stands still); cat /proc/pressure/memory; bcc: cachestat 1 (hit ratio)"))
            .measured(refaults)
            .measured(waits)
            .measured_all(part.into_iter().chain(fill).chain(memory))
            .evidence_of(of, &[Metric::Refaults, Metric::PageIn, Metric::MemTotal, Metric::MemUsed, Metric::MemAvailable])
            .evidence_of(cost.of, &[cost.metric])
            .file();
    }
}
