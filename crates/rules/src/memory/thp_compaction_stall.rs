//! # thp-compaction-stall
//!
//! ## What it is
//! Programs wait while the kernel moves pages about to make room for huge ones.
//!
//! ## Why it is slow
//! With `defrag=always` a fault that could have a huge page compacts memory first, in the program's time: milliseconds
//! instead of a microsecond, the longer the more memory is scattered. Databases see it as spikes.
//!
//! ## Example
//! ```text
//! 420 allocations a second compact memory; mongod (700) waits 0.18 s/s for it; huge pages: always
//! ```
//!
//! ## What to do instead
//! Let faults take small pages and have huge ones made in the background (`defrag` = `madvise` or `defer+madvise`).
//!
//! ## When it is wrong
//! Huge pages that are given at once are a gain: without stalls nothing is said, nor where programs wait less than 5 %
//! of their time for them.

use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{figures, kernel_threads};
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "thp-compaction-stall",
    group: "memory",
    summary: "programs wait while memory is compacted for huge pages",
    source: include_str!("thp_compaction_stall.rs"),
    needs: &[figures::memory(&[Metric::CompactStalls])],
    check,
};

/// Allocations a second that compact: fewer are now and then.
const MIN_STALLS: f64 = 1.0;
/// Where no wait is measured, it is mentioned from this many a second on: at a millisecond each 10 % of a thread.
const MANY_STALLS: f64 = 100.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(stalls) = host.current(Metric::CompactStalls).filter(|rate| *rate >= MIN_STALLS) else {
        return;
    };
    let waits = kernel_threads::programs_with(facts, Metric::CompactDelay);
    let measured = facts.host.knows(Metric::CompactDelay);
    let worst = waits.first().filter(|(delay, ..)| *delay >= guards::WARNING_SHARE);
    if worst.is_none() && (measured || stalls < MANY_STALLS) {
        return;
    }
    let of = worst.map_or(&Entity::Host, |(_, of, _)| *of);
    let share = worst.map_or_else(Share::unknown, |(delay, of, _)| {
        Share::of_time(delay.min(1.0), format!("the time of {}", facts.host.name_of(of)))
    });
    let least = if worst.is_some() { MIN_STALLS } else { MANY_STALLS };
    let stalls = Measurement::per_second("compact_stalls_per_second", stalls).at_least(least);
    let delay = worst.map(|(delay, ..)| {
        Measurement::seconds_per_second("compact_delay", *delay).at_least(guards::WARNING_SHARE)
    });
    let who = delay
        .as_ref()
        .map_or(String::new(), |delay| format!(": {} waits {delay} s/s for it", facts.host.name_of(of)));
    let setting =
        host.told(Trait::HugePages).map_or(String::new(), |told| format!(" Huge pages are set to {told}."));
    let rate = |name, metric| host.current(metric).map(|rate| Measurement::per_second(name, rate));
    let got = rate("huge_faults_per_second", Metric::ThpFaults);
    let missed = rate("huge_fallbacks_per_second", Metric::ThpFallbacks);
    let given = match (&got, &missed) {
        (Some(got), Some(missed)) => format!(" {got} faults a second got one, {missed} did not."),
        _ => String::new(),
    };
    out.report(share, format!("{stalls} allocations a second compact memory first{who}"))
        .subject(figures::subject(facts, of))
        .cause(format!("The kernel looks for 2 MiB in one piece, and moves other pages away while the program waits.{setting}{given}"))
        .fix("echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag (small pages at once, huge ones in the background)")
        .fix("databases (MongoDB, Redis, ScyllaDB, Oracle ask for it): echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, or prctl(PR_SET_THP_DISABLE)")
        .fix("leave more memory free: sysctl -w vm.min_free_kbytes; many large allocations of a driver show in bcc: compactsnoop")
        .verify("grep -E 'compact_stall|thp_fault' /proc/vmstat twice (compact_stall stands still); bcc: compactsnoop")
        .measured(stalls)
        .measured_all(delay.into_iter().chain(got).chain(missed))
        .evidence_of(&Entity::Host, &[Metric::CompactStalls, Metric::ThpFaults, Metric::ThpFallbacks])
        .evidence_of(of, &[Metric::CompactDelay])
        .file();
}
