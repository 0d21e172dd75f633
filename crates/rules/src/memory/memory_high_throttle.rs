//! # memory-high-throttle
//!
//! ## What it is
//! A control group has more memory than its `memory.high`: the kernel makes its threads give some back, and puts them to
//! sleep when they cannot.
//!
//! ## Why it is slow
//! The sleep grows with the excess, up to two seconds an allocation. Nothing fails and nothing is killed: the service is
//! only slower and slower, with free memory on the host.
//!
//! ## Example
//! ```text
//! /system.slice/api.service: 512 MB of memory.high 512 MB; above it 310 times a second, 38.0 % of the time a task waits
//! ```
//!
//! ## What to do instead
//! Raise memory.high (systemd: MemoryHigh=), or give the program a bound of its own below it.
//!
//! ## When it is wrong
//! A group that reads files fills up with page cache to its limit, and drops the oldest: that counts as an event, and costs
//! nothing. Where its tasks wait less than 5 % of the time, nothing is said.

use super::pressure;
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "memory-high-throttle",
    group: "memory",
    summary: "a control group above its memory.high is made to wait",
    source: include_str!("memory_high_throttle.rs"),
    needs: &[figures::groups(&[Metric::MemoryHighEvents, Metric::PressureMemory])],
    check,
};

/// Events a second: one now and then is a burst.
const MIN_EVENTS: f64 = 1.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<_> = facts
        .host
        .things_that(|of| matches!(of, Entity::Cgroup(_)))
        .into_iter()
        .filter_map(|(of, thing)| {
            let events = thing.current(Metric::MemoryHighEvents).filter(|rate| *rate >= MIN_EVENTS)?;
            let waits = thing.current(Metric::PressureMemory).filter(|part| *part >= WARNING_SHARE)?;
            Some((waits, events, of, thing))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(b.2)));
    for (waits, events, of, thing) in found {
        let path = of.name();
        let size =
            |name, metric| thing.current(metric).map(|bytes: f64| Measurement::bytes(name, bytes as u64));
        let used = size("memory_used", Metric::MemUsed);
        let high = size("memory_high", Metric::MemoryHigh);
        let cached = size("page_cache", Metric::MemCached);
        let sizes = match (&used, &high) {
            (Some(used), Some(high)) => format!(" It has {used}, and memory.high is {high}."),
            _ => String::new(),
        };
        let cache = cached.as_ref().map_or(String::new(), |cached| {
            format!(" Page cache is {cached} of it, the rest cannot be dropped.")
        });
        let members: Vec<String> =
            figures::members(facts, path).into_iter().map(|(of, _)| facts.host.name_of(of)).collect();
        let whose =
            if members.is_empty() { String::new() } else { format!(" In it: {}.", words::list(&members, 3)) };
        let share = Share::of_time(waits, format!("the time of {path}"));
        let events = Measurement::per_second("memory_high_events_per_second", events).at_least(MIN_EVENTS);
        let waits = Measurement::share("share_of_time", waits).at_least(WARNING_SHARE);
        out.report(share, format!("{path} is above its memory.high {events} times a second: its tasks wait {waits} of the time"))
            .subject(figures::subject(facts, of))
            .cause(format!("Above memory.high the kernel puts the group's threads to sleep until they have given memory back.{sizes}{cache}{whose}{}", pressure::who(facts, Metric::Rss, "memory")))
            .fix(format!("raise it: echo max > /sys/fs/cgroup{path}/memory.high (systemd: MemoryHigh=); keep memory.max as the bound"))
            .fix("or bound the program below it: -Xmx, GOMEMLIMIT, the size of its caches")
            .fix("see whether it grows without end: a leak needs a mend, not a limit")
            .verify(format!("grep high /sys/fs/cgroup{path}/memory.events twice (stands still); cat /sys/fs/cgroup{path}/memory.pressure"))
            .measured(events)
            .measured(waits)
            .measured_all(used.into_iter().chain(high).chain(cached))
            .evidence_of(of, &[Metric::MemoryHighEvents, Metric::PressureMemory, Metric::MemUsed, Metric::MemoryHigh, Metric::MemCached])
            .file();
    }
}
