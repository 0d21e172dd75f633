//! # writeback-throttle
//!
//! ## What it is
//! Programs write faster than the disk takes it. The page cache holds the difference until it may hold no more; then the
//! kernel makes the writers wait.
//!
//! ## Why it is slow
//! A `write` that took a microsecond now takes as long as the disk needs for as much, and it hits whoever writes next:
//! logs, databases, `df`. A tool on the process shows ten times what one on the disk shows; both are right.
//!
//! ## Example
//! ```text
//! python3 (514) writes 335.7 MB/s, the disks take 33.7 MB/s; 1.9 GB of 2.0 GB may be dirty
//! ```
//!
//! ## What to do instead
//! Write less (temporary files in memory, compression, no second copy), or bound the one who writes with a group of its
//! own. Smaller dirty limits make the waits shorter, not fewer.
//!
//! ## When it is wrong
//! A short burst is what the page cache is for: as long as the dirty memory stays below the limit, nobody is made to wait.
//! What is removed before it was written (cancelled) never reaches the disk, and is not counted. Writers that are held back all the time
//! write no faster than the disk takes it: of a recorded thread the stacks of its waits tell, which must be in `balance_dirty_pages` five
//! times and for 5 % of its life.

use super::devices;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::kernel_waits::{self, KernelWait};
use crate::words;
use crate::{figures, kernel_threads};
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_facts::samples::SiteTime;
use whyslow_model::{Entity, Measurement, Metric, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "writeback-throttle",
    group: "io",
    summary: "programs write faster than the disk takes it, and are made to wait",
    source: include_str!("writeback_throttle.rs"),
    needs: &[
        Need::Either(&[figures::tasks(&[Metric::WriteBytes]), Need::Table("offcpu")]),
        Need::Either(&[figures::disks(&[Metric::WriteBytes, Metric::Utilisation]), Need::Table("offcpu")]),
    ],
    check,
};

/// Written by programs over what the disks take: more than measuring at two places explains.
const TIMES: f64 = 2.0;
/// Bytes a second of programs: less fills no cache.
const MIN_RATE: f64 = 8_388_608.0;
/// Part of the dirty limit in use: writers wait from the middle between the background limit and this on (kernel:
/// domain_dirty_freerun).
const NEAR_LIMIT: f64 = 0.75;
/// What sets that limit, where a dump of sysctl tells.
const SETTINGS: [Metric; 3] =
    [Metric::DirtyRatio, Metric::DirtyBackgroundLimit, Metric::DirtyBackgroundRatio];
/// The kernel function in which writers are made to wait.
const THROTTLED: [&str; 1] = ["balance_dirty_pages"];

const LESS: &str = "write less: temporary files in memory (tmpfs) or not at all, compression, no second copy of logs (see the findings about files)";
const BOUND: &str = "bound the writer: a group with io.max or memory.high of its own; large copies with O_DIRECT (dd oflag=direct) or sync_file_range";
const VERIFY: &str = "grep -E 'Dirty|Writeback:' /proc/meminfo; iostat -x 1 beside pidstat -d 1; bpftrace -e 'tracepoint:writeback:balance_dirty_pages { @[comm] = hist(args->pause); }'";
/// Calls that write to the page cache.
const WRITES: [&str; 5] = ["write", "pwrite64", "writev", "pwritev", "sendfile"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let writes = |time: &SiteTime<'_>| time.call.is_some_and(|call| WRITES.contains(&call));
    match kernel_waits::longest(facts, &THROTTLED, false, writes) {
        Some(wait) => of_stacks(facts, out, &wait),
        None => of_figures(facts, out),
    }
}

