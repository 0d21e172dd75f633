//! Disks: full where requests queue and take long while the disk is never idle. A device that serves requests side by
//! side is busy all the time at a part of what it can do: there %util alone proves nothing.

use super::{current_lines, judged, unknown};
use crate::thresholds;
use crate::{file_writers, words};
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Entity, Metric, Nanos, Trait};

/// A disk with less than this busy time has idle moments in which whatever waits is served.
const BUSY: f64 = thresholds::DISK_BUSY.value;
/// A disk that turns needs about this for one request; flash a tenth of it and less.
const SLOW_NS: f64 = thresholds::DISK_SLOW.value;
/// Requests outstanding at a time: one is served, others wait.
const QUEUE: f64 = thresholds::DISK_QUEUE.value;
/// The same where the busy time is not told.
const LONG_QUEUE: f64 = thresholds::DISK_LONG_QUEUE.value;
/// Share of the time in which a task waits for a disk: below, nobody does.
const PRESSURE: f64 = thresholds::DISK_PRESSURE.value;
/// Below this, iowait is not worth a word.
const SOME_IOWAIT: f64 = 0.05;
/// Who writes what, of a disk that is full: so many are told.
const WRITERS: usize = 3;
/// Disks with room that are told of one by one.
const TOLD: usize = 3;

const SHOWS: &[Metric] = &[
    Metric::Utilisation,
    Metric::WriteLatency,
    Metric::ReadLatency,
    Metric::Latency,
    Metric::QueueLength,
    Metric::WriteBytes,
];
const TELLS: &str = "iostat -x 1 5";

pub(super) fn judge(facts: &Facts) -> Vec<HostResource> {
    let devices = facts.host.devices();
    // A partition's figures are in those of its disk.
    let is_part = |of: &Entity, thing: &Thing| {
        thing.told(Trait::OnDevice).is_some_and(|disk| {
            of.name().starts_with(disk) && devices.iter().any(|(known, _)| known.name() == disk)
        })
    };
    let mut judged: Vec<(f64, HostResource)> = devices
        .iter()
        .filter(|(of, thing)| {
            !is_part(of, thing) && SHOWS.iter().any(|metric| thing.current(*metric).is_some())
        })
        .map(|(of, thing)| (thing.current(Metric::Utilisation).unwrap_or(0.0), one(facts, of, thing)))
        .collect();
    if judged.is_empty() {
        return vec![without_devices(facts)];
    }
    // A disk that did nothing is worth no line beside others.
    if judged.iter().any(|(busy, _)| *busy > 0.0) {
        judged.retain(|(busy, resource)| *busy > 0.0 || resource.state != State::Not);
    }
    judged.sort_by(|a, b| {
        let rank =
            |state: State| [State::Saturated, State::Unknown, State::Not].iter().position(|of| *of == state);
        rank(a.1.state).cmp(&rank(b.1.state)).then(b.0.total_cmp(&a.0))
    });
    let mut with_room = 0;
    let mut resources = Vec::new();
    for (_, resource) in judged {
        with_room += usize::from(resource.state == State::Not);
        if resource.state != State::Not || with_room <= TOLD {
            resources.push(resource);
        }
    }
    if let Some(last) = resources.last_mut().filter(|_| with_room > TOLD) {
        last.reason
            .push_str(&format!("; {} less busy", words::plural((with_room - TOLD) as u64, "more disk")));
    }
    resources
}

fn one(facts: &Facts, of: &Entity, thing: &Thing) -> HostResource {
    let busy = thing.current(Metric::Utilisation);
    let queue = thing.current(Metric::QueueLength);
    let latency = [Metric::ReadLatency, Metric::WriteLatency, Metric::Latency]
        .iter()
        .filter_map(|metric| thing.current(*metric))
        .reduce(f64::max);
    let slow = latency.map(|ns| ns >= SLOW_NS);
    let turns = thing.mean(Metric::Rotational).is_some_and(|turns| turns > 0.5);
    let mut parts = Vec::new();
    if let Some(busy) = busy {
        parts.push(format!("{} busy", words::percent(busy)));
    }
    if let Some(ns) = latency {
        parts.push(format!("{} per request", Nanos::new(ns as u64)));
    }
    if let Some(queue) = queue {
        parts.push(format!("{} queued", words::quantity(queue)));
    }
    let queues = |bound: f64| queue.is_none_or(|queue| queue >= bound);
    let state = match (busy, slow) {
        (Some(busy), _) if busy < BUSY => {
            if queues(LONG_QUEUE) && queue.is_some() {
                parts.push("in bursts, with idle moments between them".to_string());
            }
            State::Not
        }
        (Some(_), _) if turns && queues(1.0) => State::Saturated,
        (Some(_), Some(true)) if queues(QUEUE) => State::Saturated,
        (Some(_), Some(true)) => {
            parts.push("slow, but one request at a time".to_string());
            State::Not
        }
        (Some(_), Some(false)) => {
            parts.push(
                "yet it answers at once: it serves requests side by side, and %util is no limit".to_string(),
            );
            State::Not
        }
        (None, Some(true)) if queue.is_some_and(|queue| queue >= LONG_QUEUE) => State::Saturated,
        (None, Some(false)) => State::Not,
        _ => {
            parts.push("its latency or its busy time is not told".to_string());
            State::Unknown
        }
    };
    let waits = facts.host.host().and_then(|host| host.current(Metric::PressureIo));
    if let Some(waits) = waits.filter(|waits| state == State::Saturated && *waits < PRESSURE) {
        parts.push(format!("though hardly anybody waits for it (PSI {})", words::percent(waits)));
    }
    let reason = parts.join("; ");
    let mut resource = judged(facts, name(of, thing), state, reason, of, SHOWS);
    if state == State::Unknown {
        resource.supply = TELLS.to_string();
    }
    if state == State::Saturated {
        resource.evidence.extend(file_writers::lines(facts, WRITERS));
    }
    resource
}

/// `disk dm-2 (vg-data, on /data)`.
pub(super) fn name(of: &Entity, thing: &Thing) -> String {
    let volume = thing.told(Trait::Volume).map(str::to_string);
    let mount = thing.told(Trait::MountedAt).map(|at| format!("on {at}"));
    let known: Vec<String> = volume.into_iter().chain(mount).collect();
    match known.is_empty() {
        true => format!("disk {of}"),
        false => format!("disk {of} ({})", known.join(", ")),
    }
}

/// What is known of disks where no source lists them.
fn without_devices(facts: &Facts) -> HostResource {
    let pressure = facts.host.host().and_then(|host| host.current(Metric::PressureIo));
    if let Some(share) = pressure.filter(|share| *share < PRESSURE) {
        let reason = format!("a task waits for one {} of the time (PSI)", words::percent(share));
        return judged(facts, "disk", State::Not, reason, &Entity::Host, &[Metric::PressureIo]);
    }
    let mut reason = "no source lists the disks".to_string();
    let mut metrics = Vec::new();
    if let Some(share) = pressure {
        reason.push_str(&format!("; a task waits for one {} of the time (PSI)", words::percent(share)));
        metrics.push(Metric::PressureIo);
    }
    if let Some(share) = facts.host.of_cpus(Metric::CpuIowait).filter(|share| *share >= SOME_IOWAIT) {
        reason.push_str(&format!("; {} iowait is a hint only", words::percent(share)));
        metrics.push(Metric::CpuIowait);
    }
    let mut resource = unknown("disk", reason, TELLS);
    resource.evidence = current_lines(facts, &Entity::Host, &metrics);
    resource
}
