//! Disks by the host's figures: how busy each is, who uses it and who waits for it. Shared by the rules on devices.

use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::{figures, kernel_threads, words};
use whyslow_facts::block_io::{DeviceFacts, DiskRequests, Op};
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, SchedTime};
use whyslow_hostcheck::thresholds;
use whyslow_model::event::Tid;
use whyslow_model::{Entity, Measurement, Metric, Nanos, ShareOf, Trait};

/// A disk that turns needs about this for a request by itself; flash a tenth of it and less.
pub(super) const SLOW: Nanos = Nanos::new(thresholds::DISK_SLOW.value as u64);
/// Share of time with a request under way from which on a device is never idle.
pub(super) const BUSY: f64 = thresholds::DISK_BUSY.value;
/// Requests of this size are those of one that reads or writes in order.
pub(super) const IN_ORDER: f64 = 65_536.0;

/// From this part of the requests on, the recorded programs are those that wait for the device.
const OWN: f64 = 0.05;

/// What a device does. What is unknown is `None`.
pub(super) struct Disk<'a> {
    /// Which.
    pub(super) of: &'a Entity,
    /// What is known of it.
    pub(super) thing: &'a Thing,
    /// Requests a second.
    pub(super) requests: f64,
    /// Bytes a second.
    pub(super) bytes: f64,
    /// Requests under way, on average.
    pub(super) queue: Option<f64>,
    /// The mean time of a request.
    pub(super) latency: Option<Nanos>,
    /// Share of the time in which it had a request.
    pub(super) utilisation: Option<f64>,
}

/// The thread that a disk blocks for the largest part of its time, with that part.
#[gated]
pub(super) fn blocked_most(facts: &Facts) -> Option<(f64, Tid, &SchedTime)> {
    let waits = facts.world.threads.iter().filter_map(|(_, thread)| {
        let time = thread.sched.as_deref()?;
        let life = time.covered().get().filter(|life| *life > 0)?;
        Some((time.uninterruptible_ns as f64 / life as f64, thread.tid, time))
    });
    waits.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// What [`blocked_most`] says, as a share of that thread's life.
pub(super) fn share_of_blocked(worst: Option<(f64, Tid, &SchedTime)>) -> Share {
    match worst {
        Some((value, tid, _)) => Share::of_time(value, ShareOf::life_of(tid)),
        None => Share::unknown(),
    }
}

/// True where the recorded programs ask for a good part of a device's requests.
#[gated]
pub(super) fn is_asked_by_recorded(device: &DeviceFacts) -> bool {
    let own: u64 = device.processes.iter().map(|(_, requests)| *requests).sum();
    own >= (OWN * device.all().device.count as f64) as u64
}

/// All devices that do something, but those on top of another that does it for them (partitions, dm): the lowest says
/// what the hardware does.
#[gated]
pub(super) fn disks(facts: &Facts) -> Vec<Disk<'_>> {
    let active: Vec<Disk<'_>> =
        facts.host.devices().into_iter().filter_map(|(of, thing)| Disk::of(of, thing)).collect();
    let names: Vec<&str> = active.iter().map(|disk| disk.of.name()).collect();
    let below = |thing: &Thing| {
        let on = thing.told(Trait::OnDevice).unwrap_or("");
        on.split(',').any(|device| names.contains(&device.trim()))
    };
    let lowest: Vec<bool> = active.iter().map(|disk| !below(disk.thing)).collect();
    active.into_iter().zip(lowest).filter_map(|(disk, lowest)| lowest.then_some(disk)).collect()
}

