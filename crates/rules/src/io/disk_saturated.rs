//! # disk-saturated
//!
//! ## What it is
//! A block device has requests under way all the time, each takes long, and threads wait for it.
//!
//! ## Why it is slow
//! A device works on a few requests at once; what comes on top stands in its queue. Each request then takes its own time
//! and that of those before it, whoever sent them.
//!
//! ## Example
//! ```text
//! 253:0: 4,210 requests (3,900 reads, 310 writes), 9.1 under way at a time; half take 11.8 ms and more
//! ```
//!
//! ## What to do instead
//! Ask less of it: cache, read ahead, write in larger pieces, fewer flushes. Move what is not urgent (backups, scans,
//! logs) elsewhere or to a lower priority. Then a faster device, or a higher limit of the volume.
//!
//! ## When it is wrong
//! A fast SSD is busy all the time at full speed and still answers at once: below five milliseconds a request nothing is
//! said. Writing back in the background fills a queue too, but nobody waits for it: where no thread is blocked by a
//! disk for 5 % of its time, it is a notice; and so it is where nearly all requests are of others (their write-back), because
//! a thread that is blocked then may wait for something else; or where one request at a time is under way, and each takes as long: the device
//! answers slowly, and who waits for it is told by file (slow-file-io). By the host's figures, one that reads or writes in order at
//! the device's full speed, and nobody else waits, is a notice: that is its work. Utilisation alone is no verdict.

use super::devices::{self, Disk, IN_ORDER, SLOW};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::block_io::{DeviceFacts, Op};
use whyslow_model::{CallStats, Entity, Measurement, Metric, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "disk-saturated",
    group: "io",
    summary: "a block device is busy all the time, and threads wait for it",
    source: include_str!("disk_saturated.rs"),
    needs: &[Need::Either(&[
        Need::Table("block_io"),
        figures::disks(&[Metric::QueueLength, Metric::Utilisation]),
    ])],
    check,
};

/// Fewer are a burst.
const MIN_REQUESTS: u64 = 100;
/// Requests under way at a time: the device is never idle.
const BUSY: f64 = 1.0;
/// Requests take this many times the time of the fastest tenth: they queue.
const QUEUES: f64 = 3.0;
/// Requests under way at a time from which on some stand behind others, whatever they take.
const SEVERAL: f64 = 2.0;
/// Of all bytes, the part of one program whose work it then is.
const MOSTLY: f64 = 0.50;
/// Where no source tells how long programs wait: a request that takes this long makes whoever asked wait.
const VERY_SLOW: Nanos = Nanos::from_millis(50);
/// Then also this part of the CPUs' time idle with a request under way, or a task that no signal can end: somebody waits.
const IOWAIT: f64 = 0.20;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let devices = facts.devices.iter().into_iter().filter(|(_, device)| {
        let requests = device.all();
        let busy = requests.mean_in_flight(facts.window.whole()).is_some_and(|number| number >= BUSY);
        let all = requests.device;
        all.timed >= MIN_REQUESTS && all.percentile(0.5) >= SLOW && all.mean().is_known() && busy
    });
    let devices: Vec<_> = devices.collect();
    // A recorder timed each request.
    if !facts.has_table("block_io") {
        let full = devices::disks(facts).into_iter().filter(|disk| {
            let queues = disk.queue.is_some_and(|queue| queue >= BUSY);
            disk.is_busy() && queues && disk.latency.is_some_and(|latency| latency >= SLOW)
        });
        full.for_each(|disk| report_figures(facts, out, &disk));
    }
    for (name, device) in devices {
        report(facts, out, name, device);
    }
}

