//! # volume-throttled
//!
//! ## What it is
//! A group or a volume may do only so many operations or bytes a second, and does as many: the rest waits.
//!
//! ## Why it is slow
//! The device could do more, but a limit set by somebody (io.max of a container, IOPS of a cloud volume, credits used up)
//! holds each request back. Latency jumps from one to fifty milliseconds when the limit is reached.
//!
//! ## Example
//! ```text
//! /docker/4f1c writes 33.4 MB/s, its io.max is 33.5 MB/s; its tasks wait for disks 91.0 % of the time
//! ```
//!
//! ## What to do instead
//! Raise the limit, or ask for less: larger requests under a limit of operations, fewer bytes under one of bytes.
//!
//! ## When it is wrong
//! A rate that stays the same may be a program's own pace: where the queue is empty, nothing waits, and nothing is said.
//! A plateau at a round number is only a guess, and a notice.

use super::devices::{self, Disk, SLOW};
use crate::engine::{Findings, Need, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Thing, figure};
use whyslow_model::{Entity, Measurement, Metric, Nanos, ShareOf, Unit};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "volume-throttled",
    group: "io",
    summary: "a limit of operations or bytes per second holds a group's or volume's requests back",
    source: include_str!("volume_throttled.rs"),
    needs: &[Need::Either(&[
        figures::groups(&[Metric::IoReadLimit]),
        figures::groups(&[Metric::IoWriteLimit]),
        figures::groups(&[Metric::IoOpsLimit]),
        figures::disks(&[Metric::QueueLength, Metric::Reads]),
    ])],
    check,
};

/// Part of a limit that is used in a sample: with the kernel's own rounding, all of it.
const AT_LIMIT: f64 = 0.90;
/// And over all samples: the program may have come, or gone, in the middle of one.
const MOSTLY: f64 = 0.75;
/// Part of the time in which a group's tasks wait for disks: with less the limit is not felt (guard 1).
const MIN_PRESSURE: f64 = 0.05;
/// Tables of a device: fewer show no plateau.
const MIN_TABLES: u64 = 5;
/// How far a plateau's ends may be apart, and from a round number.
const FLAT: f64 = 0.03;
/// Requests under way from which on some wait.
const QUEUES: f64 = 1.0;
/// Operations a second at which providers cap volumes (AWS EBS, Azure and Google disks: sizes of their tables).
const ROUND: [f64; 12] =
    [100.0, 120.0, 240.0, 300.0, 500.0, 1_000.0, 1_100.0, 2_000.0, 2_300.0, 3_000.0, 5_000.0, 16_000.0];
/// A limit with what it is held against.
const LIMITS: [(Metric, &[Metric]); 3] = [
    (Metric::IoReadLimit, &[Metric::ReadBytes]),
    (Metric::IoWriteLimit, &[Metric::WriteBytes]),
    (Metric::IoOpsLimit, &[Metric::Reads, Metric::Writes]),
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let groups = facts.host.things_that(|of| matches!(of, Entity::Cgroup(_)));
    for (of, thing) in groups.into_iter().filter(|(_, thing)| waits(thing)) {
        let reached = LIMITS.iter().filter_map(|(limit, used)| {
            let most = thing.current(*limit).filter(|most| *most > 0.0)?;
            let used_now = thing.sum_current(used)?;
            let peak: f64 = used.iter().filter_map(|of| thing.current_reading(*of)).map(|of| of.max).sum();
            (used_now >= MOSTLY * most && peak >= AT_LIMIT * most).then_some(Reached {
                limit: *limit,
                used,
                used_now,
                peak,
                most,
            })
        });
        if let Some(reached) = reached.max_by(|a, b| (a.used_now / a.most).total_cmp(&(b.used_now / b.most)))
        {
            report_group(facts, out, of, thing, reached);
        }
    }
    for (disk, rate) in devices::disks(facts).iter().filter_map(|disk| Some((disk, plateau(disk)?))) {
        report_plateau(facts, out, disk, rate);
    }
}

/// True for a group whose tasks wait for disks, and for one of which no source tells.
#[gated]
fn waits(thing: &Thing) -> bool {
    thing.current(Metric::PressureIo).is_none_or(|part| part >= MIN_PRESSURE)
}

/// A limit, and what was used of it: a second on average, and in the sample with most.
struct Reached {
    limit: Metric,
    used: &'static [Metric],
    used_now: f64,
    peak: f64,
    most: f64,
}