impl<'a> Disk<'a> {
    #[gated]
    fn of(of: &'a Entity, thing: &'a Thing) -> Option<Disk<'a>> {
        let now = |metric| thing.current(metric);
        let requests = thing.sum_current(&[Metric::Reads, Metric::Writes]).unwrap_or(0.0);
        let bytes = thing.sum_current(&[Metric::ReadBytes, Metric::WriteBytes]).unwrap_or(0.0);
        let sides = [(Metric::Reads, Metric::ReadLatency), (Metric::Writes, Metric::WriteLatency)];
        let known: Vec<(f64, f64)> =
            sides.iter().filter_map(|(rate, latency)| Some((now(*rate)?, now(*latency)?))).collect();
        let count: f64 = known.iter().map(|(rate, _)| rate).sum();
        let weighted = known.iter().map(|(rate, latency)| rate * latency).sum::<f64>() / count;
        let latency = now(Metric::Latency).or((count > 0.0).then_some(weighted));
        (requests > 0.0 || bytes > 0.0).then_some(Disk {
            of,
            thing,
            requests,
            bytes,
            queue: now(Metric::QueueLength),
            latency: latency.map(|ns| Nanos::new(ns.max(0.0) as u64)),
            utilisation: now(Metric::Utilisation),
        })
    }

    /// `dm-3 (vg-data, /var/lib)`.
    #[gated]
    pub(super) fn name(&self) -> String {
        let told = [Trait::Volume, Trait::MountedAt].into_iter().filter_map(|of| self.thing.told(of));
        let told: Vec<&str> = told.collect();
        match told.is_empty() {
            true => self.of.name().to_string(),
            false => format!("{} ({})", self.of.name(), told.join(", ")),
        }
    }

    /// True for one that is never idle.
    #[gated]
    pub(super) fn is_busy(&self) -> bool {
        self.utilisation.is_some_and(|share| share >= BUSY)
    }

    /// The mean size of a request, bytes.
    #[gated]
    pub(super) fn size(&self) -> Option<f64> {
        let size = self.thing.current(Metric::RequestSize);
        size.or((self.requests > 0.0).then_some(self.bytes / self.requests))
    }
}

/// The programs that move most bytes to and from disks.
pub(super) fn users(facts: &Facts) -> Vec<(f64, &Entity, &Thing)> {
    figures::most(facts, |thing| thing.sum_current(&[Metric::ReadBytes, Metric::WriteBytes]))
}

/// The state of one that no signal can end, as a rule for a disk (proc_pid_stat(5)).
const UNINTERRUPTIBLE: char = 'D';

/// The program that disks block for the largest part of its time, `but` one. Where the kernel does not account for it,
/// the one that was seen in uninterruptible sleep most often.
#[gated]
pub(super) fn victim<'a>(facts: &'a Facts, but: Option<&Entity>) -> Option<(Share, &'a Entity)> {
    if !facts.host.knows(Metric::BlockDelay) {
        let seen = figures::most(facts, |thing| figures::share_in_state(thing, UNINTERRUPTIBLE)).into_iter();
        let mut seen =
            seen.filter(|(_, of, thing)| Some(*of) != but && !kernel_threads::is_kernel(of, thing));
        let (value, of, _) = seen.next()?;
        let name = facts.host.name_of(of);
        return Some((Share::of_time(value, format!("the looks at {name}, in which it was blocked")), of));
    }
    let waits = kernel_threads::programs_with(facts, Metric::BlockDelay).into_iter();
    let parts = waits.filter(|(_, of, _)| Some(*of) != but).map(|(delay, of, thing)| {
        let threads = thing.current(Metric::Threads).unwrap_or(1.0).max(1.0);
        (if delay <= 1.0 { delay } else { (delay / threads).min(1.0) }, of)
    });
    let (value, of) = parts.reduce(|most, one| if one.0 > most.0 { one } else { most })?;
    Some((Share::of_time(value, format!("the time of {}", facts.host.name_of(of))), of))
}

/// True for a share that is felt (guard 1).
#[gated]
pub(super) fn is_felt(share: &Share) -> bool {
    share.value.is_some_and(|value| value >= WARNING_SHARE)
}

/// How much of the looks at a task it was in one of these kernel functions; `None` where too few looks tell.
#[gated]
pub(super) fn share_in(thing: &Thing, functions: &[&str]) -> Option<f64> {
    let looks: u64 = thing.states.iter().map(|(_, times)| times).sum();
    let seen = thing.wchans.iter().filter(|(name, _)| functions.iter().any(|of| name.starts_with(of)));
    let seen: u64 = seen.map(|(_, times)| times).sum();
    let looks = looks.max(thing.wchans.iter().map(|(_, times)| times).sum());
    (looks >= figures::MIN_LOOKS).then(|| seen as f64 / looks as f64)
}

