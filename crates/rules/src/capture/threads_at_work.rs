//! Threads that other tools' figures show at work beside a trace of one thread: `pidstat -t`, `top -H`, schedstat, filetop.

use crate::gate::gated;
use std::collections::BTreeSet;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::event::Tid;
use whyslow_model::{Entity, Measurement, Metric};

/// Of a CPU: less is what any thread does now and then.
const MIN_CPU: f64 = 0.05;
/// Bytes a second read from or written to disks: less is a log.
const MIN_BYTES: f64 = 1e6;

/// A thread of the traced process that the trace does not show.
pub(super) struct AtWork<'f> {
    pub(super) of: &'f Entity,
    pub(super) pid: Tid,
    pub(super) tid: Tid,
    /// `514 (python): 93.0 % of a CPU`.
    pub(super) words: String,
    /// The figures in it.
    pub(super) figures: Vec<Measurement>,
    cpu: f64,
    bytes: f64,
}

/// The busiest first. None where the trace shows several threads: then one that is not among them made no call.
#[gated]
pub(super) fn unseen(facts: &Facts) -> Vec<AtWork<'_>> {
    let shown: Vec<_> = facts.world.threads.iter().map(|(_, thread)| thread).collect();
    let [only] = shown[..] else { return Vec::new() };
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { pid, .. } if *pid != 0));
    let pids: BTreeSet<Tid> = threads.iter().filter_map(|(of, _)| of.pid()).collect();
    let process_of = |tid: Tid| {
        threads.iter().find_map(|(of, _)| match of {
            Entity::Thread { pid, tid: is } if *is == tid => Some(*pid),
            _ => None,
        })
    };
    let traced = facts.world.threads.known_process(only.process).and_then(|process| process.pid);
    // Without `-f` lines bear no thread: figures of threads of one process alone are of that one.
    let pid = match (traced.or_else(|| process_of(only.tid)), pids.len()) {
        (Some(pid), _) => Some(pid),
        (None, 1) => pids.first().copied(),
        (None, _) => None,
    };
    let Some(pid) = pid else { return Vec::new() };
    // Which thread was traced is not said: the first one, as `strace -p PID` does.
    let traced = if only.tid == 0 { pid } else { only.tid };
    let mut found: Vec<AtWork<'_>> = threads
        .into_iter()
        .filter_map(|(of, thing)| match of {
            Entity::Thread { pid: is, tid } if *is == pid && *tid != traced => {
                at_work(facts, of, thing, (pid, *tid))
            }
            _ => None,
        })
        .collect();
    found.sort_by(|a, b| b.cpu.total_cmp(&a.cpu).then(b.bytes.total_cmp(&a.bytes)).then(a.tid.cmp(&b.tid)));
    found
}

#[gated]
fn at_work<'f>(facts: &Facts, of: &'f Entity, thing: &Thing, (pid, tid): (Tid, Tid)) -> Option<AtWork<'f>> {
    let then = |metric: &Metric| {
        let reading = thing.current_reading(*metric);
        reading.is_some_and(|reading| reading.may_be_of(facts.window.start, facts.window.end))
    };
    let known = |metrics: &[Metric]| -> f64 {
        metrics.iter().filter(|metric| then(metric)).filter_map(|metric| thing.current(*metric)).sum()
    };
    // Shares of a CPU: all, or its parts.
    let cpu = match known(&[Metric::TaskCpu]) {
        cpu if cpu > 0.0 => cpu,
        _ => known(&[Metric::TaskUser, Metric::TaskSystem]),
    };
    let bytes = known(&[Metric::ReadBytes, Metric::WriteBytes]);
    (cpu >= MIN_CPU || bytes >= MIN_BYTES).then_some(())?;
    let (mut parts, mut figures) = (Vec::new(), Vec::new());
    if cpu >= MIN_CPU {
        let figure = Measurement::share("share_of_cpu", cpu).at_least(MIN_CPU);
        parts.push(format!("{figure} of a CPU"));
        figures.push(figure);
    }
    if bytes >= MIN_BYTES {
        let figure = Measurement::bytes_per_second("bytes_per_second", bytes).at_least(MIN_BYTES);
        parts.push(format!("{figure} read and written"));
        figures.push(figure);
    }
    let name = match thing.name() {
        Some(name) => format!("{tid} ({name})"),
        None => tid.to_string(),
    };
    Some(AtWork { of, pid, tid, words: format!("{name}: {}", parts.join(", ")), figures, cpu, bytes })
}