/// A recorded thread that the kernel holds back.
#[gated]
fn of_stacks(facts: &Facts, out: &mut Findings<'_>, wait: &KernelWait<'_>) {
    let time = Measurement::time("time", wait.time);
    let waits = Measurement::count("waits", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let slowest = facts.slow_files.by_time();
    let file = slowest
        .iter()
        .find(|slow| slow.by_syscall.iter().any(|(call, _)| WRITES.contains(&facts.name_of(*call))));
    let to = file.map_or(String::new(), |file| format!(" to {}", file.name));
    let host = facts.host.host();
    let dirty = host.and_then(|host| host.sum_current(&[Metric::MemDirty, Metric::MemWriteback]));
    let limit = host.and_then(|host| host.current(Metric::DirtyLimit)).filter(|bytes| *bytes > 0.0);
    let figures = [("dirty", dirty), ("dirty_limit", limit)];
    let figures =
        figures.into_iter().filter_map(|(name, bytes)| Some(Measurement::bytes(name, bytes? as u64)));
    out.report(wait.share.clone(), format!("{} {time} in writes{to}{}: the kernel holds writers back until the disk has taken what was written", wait.who(), wait.at()))
        .measured_all([time, waits, wait.share.figure().at_least(WARNING_SHARE)])
        .measured_all(figures)
        .measured_all(devices::beneath_figures(facts))
        .subject(Subject { path: file.map(|file| file.name.clone()), syscall: Some("write".to_string()), ..wait.subject() })
        .cause(format!("What is written goes to the page cache, and the disk takes less than that. When too much of it is dirty, the kernel lets a writer sleep (balance_dirty_pages), so that each write takes as long as the disk needs.{}", devices::beneath(facts)))
        .fix(LESS)
        .fix("not in the request's path: a thread or queue of its own that writes; a faster volume for it")
        .fix(BOUND)
        .verify(VERIFY)
        .saving(wait.time)
        .evidence_line(facts.recording_at(facts.window.start), format!("thread {}: {} in balance_dirty_pages, by the stacks of its waits", wait.tid, words::plural(wait.waits, "wait")))
        .evidence_all(file.iter().flat_map(|file| file.exemplars.iter()))
        .file();
}

/// What a look at the host tells.
#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let writers = figures::most(facts, dirtied);
    let writers: Vec<_> =
        writers.into_iter().filter(|(_, of, thing)| !kernel_threads::is_kernel(of, thing)).collect();
    let written: f64 = writers.iter().map(|(rate, ..)| rate).sum();
    let disks = devices::disks(facts);
    let rates = disks.iter().filter_map(|disk| disk.thing.current(Metric::WriteBytes));
    let taken = rates.sum::<f64>();
    let Some((first, of, _)) = writers.first() else { return };
    if written < MIN_RATE || written < TIMES * taken {
        return;
    }
    let host = facts.host.host();
    let dirty = host.and_then(|host| host.sum_current(&[Metric::MemDirty, Metric::MemWriteback]));
    let limit = host.and_then(|host| host.current(Metric::DirtyLimit)).filter(|bytes| *bytes > 0.0);
    let near = dirty.zip(limit).map(|(dirty, limit)| dirty >= NEAR_LIMIT * limit);
    let throttled = facts.host.things_that(|of| matches!(of, Entity::Process(_) | Entity::Thread { .. }));
    let throttled =
        throttled.into_iter().filter_map(|(of, thing)| Some((devices::share_in(thing, &THROTTLED)?, of)));
    let victim = throttled
        .reduce(|most, one| if one.0 > most.0 { one } else { most })
        .filter(|(share, _)| *share >= WARNING_SHARE);
    let full = disks
        .iter()
        .find(|disk| disk.is_busy() && disk.thing.current(Metric::WriteBytes).is_some_and(|rate| rate > 0.0));
    // The limit says it where it is known; else a full disk, or a writer that was seen waiting.
    if victim.is_none() && !near.unwrap_or(full.is_some()) {
        return;
    }
    let share = victim.as_ref().map_or_else(Share::unknown, |(value, of)| {
        Share::of_time(
            *value,
            format!("the looks at {}, in which it was made to wait", facts.host.name_of(of)),
        )
    });
    let held = match (dirty, limit) {
        (Some(dirty), Some(limit)) => format!(
            " {} wait to be written, and {} may.",
            words::bytes(dirty as u64),
            words::bytes(limit as u64)
        ),
        _ => String::new(),
    };
    let dirty = dirty.map(|bytes| Measurement::bytes("dirty", bytes as u64));
    let dirty = dirty.map(|bytes| match limit {
        Some(limit) => crate::guards::passed(bytes, NEAR_LIMIT * limit),
        None => bytes,
    });
    let limit = limit.map(|bytes| Measurement::bytes("dirty_limit", bytes as u64));
    let all = Measurement::bytes_per_second("bytes_per_second_of_all", written);
    let all = all.at_least(MIN_RATE.max(TIMES * taken));
    let first = Measurement::bytes_per_second("bytes_per_second", *first);
    let taken = Measurement::bytes_per_second("bytes_per_second_to_disks", taken);
    let disk = full.map_or(String::new(), |disk| format!(" {} has no room for more.", disk.name()));
    let title = format!(
        "{} writes {first}, and the disks take {taken}: writers are made to wait",
        facts.host.name_of(of),
    );
    let mut report = out
        .report(share, title)
        .measured_all([first, taken, all])
        .measured_all(dirty)
        .measured_all(limit)
        .subject(figures::subject(facts, of))
        .cause(format!("What programs write goes to the page cache first; when too much of it is dirty, the kernel slows all who write down to the disk's pace.{held}{disk} All writers: {}.", figures::named(facts, &writers, Metric::WriteBytes, None)))
        .fix(LESS)
        .fix(BOUND)
        .fix("for shorter waits of the others: sysctl -w vm.dirty_bytes=268435456 vm.dirty_background_bytes=67108864")
        .verify(VERIFY)
        .evidence_of(of, &[Metric::WriteBytes, Metric::CancelledWriteBytes])
        .evidence_of(&Entity::Host, &[Metric::MemDirty, Metric::MemWriteback, Metric::DirtyLimit])
        .evidence_of(&Entity::Host, &SETTINGS);
    for disk in disks.iter().take(2) {
        report = report.evidence_of(disk.of, &[Metric::WriteBytes, Metric::Utilisation]);
    }
    report.file();
}

/// Bytes a second that a program wrote and that were to reach a disk.
fn dirtied(thing: &Thing) -> Option<f64> {
    let cancelled = thing.current(Metric::CancelledWriteBytes).unwrap_or(0.0);
    Some((thing.current(Metric::WriteBytes)? - cancelled).max(0.0))
}
