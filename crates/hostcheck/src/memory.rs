//! Memory: short where pages that were given up are fetched again, tasks reclaim or wait, or the kernel kills. Little
//! free memory is none of these (the page cache fills it), nor is swap that was filled long ago.

use super::{judged, unknown};
use crate::thresholds;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Entity, Metric};

/// Share of the time in which a task waits for memory (PSI some).
const PRESSURE: f64 = thresholds::MEMORY_PRESSURE.value;
/// Bytes a second swapped in: 256 pages, each a wait of a thread for a disk.
const SWAP_IN: f64 = thresholds::SWAP_IN.value;
/// Bytes a second swapped out: pages that were in use lately are given up. Less is the kernel's tidying.
const SWAP_OUT: f64 = thresholds::SWAP_OUT.value;
/// Allocations a second that stop to reclaim.
const STALLS: f64 = thresholds::RECLAIM_STALLS.value;
/// Pages of files a second that are read again soon after they were given up.
const REFAULTS: f64 = thresholds::REFAULTS.value;
/// Where hardly ever a task waits for memory, by PSI, such pages are those of one group at its limit, or of no weight.
const FELT: f64 = 0.01;
/// With this part of memory to be had without swapping, it is not short, whatever else is not told.
const AVAILABLE: f64 = thresholds::MEMORY_AVAILABLE.value;

const SHOWS: &[Metric] = &[
    Metric::PressureMemory,
    Metric::SwapIn,
    Metric::SwapOut,
    Metric::AllocStalls,
    Metric::Refaults,
    Metric::OomKills,
    Metric::MemAvailable,
    Metric::MemFree,
    Metric::SwapFree,
];
const TELLS: &str = "vmstat 1 5";

/// Signs by rate, each with its bound and its words.
const SIGNS: &[(Metric, f64, &str)] = &[
    (Metric::PressureMemory, PRESSURE, "of the time a task waits for memory (PSI)"),
    (Metric::SwapIn, SWAP_IN, "swapped in"),
    (Metric::SwapOut, SWAP_OUT, "swapped out"),
    (Metric::AllocStalls, STALLS, "allocations that stop to reclaim"),
    (Metric::Refaults, REFAULTS, "pages of files read again soon after they were given up"),
    (Metric::OomKills, 0.0, "processes killed for lack of memory"),
];

pub(super) fn judge(facts: &Facts) -> Vec<HostResource> {
    let Some(host) = facts.host.host() else { return vec![nothing()] };
    let signs: Vec<_> = SIGNS
        .iter()
        .filter_map(|(metric, bound, what)| Some((*metric, host.current(*metric)?, *bound, *what)))
        .collect();
    let say = |&(metric, value, _, what): &(Metric, f64, f64, &str)| {
        format!("{} {what}", whyslow_facts::host::figure(metric, value))
    };
    let available = available(facts);
    let felt = host.current(Metric::PressureMemory).is_none_or(|share| share >= FELT);
    let (bad, good): (Vec<_>, Vec<_>) = signs.into_iter().partition(|(metric, value, bound, _)| {
        *value > *bound && *value > 0.0 && (felt || *metric != Metric::Refaults)
    });
    let (state, mut reason) = match (bad.first(), good.first(), available) {
        (Some(_), ..) => {
            let told: Vec<String> = bad.iter().map(say).collect();
            (State::Saturated, told.join("; "))
        }
        (None, Some(_), available) => {
            let room =
                available.map_or(String::new(), |share| format!("{} available; ", words::percent(share)));
            // Of quiet signs two are enough.
            let told: Vec<String> = good.iter().take(2).map(say).collect();
            (State::Not, format!("{room}{}", told.join(", ")))
        }
        (None, None, Some(share)) if share >= AVAILABLE => {
            (State::Not, format!("{} available; free, or given up at once", words::percent(share)))
        }
        (None, None, Some(share)) => (
            State::Unknown,
            format!("{} available; whether pages are fetched again is not told", words::percent(share)),
        ),
        (None, None, None) => return vec![nothing()],
    };
    if state != State::Saturated
        && let Some(used) = swap_used(facts)
    {
        let swapped = words::bytes(used as u64);
        let told = host.current(Metric::SwapIn).is_some() || host.current(Metric::SwapOut).is_some();
        reason.push_str(&match told {
            true => format!("; {swapped} of swap is old: used, without traffic"),
            false => format!(
                "; {swapped} of swap is used, which says nothing without its traffic (vmstat: si, so)"
            ),
        });
    }
    let mut resource = judged(facts, "memory", state, reason, &Entity::Host, SHOWS);
    if state == State::Unknown {
        resource.supply = TELLS.to_string();
    }
    vec![resource]
}

fn nothing() -> HostResource {
    unknown("memory", "no source tells of swapping, reclaim or waits for memory", TELLS)
}

/// The part of memory that can be had without swapping: as told, else what is free, buffers and page cache. The cache
/// holds shared memory too, which cannot be given up; tools that tell neither leave it unknown.
fn available(facts: &Facts) -> Option<f64> {
    let host = facts.host.host()?;
    let total = host.current(Metric::MemTotal).filter(|total| *total > 0.0)?;
    let told = host.current(Metric::MemAvailable);
    let sum = || {
        let free = host.current(Metric::MemFree)?;
        let cached = host.current(Metric::MemCached)?;
        Some(free + cached + host.current(Metric::MemBuffers).unwrap_or(0.0))
    };
    Some((told.or_else(sum)? / total).clamp(0.0, 1.0))
}

fn swap_used(facts: &Facts) -> Option<f64> {
    let host = facts.host.host()?;
    let used = host.current(Metric::SwapTotal)? - host.current(Metric::SwapFree)?;
    (used > 0.0).then_some(used)
}