fn report_group(facts: &Facts, out: &mut Findings<'_>, of: &Entity, thing: &Thing, reached: Reached) {
    let Reached { limit, used, used_now, peak, most } = reached;
    let figure_of = |names: [&'static str; 2], value: f64| match limit.unit() {
        Unit::BytesPerSecond => Measurement::bytes_per_second(names[0], value.round()),
        _ => Measurement::per_second(names[1], value),
    };
    let path = of.name();
    let pressure = thing.current(Metric::PressureIo);
    let share = match pressure {
        Some(value) => Share::of_time(value, format!("the time of {path}")),
        None => blocked(facts, path),
    };
    let members: Vec<String> =
        figures::members(facts, path).iter().map(|(of, _)| facts.host.name_of(of)).collect();
    let whose =
        if members.is_empty() { String::new() } else { format!(" In it: {}.", words::list(&members, 3)) };
    out.report(share, format!("{path} does {}, and its limit is {}", figure(limit, used_now), figure(limit, most)))
        .measured(figure_of(["bytes_per_second", "requests_per_second"], used_now).at_least(MOSTLY * most))
        .measured(figure_of(["most_bytes_per_second", "most_requests_per_second"], peak).at_least(AT_LIMIT * most))
        .measured(figure_of(["limit_of_bytes_per_second", "limit_of_requests_per_second"], most))
        .measured_all(pressure.map(|part| Measurement::share("pressure", part).at_least(MIN_PRESSURE)))
        .measured_all(devices::beneath_figures(facts))
        .subject(figures::subject(facts, of))
        .cause(format!("The limit (io.max) holds its requests back, whatever the device could do.{whose}{}", devices::beneath(facts)))
        .fix(format!("raise it: cat /sys/fs/cgroup{path}/io.max, then echo 'MAJ:MIN rbps=max wbps=max riops=max wiops=max' > /sys/fs/cgroup{path}/io.max (systemd: IOReadBandwidthMax=, IOWriteIOPSMax=; Docker: --device-write-bps)"))
        .fix("under a limit of operations ask in larger pieces, under one of bytes ask for less: caches, compression, no temporary files")
        .fix("to share a disk fairly, weights do (io.weight): they hold nobody back while others are idle")
        .verify(format!("cat /sys/fs/cgroup{path}/io.pressure, io.stat twice; iostat -x 1"))
        .evidence_of(of, used)
        .evidence_of(of, &[limit, Metric::PressureIo])
        .file();
}

/// The part of its life for which a thread of the group was blocked uninterruptibly, as disks block, by a recorder's
/// account of the scheduler.
#[gated]
fn blocked(facts: &Facts, path: &str) -> Share {
    let pids: Vec<u32> = figures::members(facts, path).iter().filter_map(|(of, _)| of.pid()).collect();
    let threads = facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| {
        facts.world.threads.process(thread.process).pid.is_some_and(|pid| pids.contains(&pid))
    });
    let parts = threads.filter_map(|thread| {
        let time = thread.sched.as_deref()?;
        let life = time.covered().get().filter(|life| *life > 0)?;
        Some((time.uninterruptible_ns as f64 / life as f64, thread.tid))
    });
    match parts.reduce(|most, one| if one.0 > most.0 { one } else { most }) {
        Some((value, tid)) => Share::of_time(value, ShareOf::life_of(tid)),
        None => Share::unknown(),
    }
}

/// The round rate at which a device that has a queue stands still.
#[gated]
fn plateau(disk: &Disk<'_>) -> Option<f64> {
    let side = |metric| disk.thing.current_reading(metric);
    let busiest = [Metric::Reads, Metric::Writes].into_iter().filter_map(side);
    let reading = busiest.max_by(|a, b| a.mean().total_cmp(&b.mean()))?;
    let flat = reading.tables >= MIN_TABLES && reading.max - reading.min <= FLAT * reading.max;
    // All of the operations count, and a mean of one kind says so only where it is nearly all.
    let alone = reading.mean() >= (1.0 - FLAT) * disk.requests;
    let waits = disk.queue.is_some_and(|queue| queue >= QUEUES)
        && disk.latency.is_some_and(|latency| latency >= SLOW);
    let round = ROUND.into_iter().find(|round| (reading.mean() - round).abs() <= FLAT * round);
    round.filter(|_| flat && alone && waits)
}

fn report_plateau(facts: &Facts, out: &mut Findings<'_>, disk: &Disk<'_>, rate: f64) {
    let latency = Measurement::time("time_per_request", disk.latency.unwrap_or(Nanos::UNKNOWN))
        .at_least(SLOW.or_zero() as f64);
    let queue = Measurement::number("requests_under_way", disk.queue.unwrap_or(f64::NAN)).at_least(QUEUES);
    let requests = Measurement::per_second("requests_per_second", rate);
    out.report(Share::unknown(), format!("disk {} does {requests} requests a second all the time, a round number, while {queue} wait", disk.name()))
        .confidence(0.5)
        .subject(figures::subject(facts, disk.of))
        .cause(format!("A rate that does not move while requests queue ({latency} each) is a limit of the volume, as providers set them; a device's own limit moves with the sizes and places of the requests."))
        .measured_all([requests, queue, latency])
        .fix("see the volume's size and limits at the provider (IOPS, MB/s, burst credits), and raise them")
        .fix("ask in larger pieces: providers count a request of up to 16 or 256 KiB as one")
        .verify(format!("iostat -x 1 {} (r/s + w/s no longer stand at {})", disk.of.name(), words::quantity(rate)))
        .evidence_of(disk.of, &[Metric::Reads, Metric::Writes, Metric::QueueLength, Metric::ReadLatency, Metric::WriteLatency])
        .file();
}
