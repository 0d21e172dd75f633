//! # direct-reclaim
//!
//! ## What it is
//! Programs that ask for memory must first free some themselves: the background reclaimer (kswapd) does not keep up, or
//! their control group is full.
//!
//! ## Why it is slow
//! An allocation takes a microsecond; one that looks through page lists, writes and waits takes milliseconds. It can
//! happen in any system call and at any touch of new memory.
//!
//! ## Example
//! ```text
//! 1,240 allocations a second had to free memory; java (812) waits 0.21 s/s for it
//! ```
//!
//! ## What to do instead
//! Leave memory free: smaller heaps and caches, more memory. Where only bursts fail, let kswapd begin earlier
//! (`vm.watermark_scale_factor`, `vm.min_free_kbytes`).
//!
//! ## When it is wrong
//! kswapd at work is how a full page cache gives way, and nobody waits for it: only what programs free themselves counts,
//! and only where they wait for it at least 5 % of their time. A container that is full of cache drops clean pages, which is cheap.

use super::pressure;
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "direct-reclaim",
    group: "memory",
    summary: "programs must free memory themselves before they get some",
    source: include_str!("direct_reclaim.rs"),
    needs: &[figures::memory(&[Metric::AllocStalls])],
    check,
};

/// Allocations a second: fewer are the end of one burst.
const MIN_STALLS: f64 = 1.0;
/// Where no wait is measured, it is mentioned from this many a second on: each looks at 32 pages at least (kernel:
/// SWAP_CLUSTER_MAX), which takes some 10 us.
const MANY_STALLS: f64 = 1_000.0;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(stalls) = host.current(Metric::AllocStalls).filter(|rate| *rate >= MIN_STALLS) else {
        return;
    };
    let cost = pressure::cost(facts, &Entity::Host, &[Metric::ReclaimDelay]);
    let told = cost.as_ref().map_or(stalls >= MANY_STALLS, pressure::Cost::is_felt);
    if !told {
        return;
    }
    let victim = cost.as_ref().and_then(|cost| cost.victim).unwrap_or(&Entity::Host);
    let shown = cost.as_ref().map_or((&Entity::Host, Metric::PressureMemory), |cost| (cost.of, cost.metric));
    let least = if cost.is_some() { MIN_STALLS } else { MANY_STALLS };
    let stalls = Measurement::per_second("alloc_stalls_per_second", stalls).at_least(least);
    let waiting = cost.as_ref().map(pressure::Cost::figure);
    let waits = match (&cost, &waiting) {
        (Some(cost), Some(part)) => format!(": {} waits {part} of its time", facts.host.name_of(cost.of)),
        _ => String::new(),
    };
    let share = cost.map_or_else(Share::unknown, |cost| cost.share);
    let (direct, background) = (host.current(Metric::DirectScans), host.current(Metric::KswapdScans));
    let by_programs = match (direct, background) {
        (Some(direct), Some(background)) if direct + background > 0.0 => {
            Some(Measurement::share("scans_by_programs", direct / (direct + background)))
        }
        _ => None,
    };
    let split = by_programs.as_ref().map_or(String::new(), |part| {
        format!(" Of the pages looked at {part} were by programs, the rest by kswapd.")
    });
    let (in_use, memory) = pressure::in_use(host);
    out.report(share, format!("{stalls} allocations a second must free memory first{waits}"))
        .confidence(0.8)
        .subject(figures::subject(facts, victim))
        .cause(format!("Free memory is below the mark at which the kernel gives none before it got some back.{split}{in_use}{}", pressure::who(facts, Metric::Rss, "memory")))
        .fix("leave memory free: smaller heaps and caches, fewer workers, more memory; what reads large files once: posix_fadvise(DONTNEED) or O_DIRECT")
        .fix("only in bursts: let kswapd begin earlier: sysctl -w vm.watermark_scale_factor=100 (1 % of the memory), vm.min_free_kbytes")
        .fix("a full control group: raise its memory.max or memory.high (grep . /sys/fs/cgroup/GROUP/memory.pressure)")
        .verify("sar -B 1 (pgscand/s falls to 0), cat /proc/pressure/memory; bcc: drsnoop")
        .measured(stalls)
        .measured_all(waiting.into_iter().chain(by_programs).chain(memory))
        .evidence_of(&Entity::Host, &[Metric::AllocStalls, Metric::DirectScans, Metric::KswapdScans, Metric::MemAvailable])
        .evidence_of(shown.0, &[shown.1])
        .file();
}
