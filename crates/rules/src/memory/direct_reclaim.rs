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
//! and only where they wait for it at least 5 % of their time. A container that is full of cache drops clean pages, which is cheap:
//! of a full group it is said where its programs wait when they write, and a good part of their work is such writing. That wait may
//! be the group's bound on dirty pages; the remedy is the same. Of a recorded thread stacks tell, of its waits and of what it runs: it must
//! have been where the kernel frees memory (`try_to_free_pages` and its like) five times and for 5 % of its life.

use super::pressure;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::kernel_waits::{self, KernelWait};
use crate::{figures, words};
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric, Nanos};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "direct-reclaim",
    group: "memory",
    summary: "programs must free memory themselves before they get some",
    source: include_str!("direct_reclaim.rs"),
    needs: &[Need::Either(&[
        figures::memory(&[Metric::AllocStalls]),
        figures::groups(&[Metric::MemoryMaxEvents]),
        Need::Table("offcpu"),
    ])],
    check,
};

/// Allocations a second: fewer are the end of one burst.
const MIN_STALLS: f64 = 1.0;
/// Where no wait is measured, it is mentioned from this many a second on: each looks at 32 pages at least (kernel:
/// SWAP_CLUSTER_MAX), which takes some 10 us.
const MANY_STALLS: f64 = 1_000.0;

/// Times a second that a group is full: fewer are the end of one burst. A charge is of up to 64 pages (kernel:
/// MEMCG_CHARGE_BATCH), so that 10 a second are 2.6 MB a second.
const MIN_FULL: f64 = 10.0;
/// The part of what a thread works or waits in the kernel (waits for work and pauses aside) that writing takes, from which on.
const WRITING: f64 = 0.25;
/// And the part of it that waits: who drops clean pages does not.
const WAITING: f64 = 0.05;

const LEAVE_FREE: &str = "leave memory free: smaller heaps and caches, fewer workers, more memory; what reads large files once: posix_fadvise(DONTNEED) or O_DIRECT";
/// The kernel's functions in which a thread frees memory before it gets some (mm/vmscan.c).
const RECLAIMS: [&str; 3] = ["try_to_free_pages", "try_to_free_mem_cgroup_pages", "throttle_direct_reclaim"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    match kernel_waits::longest(facts, &RECLAIMS, true, |_| true) {
        Some(wait) => of_stacks(facts, out, &wait),
        None => {
            of_groups(facts, out);
            of_host(facts, out);
        }
    }
}