/// A set of recorded requests in a line: `253:0: 4,210 requests, 421/s, 16.4 kB each; half 11.8 ms and less, 99 % 40 ms and
/// less; 9.1 under way at a time`.
pub(super) fn told(name: &str, requests: &DiskRequests, window: Nanos) -> String {
    let stats = &requests.device;
    let rate = window
        .as_secs_f64()
        .filter(|seconds| *seconds > 0.0)
        .map_or(String::new(), |seconds| format!(", {}/s", words::quantity(stats.count as f64 / seconds)));
    let size = requests.mean_size().map_or(String::new(), |size| format!(", {} each", words::bytes(size)));
    let latency = match stats.percentile(0.5).is_known() {
        true => {
            format!("; half {} and less, 99 % {} and less", stats.percentile(0.5), stats.percentile(0.99))
        }
        false => String::new(),
    };
    let queue = requests
        .mean_in_flight(window)
        .map_or(String::new(), |number| format!("; {} under way at a time", words::quantity(number)));
    format!("{name}: {}{rate}{size}{latency}{queue}", words::plural(stats.count, "request"))
}

/// What recorded requests tell of the device that was used most, as a sentence behind a cause; empty where none were.
pub(super) fn beneath(facts: &Facts) -> String {
    let devices = facts.devices.iter();
    let line = devices
        .first()
        .map(|(name, device)| told(&facts.host.device_name(name), &device.all(), facts.window.whole()));
    line.map_or(String::new(), |line| format!(" Beneath: {line}."))
}

/// The figures of [`beneath`].
#[gated]
pub(super) fn beneath_figures(facts: &Facts) -> Vec<Measurement> {
    let devices = facts.devices.iter();
    let Some((_, device)) = devices.first() else { return Vec::new() };
    let (requests, window) = (device.all(), facts.window.whole());
    let stats = &requests.device;
    let seconds = window.as_secs_f64().filter(|seconds| *seconds > 0.0);
    let rate = seconds.map(|seconds| stats.count as f64 / seconds);
    let known = [
        Some(Measurement::count("device_requests", stats.count)),
        rate.map(|rate| Measurement::per_second("device_requests_per_second", rate)),
        requests.mean_size().map(|size| Measurement::bytes("device_bytes_per_request", size)),
        Some(Measurement::time("device_p50", stats.percentile(0.5))),
        Some(Measurement::time("device_p99", stats.percentile(0.99))),
        requests
            .mean_in_flight(window)
            .map(|number| Measurement::number("device_requests_under_way", number)),
    ];
    known.into_iter().flatten().collect()
}

/// Who asked for most of the requests that are wanted, as a sentence behind a cause; empty where nobody is known.
#[gated]
pub(super) fn askers(facts: &Facts, device: &DeviceFacts, wanted: impl Fn(Op) -> bool) -> String {
    /// More are noise.
    const SHOWN: usize = 3;
    let mut by_pid: Vec<(u64, u32)> = Vec::new();
    for (_, pid, requests) in device.groups().into_iter().filter(|(op, ..)| wanted(*op)) {
        let Some(pid) = pid else { continue };
        match by_pid.iter_mut().find(|(_, known)| *known == pid) {
            Some((count, _)) => *count += requests.device.count,
            None => by_pid.push((requests.device.count, pid)),
        }
    }
    by_pid.sort_by_key(|(count, pid)| (std::cmp::Reverse(*count), *pid));
    let process =
        |pid: u32| facts.world.threads.known_process(facts.world.threads.last_process(pid)?)?.name();
    let name = |pid: u32| match process(pid) {
        Some(name) => format!("{name} ({pid})"),
        None => facts.host.name_of(&Entity::Process(pid)),
    };
    let told: Vec<String> = by_pid
        .iter()
        .take(SHOWN)
        .map(|(count, pid)| format!("{} {}", name(*pid), words::plural(*count, "request")))
        .collect();
    if told.is_empty() { String::new() } else { format!(" Who asks: {}.", words::list(&told, SHOWN)) }
}
