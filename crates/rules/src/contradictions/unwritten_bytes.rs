//! # unwritten-bytes
//!
//! ## What it is
//! Processes write several times more than their disks do.
//!
//! ## Why it is slow
//! A write call ends when the page cache has the data: what a process writes is not what its disk writes. The rest waits as
//! dirty pages until the disk has time. When there are too many of them, the kernel makes each writer wait: then the program
//! is as slow as the disk, all at once, and other programs that write there wait too.
//!
//! ## Example
//! ```text
//! pidstat -d:  14:39:15  0  12280  0.00 335716.00  0.00  0  python
//! iostat -x:   sda  0.00 71.00  0.00 32912.00 … 18118.31 241.89 … 98.40
//! ```
//!
//! ## What to do instead
//! Write less: what is removed again soon needs no disk (memory, tmpfs). Else spread it: a lower `vm.dirty_bytes` makes for
//! shorter waits, a faster disk for fewer.
//!
//! ## When it is wrong
//! Files on tmpfs or on a network file system reach no disk of this host. What is removed before it was written never
//! does: pidstat's `kB_ccwr/s` tells how much. Two looks at different times say nothing; where both tell when, they are
//! compared only if the times agree. Writing fast into memory is what the page cache is for: where one sampler saw both, no
//! disk is busy and the dirty pages are far from their limit, there is no riddle, and nothing is said.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, Thing};
use whyslow_model::{Entity, Measurement, Metric, Subject, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "unwritten-bytes",
    group: "contradictions",
    summary: "processes write several times more than the disks do",
    source: include_str!("unwritten_bytes.rs"),
    needs: &[Need::Figures(
        &[Metric::WriteBytes],
        "what processes and disks write",
        "pidstat -d 1 10 > pidstat.txt & iostat -x 1 10 > iostat.txt",
    )],
    check,
};

/// Written by processes, bytes a second: less fits into any page cache for a while.
const MUCH: f64 = 10e6;
/// Times more than the disks write. Below, the two may have been looked at a moment apart.
const TIMES: f64 = 3.0;
/// Share of time with a request under way from which on a reader suspects the disk.
const BUSY: f64 = 0.90;
/// Part of the dirty limit from which on writers are made to wait (kernel: domain_dirty_freerun).
const NEAR_LIMIT: f64 = 0.75;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let processes = facts.host.processes();
    let devices = facts.host.devices();
    let mut writers: Vec<_> = writes(&processes);
    let disks: Vec<_> = writes(&devices).into_iter().filter(|(of, thing, _)| is_disk(of, thing)).collect();
    writers.sort_by(|a, b| b.2.mean().total_cmp(&a.2.mean()));
    let (Some((most, process, by_process)), Some((_, _, by_disk))) = (writers.first(), disks.first()) else {
        return;
    };
    if !by_process.may_be_of_one_time(by_disk) {
        return;
    }
    let cancelled: f64 =
        processes.iter().filter_map(|(_, thing)| thing.current(Metric::CancelledWriteBytes)).sum();
    let sum =
        |of: &[(&Entity, &Thing, &Reading)]| of.iter().map(|(_, _, reading)| reading.mean()).sum::<f64>();
    let (written, on_disk) = ((sum(&writers) - cancelled).max(0.0), sum(&disks));
    if written < MUCH || written < TIMES * on_disk {
        return;
    }
    // Two tools side by side mislead whoever believes one of them.
    if by_process.tool == by_disk.tool && !is_suspect(facts, &disks) {
        return;
    }
    let rate = |name, value| Measurement::bytes_per_second(name, value);
    let of_most = rate("bytes_per_second", by_process.mean());
    let of_disks = rate("bytes_per_second_of_disks", on_disk);
    let of_all = rate("bytes_per_second_of_processes", written).at_least(MUCH);
    let waiting = rate("bytes_per_second_unwritten", written - on_disk);
    let times = Measurement::number("times_apart", written / on_disk).at_least(TIMES);
    // Where no disk writes, there is no such number.
    let times = Some(times).filter(|times| times.value.is_some());
    let pid = most.pid().map_or("PID".to_string(), |pid| pid.to_string());
    let names: Vec<String> =
        disks.iter().filter(|(.., reading)| reading.mean() > 0.0).map(|(of, ..)| of.to_string()).collect();
    let on = if names.is_empty() { "no disk".to_string() } else { words::list(&names, 3) };
    let who = facts.host.name_of(most);
    let clock = match by_process.to.is_known() && by_disk.to.is_known() {
        true => "",
        false => " One of the two shows no time: they are taken for one moment.",
    };
    let mut found = out
        .disagreement(format!(
            "{who} writes {} by {}, and {on} writes {} by {}: the rest waits in memory",
            of_most,
            by_process.tool,
            of_disks,
            by_disk.tool
        ))
        .subject(Subject {
            pid: most.pid(),
            comm: process.told(Trait::Name).map(str::to_string),
            device: names.first().cloned(),
            ..Subject::default()
        })
        .cause(format!(
            "A write ends in the page cache: {} of {} becomes dirty pages that wait to be written back, or never need to \
             (removed before, tmpfs, a network file system).{clock}",
            waiting,
            of_all,
        ))
        .measured_all([of_most, of_disks, of_all, waiting])
        .measured_all(times)
        .fix(format!("see whether dirty pages pile up and writers are made to wait: grep -E 'Dirty|Writeback:' /proc/meminfo; grep -r balance_dirty_pages /proc/{pid}/task/*/stack"))
        .fix("see whether the files are removed again before they are written (then memory or tmpfs is their place): whyslow files on a trace with -f")
        .evidence_of(most, &[Metric::WriteBytes]);
    for (of, ..) in disks.iter().filter(|(.., reading)| reading.mean() > 0.0).take(2) {
        found = found.evidence_of(of, &[Metric::WriteBytes]);
    }
    found.verify("sync; pidstat -d 1 5 beside iostat -x 1 5   (the disk goes on writing after the process stopped)").file();
}