/// A recorded thread that frees memory itself.
#[gated]
fn of_stacks(facts: &Facts, out: &mut Findings<'_>, wait: &KernelWait<'_>) {
    let time = Measurement::time("time", wait.time);
    let waits = Measurement::count("waits", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let full = pressure::scopes(facts).into_iter().find_map(|(of, thing)| {
        let full = thing.current(Metric::MemoryMaxEvents).filter(|rate| *rate >= MIN_FULL)?;
        Some((of, thing, Measurement::per_second("times_full_per_second", full)))
    });
    let in_use = full.as_ref().map(|(_, thing, _)| *thing).or(facts.host.host()).map(pressure::in_use);
    let (in_use, memory) = in_use.unwrap_or_default();
    let group = match &full {
        Some((Entity::Cgroup(path), _, rate)) => {
            format!(" The control group {path} is full {rate} times a second.")
        }
        _ => String::new(),
    };
    out.report(wait.share.clone(), format!("{} {time} until memory is free{}: the kernel lets it free some first", wait.who(), wait.at()))
        .measured_all([time, waits, wait.share.figure().at_least(guards::WARNING_SHARE)])
        .measured_all(full.as_ref().map(|(_, _, rate)| rate.clone()))
        .measured_all(memory)
        .subject(wait.subject())
        .cause(format!("There is less free memory than the kernel keeps, on the host or in the control group. Who asks for some then looks for pages to drop or to write out, and waits for that.{group}{in_use}"))
        .fix("raise the limit where a group has one: memory.max, memory.high (systemd: MemoryMax=, MemoryHigh=; Kubernetes: limits.memory); page cache needs room too")
        .fix(LEAVE_FREE)
        .verify("grep . /sys/fs/cgroup/GROUP/memory.events twice: high and max stand still; sar -B 1 (pgscand/s falls to 0); bcc: drsnoop")
        .saving(wait.time)
        .evidence_line(facts.recording_at(facts.window.start), format!("thread {}: {} waits and samples where the kernel frees memory, by stacks", wait.tid, words::count(wait.waits)))
        .evidence_of(&Entity::Host, &[Metric::AllocStalls, Metric::DirectScans, Metric::KswapdScans, Metric::MemAvailable])
        .file();
}

/// Recorded threads that wait when they write, in a control group that is full.
#[gated]
fn of_groups(facts: &Facts, out: &mut Findings<'_>) {
    for (of, thing) in pressure::scopes(facts) {
        let full = thing.current(Metric::MemoryMaxEvents).filter(|rate| *rate >= MIN_FULL);
        let (Entity::Cgroup(path), Some(full)) = (of, full) else { continue };
        let Some(writing) = pressure::writing(facts, path) else { continue };
        if writing.part() < WRITING || writing.waited_part() < WAITING {
            continue;
        }
        let who = Subjects::words(&Subjects::thread(facts, writing.tid));
        let time = Nanos::new(writing.ns);
        let share = guards::share_of_ns(facts, Some(writing.tid), time, writing.calls);
        let full = Measurement::per_second("times_full_per_second", full).at_least(MIN_FULL);
        let part = Measurement::share("share_of_work", writing.part()).at_least(WRITING);
        let waited = Measurement::share("waited_share_of_work", writing.waited_part()).at_least(WAITING);
        let (in_use, memory) = pressure::in_use(thing);
        out.report(share, format!("{path} is full {full} times a second, and who writes in it must free memory first: {part} of the work of {who}"))
            .subject(Subjects::thread(facts, writing.tid))
            .cause(format!("What is written goes to the page cache, which counts for the control group. The group has reached its limit, so that each write first drops pages, and waits for those that are not on disk yet: {waited} of the work is such waits.{in_use}"))
            .fix(format!("raise the limit: /sys/fs/cgroup{path}/memory.max (systemd: MemoryMax=, Kubernetes: limits.memory); page cache needs room too"))
            .fix("or write less at a time: posix_fadvise(POSIX_FADV_DONTNEED) behind sync_file_range for what is not read again, O_DIRECT for large files")
            .verify(format!("grep . /sys/fs/cgroup{path}/memory.events twice (v1: memory.failcnt): max stands still"))
            .measured_all([full, part, waited, Measurement::time("time", time)])
            .measured_all(memory)
            .saving(time)
            .evidence_of(of, &[Metric::MemoryMaxEvents, Metric::MemUsed, Metric::MemTotal])
            .evidence_all(writing.line)
            .file();
    }
}

#[gated]
fn of_host(facts: &Facts, out: &mut Findings<'_>) {
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
        .subject(figures::subject(facts, victim))
        .cause(format!("Free memory is below the mark at which the kernel gives none before it got some back.{split}{in_use}{}", pressure::who(facts, Metric::Rss, "memory")))
        .fix(LEAVE_FREE)
        .fix("only in bursts: let kswapd begin earlier: sysctl -w vm.watermark_scale_factor=100 (1 % of the memory), vm.min_free_kbytes")
        .fix("a full control group: raise its memory.max or memory.high (grep . /sys/fs/cgroup/GROUP/memory.pressure)")
        .verify("sar -B 1 (pgscand/s falls to 0), cat /proc/pressure/memory; bcc: drsnoop")
        .measured(stalls)
        .measured_all(waiting.into_iter().chain(by_programs).chain(memory))
        .evidence_of(&Entity::Host, &[Metric::AllocStalls, Metric::DirectScans, Metric::KswapdScans, Metric::MemAvailable])
        .evidence_of(shown.0, &[shown.1])
        .file();
}
