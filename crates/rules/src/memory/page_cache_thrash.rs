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
//! of a group without a limit, has room, nothing is said.

use super::pressure;
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Metric};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "page-cache-thrash",
    group: "memory",
    summary: "pages of files are read again right after they were dropped",
    source: include_str!("page_cache_thrash.rs"),
    needs: &[figures::memory(&[Metric::Refaults])],
    check,
};

/// Pages read again, a second: at 100 us each on flash, 10 % of a thread.
const MIN_REFAULTS: f64 = 1_000.0;
/// Of what can be had, the part in use: the group or the host is full.
const FULL: f64 = 0.90;
/// Of what is read, the part that was in memory before from which on waits for disks are for it.
const MOSTLY: f64 = 0.5;
/// Bytes of a page.
const PAGE: f64 = 4_096.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
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
        if pressure::fill(facts, thing).is_some_and(|fill| fill < FULL) {
            continue;
        }
        told += 1;
        let part = match part {
            Some(part) => format!(" They are {} of what is read.", words::percent(part)),
            None => String::new(),
        };
        let path = match of {
            Entity::Cgroup(path) => format!("/sys/fs/cgroup{path}/memory.stat"),
            _ => "/proc/vmstat".to_string(),
        };
        let waits = words::percent(cost.share.value.unwrap_or(0.0));
        out.report(cost.share, format!("{of}: {} pages a second are read again right after they were dropped; {} waits {waits} of its time", words::quantity(refaults), facts.host.name_of(cost.of)))
            .confidence(0.8)
            .subject(figures::subject(facts, of))
            .cause(format!("The files in use do not fit into the memory left for the page cache, so each page that is read pushes out one that is needed soon.{part}{}{}", pressure::in_use(thing), pressure::who(facts, Metric::MajorFaults, "page faults that read")))
            .fix("give the group or the host more memory, or take some from the programs beside the cache (heaps, workers)")
            .fix("what reads much once (backups, scans, copies) must not evict the rest: posix_fadvise(POSIX_FADV_DONTNEED), O_DIRECT, a memory group of its own")
            .fix("hot files and the program's code: mlock or vmtouch -l; memory.low of the group protects its cache from others")
            .verify(format!("grep refault {path} twice (stands still); cat /proc/pressure/memory; bcc: cachestat 1 (hit ratio)"))
            .evidence_of(of, &[Metric::Refaults, Metric::PageIn, Metric::MemTotal, Metric::MemUsed, Metric::MemAvailable])
            .evidence_of(cost.of, &[cost.metric])
            .file();
    }
}
