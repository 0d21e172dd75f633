//! # stop-the-world
//!
//! ## What it is
//! A runtime stops all of a program's threads for a full collection of its memory, for tens of milliseconds and more at a time.
//!
//! ## Why it is slow
//! A full collection looks at all objects that live: the pause grows with the heap (some 100 ms for each GB and CPU). Meanwhile no request is
//! answered, and all that came wait in the queue.
//!
//! ## Example
//! ```text
//! G1FullCollector  41 pauses of 118 ms: System.gc() in each request
//! ```
//!
//! ## What to do instead
//! Take calls for collections out of the program (System.gc, gc.collect, global.gc, GC.start). Keep less alive: caches outside of the heap, bounded
//! ones. Give the heap room, so that full collections are seldom; take a collector that works beside the program (ZGC, Shenandoah, G1 with a goal).
//!
//! ## When it is wrong
//! Collectors that work beside the program, and quick collections of young objects, are none of it: `gc-pressure` tells what all of them cost. A pause is
//! told where three samples in a row are in a full collection: shorter ones are quiet. What a runtime collects as it ends keeps nobody waiting.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::{callers, words};
use whyslow_facts::pauses::{Pauses, StoppedFacts};
use whyslow_facts::{Facts, ProcessId, ProfileOrigin};
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "stop-the-world",
    group: "profile",
    summary: "full collections of memory stop the whole program, tens of milliseconds at a time",
    source: include_str!("stop_the_world.rs"),
    needs: &[Need::Table("samples")],
    check,
};

/// One long pause may be the first collection of a program that grows.
const MIN_PAUSES: u64 = 2;
/// A pause from which on a program stands still for those who wait for it (Coroot and JVM safepoint logs take 10 ms for long).
const LONG: Nanos = Nanos::from_millis(10);
/// With a smaller part of the collections' time in long pauses they are many quick ones: `gc-pressure`.
const LONG_PART: f64 = 0.5;
/// With a smaller part of the collector's CPU time in long pauses it works mostly beside them: two threads that collect in a pause double its
/// time on CPUs, so a quarter is half of what it does.
const PART_OF_COLLECTING: f64 = 0.25;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts.stopped.by_process.iter().filter(|(_, pauses)| stops(pauses));
    let mut rows: Vec<(ProcessId, &Pauses)> = rows.map(|(process, pauses)| (*process, pauses)).collect();
    rows.sort_by_key(|(process, pauses)| (std::cmp::Reverse(pauses.long.total_ns), *process));
    for (process, pauses) in rows {
        report(facts, out, process, pauses);
    }
}

#[gated]
fn stops(pauses: &Pauses) -> bool {
    pauses.long.count >= MIN_PAUSES && pauses.median() >= LONG && pauses.long_part() >= LONG_PART
}

/// The CPU time that a process spends in its collector, by its samples, ns; 0 where it is not known.
fn collecting_ns(facts: &Facts, process: ProcessId) -> u64 {
    let mut profiles = facts.profiles.of_cpu();
    let Some(profile) = profiles.find(|one| one.origin == ProfileOrigin::Samples(process)) else { return 0 };
    let part = profile.step.account.share(CostKind::GarbageCollection);
    let sites = facts.samples.sites(SampleKind::OnCpu, process, None);
    let all = sites.iter().map(|time| time.weight.ns).saturating_sum();
    (part.min(1.0) * all as f64) as u64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, process: ProcessId, pauses: &Pauses) {
    let long = &pauses.long;
    let whole = [facts.window.whole(), facts.window.length()].into_iter().find(|whole| whole.or_zero() > 0);
    let value = whole.map(|whole| (long.total_ns as f64 / whole.or_zero() as f64).min(1.0));
    let facts_of = facts.world.threads.process(process);
    let subject = Subjects::thread(facts, pauses.tid);
    let name = facts_of.name().map(str::to_string).or(subject.comm.clone());
    let name = name.unwrap_or_else(|| "the program".to_string());
    let share = Share::of_time(value, format!("the time of {name}"));
    let count = Measurement::count("pauses", long.count).at_least(MIN_PAUSES as f64);
    let took = Measurement::time("time", long.total());
    let median = Measurement::time("p50", pauses.median()).at_least(LONG.or_zero() as f64);
    let longest = Measurement::time("longest", long.max());
    let samples = Measurement::count("samples_in_collections", pauses.samples)
        .at_least(StoppedFacts::MIN_SAMPLES as f64);
    let part = Measurement::share("share_in_long_pauses", pauses.long_part()).at_least(LONG_PART);
    let collecting = collecting_ns(facts, process);
    let of_all = (long.total_ns as f64 / collecting.max(1) as f64).min(1.0);
    let of_all = (collecting > 0).then(|| Measurement::share("share_of_collecting", of_all));
    // Full collections that are a small part of what the collector does come of its other work: `gc-pressure`.
    let is_part = of_all.as_ref().and_then(|part| part.value).is_some_and(|part| part < PART_OF_COLLECTING);
    let site = facts.samples.own_site(SampleKind::OnCpu, process, None, |_| true).map(|(site, _)| site);
    out.report(
        share,
        format!("{name} stands still {count} times for its collector: {took} in all, half of the pauses take {median} and more, the longest {longest}{}", callers::words(site.as_ref())),
    )
    .subject(Subject { pid: facts_of.pid, tid: None, function: callers::function(site.as_ref()), ..subject })
    .cause(format!(
        "Samples in a row are in {}, a full collection, in which no thread of the program runs its own code: the pause grows with what is alive in the heap. Those who wait for the program wait as long.",
        pauses.function
    ))
    .measured(count)
    .measured(took)
    .measured(median)
    .measured(longest)
    .measured(samples)
    .measured(part)
    .measured_all(of_all)
    .at_most(if is_part { Severity::Notice } else { Severity::Critical })
    .fix("code: take calls for collections out (System.gc, gc.collect, global.gc, GC.start, GC.Collect); Java: -XX:+DisableExplicitGC, or -XX:+ExplicitGCInvokesConcurrent")
    .fix("keep less alive: bound caches, move them out of the heap (Redis, a file that is mapped, off-heap buffers); Python: gc.freeze() after the start, gc.set_threshold(50000, 50, 50)")
    .fix("give the heap room and take a collector that works beside the program: Java -XX:+UseZGC or -XX:+UseG1GC -XX:MaxGCPauseMillis=50 with a larger -Xmx; node --max-old-space-size=4096")
    .verify("java -Xlog:gc*,safepoint;  node --trace-gc;  python3 -X importtime -c 'import gc; gc.set_debug(gc.DEBUG_STATS)'")
    .saving(long.total())
    .evidence_line(
        facts.recording_at(pauses.longest_at),
        format!("{} in {}", words::duration(long.max()), pauses.function),
    )
    .file();
}