/// True where a disk looks like the cause, or what waits to be written is near its limit.
#[gated]
fn is_suspect(facts: &Facts, disks: &[(&Entity, &Thing, &Reading)]) -> bool {
    let busy = |thing: &Thing| thing.current(Metric::Utilisation).is_some_and(|share| share >= BUSY);
    let host = facts.host.host();
    let of_host = |metric| host.and_then(|host| host.current(metric));
    let dirty = host.and_then(|host| host.sum_current(&[Metric::MemDirty, Metric::MemWriteback]));
    let limit = of_host(Metric::DirtyLimit).filter(|bytes| *bytes > 0.0);
    let near = dirty.zip(limit).is_some_and(|(dirty, limit)| dirty >= NEAR_LIMIT * limit);
    near || disks.iter().any(|(_, thing, _)| busy(thing))
}

/// What each of them writes now.
#[gated]
fn writes<'a>(things: &[(&'a Entity, &'a Thing)]) -> Vec<(&'a Entity, &'a Thing, &'a Reading)> {
    let told = things.iter().filter_map(|(of, thing)| {
        let reading = thing.reading(Metric::WriteBytes).filter(|reading| reading.is_current())?;
        Some((*of, *thing, reading))
    });
    told.collect()
}

/// False for what lies on another device, so that nothing is counted twice: partitions, volumes, loops.
fn is_disk(of: &Entity, thing: &Thing) -> bool {
    let name = of.name();
    let has_number = name.ends_with(|last: char| last.is_ascii_digit());
    let is_part = has_number && ["sd", "vd", "xvd", "hd"].iter().any(|kind| name.starts_with(kind))
        || name.starts_with("nvme") && name.contains('p')
        || name.starts_with("mmcblk") && name.contains('p');
    let is_over = ["dm-", "md", "loop"].iter().any(|kind| name.starts_with(kind));
    thing.told(Trait::OnDevice).is_none() && !is_part && !is_over
}
