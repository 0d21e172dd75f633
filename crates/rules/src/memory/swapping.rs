//! # swapping
//!
//! ## What it is
//! Memory that programs use is brought in from swap all the time, and other memory goes out for it.
//!
//! ## Why it is slow
//! A touch of memory takes a tenth of a microsecond; where the page must come from swap, a hundred microseconds on flash
//! and ten milliseconds on a disk that turns. It happens in the middle of the code, in no system call.
//!
//! ## Example
//! ```text
//! 21.4 MB/s swapped in, 18.9 MB/s out; java (812) waits 0.61 s/s for it
//! ```
//!
//! ## What to do instead
//! Less memory in use (smaller heaps and caches, fewer workers), or more memory. Less swappiness only shifts the
//! shortage to the page cache.
//!
//! ## When it is wrong
//! Swap that is *in use* says nothing: what was put there once, and is never touched, costs nothing. Only the rate counts,
//! and of that what comes back in. A machine that wakes a program after a night swaps it in once. Of a recorded thread the stacks of its
//! waits tell: it must have been in the kernel's `do_swap_page` five times and for 5 % of its life.

use super::pressure;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::kernel_waits::{self, KernelWait};
use crate::{figures, words};
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "swapping",
    group: "memory",
    summary: "memory in use is brought in from swap all the time",
    source: include_str!("swapping.rs"),
    needs: &[Need::Either(&[figures::memory(&[Metric::SwapIn]), Need::Table("offcpu")])],
    check,
};

/// Below this a second nothing is said: 64 pages, 6 ms of waiting on flash.
const MIN_IN: f64 = 262_144.0;
/// Where no wait is measured, a warning from this rate on: a thousand pages, each 100 us on flash, are 10 % of a thread.
const MUCH_IN: f64 = 4_194_304.0;

const SMALLER: &str = "smaller: heaps (-Xmx, GOMEMLIMIT), caches, fewer workers; stop what is not needed (ps aux --sort -rss | head)";
const MORE: &str = "more memory; or bound the largest one with memory.high of its group, so that it swaps itself and not the others";
const LOCKED: &str = "for what must answer fast: mlock, or memory.swap.max=0 of its group; zram or faster swap makes each page cheaper";
const VERIFY: &str =
    "vmstat 1 (si falls to 0; swpd may stay), sar -W 1, cat /proc/pressure/memory; bcc: swapin 1";
/// The kernel's function that brings a page back (mm/memory.c).
const BRINGS_BACK: [&str; 1] = ["do_swap_page"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    match kernel_waits::longest(facts, &BRINGS_BACK, true, |_| true) {
        Some(wait) => of_stacks(facts, out, &wait),
        None => of_figures(facts, out),
    }
}

/// A recorded thread that waits for pages from swap.
fn of_stacks(facts: &Facts, out: &mut Findings<'_>, wait: &KernelWait<'_>) {
    let host = facts.host.host();
    let rate = host.and_then(|host| host.current(Metric::SwapIn));
    let rate = rate.map(|rate| Measurement::bytes_per_second("swap_in", rate));
    let all = rate.as_ref().map_or(String::new(), |rate| format!(" {rate} come back on this host."));
    let time = Measurement::time("time", wait.time);
    let waits = Measurement::count("waits", wait.waits).at_least(kernel_waits::MIN_WAITS as f64);
    let (in_use, memory) = host.map(pressure::in_use).unwrap_or_default();
    let who = pressure::who(facts, Metric::Swapped, "swapped out");
    out.report(wait.share.clone(), format!("{} {time} for pages that were swapped out{}: memory that is in use does not fit", wait.who(), wait.at()))
        .measured_all([time, waits, wait.share.figure().at_least(WARNING_SHARE)])
        .measured_all(rate.into_iter().chain(memory))
        .subject(wait.subject())
        .cause(format!("It touches pages that were put out to swap, and waits for each of them to be read.{all}{in_use}{who} How much swap is in use does not matter, what comes back in does."))
        .fix(SMALLER)
        .fix(MORE)
        .fix(LOCKED)
        .verify(VERIFY)
        .saving(wait.time)
        .evidence_line(facts.recording_at(facts.window.start), format!("thread {}: {} in do_swap_page, by stacks", wait.tid, words::plural(wait.waits, "wait")))
        .evidence_of(&Entity::Host, &[Metric::SwapIn, Metric::SwapOut, Metric::MemAvailable, Metric::SwapFree])
        .file();
}

/// What a look at the host tells.
#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(swapped_in) = host.current(Metric::SwapIn).filter(|rate| *rate >= MIN_IN) else { return };
    let delays = [Metric::SwapDelay, Metric::ThrashDelay];
    let cost = pressure::cost(facts, &Entity::Host, &delays);
    // It is measured, and nobody waits for it.
    if cost.as_ref().is_some_and(|cost| !cost.is_felt()) && swapped_in < MUCH_IN {
        return;
    }
    let much = swapped_in >= MUCH_IN && cost.is_none();
    let felt = cost.as_ref().is_none_or(pressure::Cost::is_felt);
    let least = if much || !felt { MUCH_IN } else { MIN_IN };
    let swapped_in = Measurement::bytes_per_second("swap_in", swapped_in).at_least(least);
    let out_rate = host.current(Metric::SwapOut).map(|rate| Measurement::bytes_per_second("swap_out", rate));
    let both = out_rate.as_ref().map_or(String::new(), |rate| format!(", {rate} out"));
    let waiting = cost.as_ref().map(pressure::Cost::figure);
    let (in_use, memory) = pressure::in_use(host);
    let who = pressure::who(facts, Metric::Swapped, "swapped out");
    let victim = cost.as_ref().and_then(|cost| cost.victim).unwrap_or(&Entity::Host);
    let shown = cost.as_ref().map_or((&Entity::Host, Metric::PressureMemory), |cost| (cost.of, cost.metric));
    let share = cost.map_or_else(Share::unknown, |cost| cost.share);
    out.report(share, format!("{swapped_in} are swapped in{both}: memory that is in use does not fit"))
        .at_least(if much { Severity::Warning } else { Severity::Notice })
        .subject(figures::subject(facts, victim))
        .cause(format!("Programs touch pages that were put out to swap, and wait for each of them to be read.{in_use}{who} How much swap is in use does not matter, what comes back in does."))
        .fix(SMALLER)
        .fix(MORE)
        .fix(LOCKED)
        .verify(VERIFY)
        .measured(swapped_in)
        .measured_all(out_rate.into_iter().chain(waiting).chain(memory))
        .evidence_of(&Entity::Host, &[Metric::SwapIn, Metric::SwapOut, Metric::MemAvailable, Metric::SwapFree])
        .evidence_of(shown.0, &[shown.1])
        .file();
}
