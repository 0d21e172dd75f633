//! The device behind a file that threads wait for: by where the file's file system is mounted, by the requests that the processes made, else
//! the only device that did anything.

use whyslow_facts::block_io::{DiskRequests, Op};
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::syscall::Moves;
use whyslow_model::{Entity, Metric, Nanos, RowDevice, Syscall, Trait};

/// The directories of files that no device holds.
const NO_DEVICE: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Which requests a call waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Read,
    Write,
}

impl Side {
    fn of(call: Option<Syscall>) -> Option<Side> {
        let call = call?;
        match call.info().moves {
            Moves::Read => Some(Side::Read),
            Moves::Write => Some(Side::Write),
            _ if matches!(call, Syscall::FSYNC | Syscall::FDATASYNC) => Some(Side::Write),
            _ => None,
        }
    }

    fn has(side: Option<Side>, op: Op) -> bool {
        match side {
            Some(Side::Read) => op.reads(),
            Some(Side::Write) => op.writes() || op == Op::Flush,
            None => op != Op::Discard,
        }
    }
}

/// The device on which these processes wait in such calls for the file of that path; `None` where nothing tells which.
pub(crate) fn behind(
    facts: &Facts,
    path: &str,
    call: Option<Syscall>,
    processes: &[ProcessId],
) -> Option<RowDevice> {
    if !path.starts_with('/') || NO_DEVICE.iter().any(|dir| lies_below(path, dir)) {
        return None;
    }
    let side = Side::of(call);
    let known = facts.devices.iter();
    let recorded = |of: &str| {
        let is_it =
            |name: &str| name == of || facts.host.device(name).is_some_and(|(device, _)| device.name() == of);
        known.iter().find(|(name, _)| is_it(name)).map(|(_, device)| device.sum(|op| Side::has(side, op)))
    };
    if let Some((of, thing)) = mounted(facts, path) {
        let requests = recorded(of.name()).or_else(|| recorded(thing.told(Trait::OnDevice)?));
        let below = thing.told(Trait::OnDevice).and_then(|name| facts.host.device(name));
        let told = latency(thing, side).or_else(|| latency(below?.1, side));
        return Some(row(facts.host.device_name(of.name()), requests.as_ref(), told));
    }
    let asked = |processes_of: &[(ProcessId, u64)]| -> u64 {
        let own = processes_of.iter().filter(|(process, _)| processes.contains(process));
        own.map(|(_, requests)| *requests).sum()
    };
    let most = known.iter().map(|(name, device)| (asked(&device.processes), *name, *device));
    if let Some((_, name, device)) = most
        .filter(|(asked, ..)| *asked > 0)
        .max_by_key(|(asked, name, _)| (*asked, std::cmp::Reverse(*name)))
    {
        let told = facts.host.device(name).and_then(|(_, thing)| latency(thing, side));
        return Some(row(facts.host.device_name(name), Some(&device.sum(|op| Side::has(side, op))), told));
    }
    let devices = facts.host.devices();
    let names: Vec<&str> = devices.iter().map(|(of, _)| of.name()).collect();
    let is_on_another = |thing: &Thing| {
        let on = thing.told(Trait::OnDevice).unwrap_or_default();
        on.split(',').any(|name| names.contains(&name.trim()))
    };
    let mut active = devices.iter().filter(|(_, thing)| {
        !is_on_another(thing)
            && thing.sum_current(&[Metric::Reads, Metric::Writes]).is_some_and(|requests| requests > 0.0)
    });
    match (active.next(), active.next()) {
        (Some((of, thing)), None) => {
            Some(row(facts.host.device_name(of.name()), recorded(of.name()).as_ref(), latency(thing, side)))
        }
        _ => None,
    }
}

fn row(name: String, requests: Option<&DiskRequests>, told: Option<Nanos>) -> RowDevice {
    let of_requests = requests.and_then(|requests| {
        let device = requests.device.mean().get()?;
        Some(Nanos::new(device.saturating_add(requests.queue.mean().or_zero())))
    });
    RowDevice { name, await_ns: of_requests.or(told).unwrap_or(Nanos::UNKNOWN) }
}

/// The device whose file system is mounted nearest above that path.
fn mounted<'f>(facts: &'f Facts, path: &str) -> Option<(&'f Entity, &'f Thing)> {
    let at = |thing: &Thing| {
        let mounts = thing.told(Trait::MountedAt)?.split(',').map(str::trim);
        mounts.filter(|mount| lies_below(path, mount)).map(str::len).max()
    };
    let all = facts.host.devices().into_iter().filter_map(|(of, thing)| Some((at(thing)?, of, thing)));
    all.max_by_key(|(length, of, _)| (*length, std::cmp::Reverse(of.name())))
        .map(|(_, of, thing)| (of, thing))
}

fn lies_below(path: &str, dir: &str) -> bool {
    let dir = dir.trim_end_matches('/');
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// How long a request takes by the host's figures, with its time in the queue; `None` where they do not tell.
fn latency(thing: &Thing, side: Option<Side>) -> Option<Nanos> {
    let now = |metric| thing.current(metric).filter(|ns| *ns > 0.0);
    let of_side = match side {
        Some(Side::Read) => now(Metric::ReadLatency),
        Some(Side::Write) => now(Metric::WriteLatency),
        None => None,
    };
    let both = [(Metric::Reads, Metric::ReadLatency), (Metric::Writes, Metric::WriteLatency)];
    let both = both.map(|(rate, latency)| Some((thing.current(rate)?, thing.current(latency)?)));
    let (count, sum) =
        both.iter().flatten().fold((0.0, 0.0), |(count, sum), (rate, ns)| (count + rate, sum + rate * ns));
    let weighted = (count > 0.0 && sum > 0.0).then(|| sum / count);
    of_side.or_else(|| now(Metric::Latency)).or(weighted).map(|ns| Nanos::new(ns as u64))
}