#[gated]
fn report_figures(facts: &Facts, out: &mut Findings<'_>, disk: &Disk<'_>) {
    let users = devices::users(facts);
    let (first, all) = (users.first(), users.iter().map(|(bytes, ..)| bytes).sum::<f64>());
    let owner = first.filter(|(bytes, ..)| *bytes >= MOSTLY * all).map(|(_, of, _)| *of);
    let in_order = disk.size().is_some_and(|size| size >= IN_ORDER);
    // Who works at full speed waits for the disk all the time, and for nothing else.
    let its_work = owner.filter(|_| in_order);
    let victim = devices::victim(facts, its_work).filter(|(share, _)| devices::is_felt(share));
    let measured = facts.host.knows(Metric::BlockDelay);
    let blocked = figures::of_host(facts, Metric::CpuIowait).is_some_and(|share| share >= IOWAIT)
        || figures::of_host(facts, Metric::Uninterruptible).is_some_and(|tasks| tasks >= 1.0);
    let guessed = !measured && blocked && disk.latency.is_some_and(|latency| latency >= VERY_SLOW);
    let pressure = figures::of_host(facts, Metric::PressureIo);
    let (share, of) = match (&victim, pressure) {
        (Some((share, of)), _) => (share.clone(), *of),
        (None, Some(value)) if !measured => (Share::of_time(value, "the time of the host"), &Entity::Host),
        _ => (Share::unknown(), &Entity::Host),
    };
    let who = match users.is_empty() {
        true => String::new(),
        false => format!(" Most bytes: {}.", figures::named(facts, &users, Metric::ReadBytes, None)),
    };
    let told = match (&victim, its_work) {
        (Some((_, of)), Some(owner)) => {
            format!(" {} waits for what {} asks of it.", facts.host.name_of(of), facts.host.name_of(owner))
        }
        (Some((_, of)), None) => format!(" {} waits for it most.", facts.host.name_of(of)),
        (None, Some(owner)) => format!(
            " That is the work of {}, and as fast as the device goes: nobody else is known to wait.",
            facts.host.name_of(owner)
        ),
        (None, None) if measured => {
            " No program waits for it for 5 % of its time: what was written before is written back."
                .to_string()
        }
        (None, None) => String::new(),
    };
    let latency = Measurement::time("time_per_request", disk.latency.unwrap_or(Nanos::UNKNOWN))
        .at_least(SLOW.or_zero() as f64);
    let queue = Measurement::number("requests_under_way", disk.queue.unwrap_or(f64::NAN)).at_least(BUSY);
    let busy = Measurement::share("busy", disk.utilisation.unwrap_or(f64::NAN)).at_least(devices::BUSY);
    let process = victim.as_ref().map(|(_, of)| *of).or(its_work).unwrap_or(&Entity::Host);
    let ops = Measurement::per_second("requests_per_second", disk.requests);
    let bytes = Measurement::bytes_per_second("bytes_per_second", disk.bytes);
    let iowait = figures::of_host(facts, Metric::CpuIowait).filter(|_| guessed);
    let iowait = iowait.map(|part| crate::guards::passed(Measurement::share("iowait", part), IOWAIT));
    let calm = its_work.is_some() && victim.is_none() || measured && victim.is_none();
    out.report(share, format!("disk {} is saturated: {latency} per request, {queue} under way at a time, {ops} per second with {bytes}", disk.name()))
        .measured_all([latency, queue, busy, ops, bytes])
        .measured_all(iowait)
        .at_least(if guessed { Severity::Warning } else { Severity::Notice })
        .at_most(if calm { Severity::Notice } else { Severity::Critical })
        .subject(Subject { device: Some(disk.of.name().to_string()), ..figures::subject(facts, process) })
        .cause(format!("It has a request under way all the time, and each stands in its queue behind others.{who}{told}"))
        .fix("ask less of it: keep read data in memory, larger reads and writes, fewer flushes (see the findings about files)")
        .fix("what is not urgent gets less weight (ionice -c3, io.weight of its group) or another device")
        .fix("a volume in a cloud or a group may have a limit (io.max, IOPS of the volume): raise it; else a faster device")
        .verify(format!("iostat -x 1 {} (r_await, w_await, aqu-sz fall); pidstat -d 1; bcc: biolatency -D 10 1, biosnoop", disk.of.name()))
        .saving_text("most of the time that programs are blocked by it")
        .evidence_of(disk.of, &[Metric::Reads, Metric::Writes, Metric::ReadBytes, Metric::WriteBytes, Metric::ReadLatency, Metric::WriteLatency, Metric::Latency, Metric::QueueLength, Metric::Utilisation])
        .evidence_of(of, &[Metric::BlockDelay, Metric::PressureIo])
        .file();
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, number: &str, device: &DeviceFacts) {
    let name = &facts.host.device_name(number);
    let requests = device.all();
    let in_flight = requests.mean_in_flight(facts.window.whole()).unwrap_or(f64::NAN);
    let all = &requests.device;
    let (fast, half) = (all.percentile(0.1), all.percentile(0.5));
    let queues = half.or_zero() as f64 >= QUEUES * fast.or_zero() as f64;
    // One at a time that each take long: the device answers slowly, and nobody stands behind anybody.
    let one_by_one = !queues && in_flight < SEVERAL;
    let (fast, half) = (Measurement::time("p10", fast), Measurement::time("p50", half));
    let half = half.at_least(SLOW.or_zero() as f64);
    let why = match queues {
        true => format!("The fastest tenth took {fast} and less: the others stood in its queue."),
        false => {
            format!("The fastest tenth took {fast} too: the device itself, or a limit set on it, is slow.")
        }
    };
    let worst = devices::blocked_most(facts);
    let share = devices::share_of_blocked(worst);
    let subject = worst.map_or(Subject::default(), |(_, tid, _)| Subjects::thread(facts, tid));
    let under_way = Measurement::number("requests_under_way", in_flight).at_least(BUSY);
    let count = Measurement::count("requests", all.count).at_least(MIN_REQUESTS as f64);
    let own: u64 = device.processes.iter().map(|(_, requests)| *requests).sum();
    let others = !devices::is_asked_by_recorded(device);
    let own = Measurement::count("own_requests", own);
    let whose = match others {
        true => format!(
            " Of these {own} are of the recorded programs: others use it, or what was written before is written back."
        ),
        false => String::new(),
    };
    let (reads, writes) = (device.sum(Op::reads).device, device.sum(Op::writes).device);
    let sides = [
        Measurement::bytes("bytes_read", reads.bytes),
        Measurement::count("reads", reads.count),
        Measurement::time("read_p50", reads.percentile(0.5)),
        Measurement::bytes("bytes_written", writes.bytes),
        Measurement::count("writes", writes.count),
        Measurement::time("write_p50", writes.percentile(0.5)),
    ];
    let window = Measurement::time("window", facts.window.whole());
    let cause = format!("{} and {} in {window}.{whose} {why}", told("read", &reads), told("write", &writes));
    let mut found = out
        .report(
            share,
            format!("device {name} is never idle: {} of {half} and more for half of them, {under_way} under way at a time", words::plural(all.count, "request")),
        )
        .measured_all([count, half, under_way, fast, own, window])
        .measured_all(sides)
        .at_most(if others || one_by_one { Severity::Notice } else { Severity::Critical })
        .subject(Subject { device: Some(number.to_string()), ..subject })
        .cause(cause)
        .fix("ask less of it: keep read data in memory, larger reads and writes, fewer flushes (see the findings about files)")
        .fix("find who else uses it: iotop -ao, bcc: biotop; give it less weight (ionice -c3, io.weight) or another device")
        .fix("a volume in a cloud or a cgroup may have a limit (io.max, IOPS of the volume): raise it; else a faster device")
        .verify("iostat -x 1 (r_await, w_await, aqu-sz of the device); bcc: biolatency -D 10 1, biosnoop")
        .saving_text("most of the time that threads are blocked by it");
    if let Some(slow) = &device.slowest {
        let text = format!("{name} {} of {} took {}", slow.op, words::bytes(slow.bytes), slow.dur);
        found = found.evidence_line(facts.recording_at(slow.ts), text);
    }
    if let Some((_, tid, time)) = worst {
        found = found.evidence_line(
            facts.recording_at(time.first()),
            format!("thread {tid}: {}", facts.account(time)),
        );
    }
    found.file();
}

/// `3,900 reads (15.2 MiB, half 11.8 ms and more)`.
fn told(what: &str, stats: &CallStats) -> String {
    let much = words::bytes(stats.bytes);
    match stats.percentile(0.5) {
        half if half.is_known() => {
            format!("{} ({much}, half {half} and more)", words::plural(stats.count, what))
        }
        _ => words::plural(stats.count, what),
    }
}
