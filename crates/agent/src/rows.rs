//! What a window tells, as rows of the tables that are stored.

use crate::service::version_of;
use crate::split::ServiceFacts;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use whyslow_account::role_of_thread;
use whyslow_facts::folds::peers::Role;
use whyslow_facts::folds::requests::{EndpointFacts, Side};
use whyslow_facts::{Facts, FileUse, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Entity, Event, FdKind, Histogram, SampleKind, TimeAccount, Unit, visible};
use whyslow_parts::{AccountRow, CallRow, HostRow, RequestRow, StackRow, UseRow};

/// Rows of one table and service at most, the largest first: what is beyond has little of the time.
const MOST_ROWS: usize = 200;
/// Stacks of one service at most, the largest first.
const MOST_STACKS: usize = 100;
/// Letters of a stack at most.
const LONGEST_STACK: usize = 4_000;
/// Resources of one kind (disks, interfaces, file systems) at most.
const MOST_RESOURCES: usize = 64;

/// A service in rows: its name and version.
pub(crate) struct Named<'a> {
    pub(crate) service: &'a ServiceFacts,
    pub(crate) version: Option<String>,
}

impl<'a> Named<'a> {
    /// The version is that of its first process that lives.
    pub(crate) fn new(service: &'a ServiceFacts) -> Named<'a> {
        /// Asked at most: they are all of one service.
        const MOST: usize = 8;
        let version = service.processes.keys().take(MOST).find_map(|pid| version_of(*pid));
        Named { service, version }
    }

    fn facts(&self) -> &'a Facts {
        &self.service.facts
    }

    fn process(&self, pid: Option<Tid>) -> String {
        let known = pid.and_then(|pid| self.service.processes.get(&pid));
        known.map_or_else(|| self.service.name.clone(), String::clone)
    }

    fn process_of(&self, id: ProcessId) -> String {
        self.process(self.facts().world.threads.known_process(id).and_then(|process| process.pid))
    }

    /// Its account.
    pub(crate) fn accounts(&self, account: &TimeAccount) -> Vec<AccountRow> {
        let rows = account.rows.iter().take(MOST_ROWS).map(|row| {
            let process = self.process(row.pids.first().copied());
            let thread = row.tid.and_then(|tid| self.facts().world.threads.thread_of(tid));
            let role = role_of_thread(thread.and_then(|thread| thread.comm.as_deref()), &process);
            AccountRow {
                service: self.service.name.clone(),
                version: self.version.clone(),
                role: role.unwrap_or_else(|| process.clone()),
                process,
                state: row.state.word().to_string(),
                call: row.call.clone(),
                object: row.object.as_deref().map(shown),
                line: row.site(),
                ns: row.ns,
                threads: u32::try_from(row.threads).unwrap_or(u32::MAX),
            }
        });
        rows.collect()
    }

    /// Its calls, recorded or counted, by process, role and call.
    pub(crate) fn calls(&self) -> Vec<CallRow> {
        let mut sums: BTreeMap<(String, String, &'static str), CallStats> = BTreeMap::new();
        for (_, thread) in self.facts().world.threads.iter() {
            let process = self.process_of(thread.process);
            let role = role_of_thread(thread.comm.as_deref(), &process).unwrap_or_else(|| process.clone());
            for (call, stats) in thread.all_calls().filter(|(_, stats)| stats.count > 0) {
                sums.entry((process.clone(), role.clone(), call.info().name)).or_default().merge(stats);
            }
        }
        let mut rows: Vec<_> = sums.into_iter().collect();
        rows.sort_by_key(|(_, stats)| std::cmp::Reverse((stats.total_ns, stats.count)));
        let row = |((process, role, call), stats): ((String, String, &str), CallStats)| CallRow {
            service: self.service.name.clone(),
            version: self.version.clone(),
            process,
            role,
            call: call.to_string(),
            object: None,
            calls: stats.count,
            errors: Some(stats.errors),
            ns: stats.total().get(),
            longest_ns: stats.max().get(),
            buckets: buckets(&stats.histogram),
        };
        rows.into_iter().take(MOST_ROWS).map(row).collect()
    }

    /// What it did with files and services, by process.
    pub(crate) fn uses(&self) -> Vec<UseRow> {
        let facts = self.facts();
        let mut sums: BTreeMap<(String, &'static str, Option<&'static str>, String), FileUse> =
            BTreeMap::new();
        let mut add = |process, kind: FdKind, side, object: String, used: &FileUse| {
            sums.entry((self.process_of(process), kind.word(), side, object)).or_default().add(used);
        };
        let files = facts.world.files.iter().map(|(_, file)| file);
        for file in files.chain(facts.world.files.merged.values()).filter(|file| file.path.starts_with('/')) {
            let kind = FdKind::of_path(file.path.as_bytes());
            for (user, used) in file.counted.iter() {
                add(user.process, kind, None, file.pattern(), used);
            }
        }
        for peer in facts.peers.counted.iter() {
            let side = if peer.role == Role::Server { "asked" } else { "served" };
            add(peer.process, peer.kind, Some(side), peer.name.to_string(), &peer.used);
        }
        let mut rows: Vec<_> = sums.into_iter().collect();
        rows.sort_by_key(|(_, used)| std::cmp::Reverse((used.total_ns(), used.bytes(), used.calls())));
        let row = |((process, kind, side, object), used): (
            (String, &'static str, Option<&'static str>, String),
            FileUse,
        )| UseRow {
            service: self.service.name.clone(),
            version: self.version.clone(),
            process,
            kind: kind.to_string(),
            side: side.map(str::to_string),
            object: shown(&object),
            reads: used.reads.calls,
            read_bytes: used.reads.bytes,
            writes: used.writes.calls,
            written_bytes: used.writes.bytes,
            syncs: used.syncs.calls,
            opened: used.opens.calls,
            failed: used.failed(),
            ns: used.is_timed().then(|| used.total_ns()),
            longest_ns: used.is_timed().then(|| used.longest_ns()),
        };
        rows.into_iter().take(MOST_ROWS).map(row).collect()
    }

    /// Requests that it served and made.
    pub(crate) fn requests(&self) -> Vec<RequestRow> {
        let mut endpoints: Vec<&EndpointFacts> =
            self.facts().requests.endpoints().iter().filter(|one| one.stats.count > 0).collect();
        endpoints.sort_by_key(|one| std::cmp::Reverse((one.stats.total_ns, one.stats.count)));
        let row = |one: &&EndpointFacts| RequestRow {
            service: self.service.name.clone(),
            version: self.version.clone(),
            side: if one.side == Side::Server { "served" } else { "made" }.to_string(),
            protocol: one.protocol.unwrap_or("unknown").to_string(),
            endpoint: shown(&one.name),
            peer: one.peer.as_deref().or(one.local.as_deref()).map(shown),
            requests: one.stats.count,
            failed: Some(one.stats.errors),
            ns: one.stats.total().get(),
            p50_ns: one.stats.percentile(0.5).get(),
            p90_ns: one.stats.percentile(0.9).get(),
            p99_ns: one.stats.percentile(0.99).get(),
            longest_ns: one.stats.max().get(),
            buckets: buckets(&one.stats.histogram),
        };
        endpoints.iter().take(MOST_ROWS).map(row).collect()
    }

    /// Where its threads ran and waited.
    pub(crate) fn stacks(&self) -> Vec<StackRow> {
        let samples = &self.facts().samples;
        let mut rows: HashMap<(String, &'static str, String), (u64, u64)> = HashMap::new();
        for (process, _) in self.facts().world.threads.processes() {
            let name = self.process_of(process);
            for (kind, word) in [(SampleKind::OnCpu, "cpu"), (SampleKind::OffCpu, "wait")] {
                samples.each_stack(kind, process, &mut |frames, weight| {
                    let mut stack = String::new();
                    for frame in frames.iter().rev() {
                        let function = samples.function_ref(frame.function as usize);
                        // What separates frames is in no name.
                        let name = visible::line(function.name).replace(';', ":");
                        if stack.len() + name.len() >= LONGEST_STACK {
                            break;
                        }
                        if !stack.is_empty() {
                            stack.push(';');
                        }
                        stack.push_str(&name);
                    }
                    let sum = rows.entry((name.clone(), word, stack)).or_default();
                    *sum = (sum.0 + weight.count, sum.1.saturating_add(weight.ns));
                });
            }
        }
        let mut rows: Vec<_> = rows.into_iter().filter(|((_, _, stack), _)| !stack.is_empty()).collect();
        rows.sort_by(|a, b| (b.1.1, b.1.0, &a.0).cmp(&(a.1.1, a.1.0, &b.0)));
        let row = |((process, kind, stack), (samples, ns)): ((String, &str, String), (u64, u64))| StackRow {
            service: self.service.name.clone(),
            version: self.version.clone(),
            process,
            kind: kind.to_string(),
            line: None,
            stack,
            samples,
            ns: Some(ns),
        };
        rows.into_iter().take(MOST_STACKS).map(row).collect()
    }
}

/// A text from outside, without secrets.
fn shown(text: &str) -> String {
    visible::line(&whyslow_privacy::redact(text)).into_owned()
}

/// How many took from 2^i to below 2^(i+1) ns; unknown where no duration is.
fn buckets(histogram: &Histogram) -> Option<Vec<u64>> {
    let mut buckets = Vec::new();
    for (duration, times) in histogram.durations() {
        let at = duration.get()?.max(1).ilog2() as usize;
        if buckets.len() <= at {
            buckets.resize(at + 1, 0);
        }
        buckets[at] += u64::from(times);
    }
    (!buckets.is_empty()).then_some(buckets)
}

/// The figures of the host over a window: the mean of what was told of each resource.
#[derive(Default)]
pub(crate) struct HostFigures(BTreeMap<(String, &'static str), HostFigure>);

#[derive(Default)]
struct HostFigure {
    sum: f64,
    count: u32,
    unit: &'static str,
}

impl HostFigures {
    /// Takes a look of the sampler.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        let Event::Figures(table) = event else { return };
        for row in &table.rows {
            let (prefix, name) = match &row.of {
                Entity::Host => ("", ""),
                Entity::Device(name) => ("disk:", &**name),
                Entity::Interface(name) => ("net:", &**name),
                Entity::Mount(name) => ("mount:", &**name),
                _ => continue,
            };
            for (metric, value) in &row.figures {
                let resource = match prefix {
                    "" => metric.name().split('_').next().unwrap_or("host").to_string(),
                    prefix => format!("{prefix}{}", visible::line(name)),
                };
                let of_kind = |known: &&(String, &str)| known.0.starts_with(prefix) && !prefix.is_empty();
                let key = (resource, metric.name());
                if !self.0.contains_key(&key) && self.0.keys().filter(of_kind).count() > MOST_RESOURCES * 16 {
                    continue;
                }
                let figure = self.0.entry(key).or_default();
                *figure = HostFigure {
                    sum: figure.sum + value,
                    count: figure.count + 1,
                    unit: Unit::name(metric.unit()),
                };
            }
        }
    }

    pub(crate) fn rows(&self) -> Vec<HostRow> {
        let row = |((resource, metric), figure): (&(String, &'static str), &HostFigure)| HostRow {
            resource: resource.clone(),
            metric: (*metric).to_string(),
            value: figure.sum / f64::from(figure.count.max(1)),
            unit: figure.unit.to_string(),
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{FigureRow, FigureTable, Metric, SourceId};

    #[test]
    fn buckets_are_powers_of_two() {
        let mut histogram = Histogram::default();
        assert_eq!(buckets(&histogram), None);
        [1, 1_000, 1_100, 70_000].iter().for_each(|ns| histogram.record(*ns));
        let buckets = buckets(&histogram).expect("some");
        assert_eq!((buckets[0], buckets[9] + buckets[10], buckets[16], buckets.len()), (1, 2, 1, 17));
    }

    #[test]
    fn the_hosts_figures_are_means_by_resource() {
        let mut figures = HostFigures::default();
        for value in [0.2, 0.4] {
            let mut table = FigureTable::new(SourceId(0), "/proc");
            let mut row = FigureRow::new(Entity::Host);
            row.set(Metric::CpuUser, value);
            table.rows.push(row);
            table.rows.push(FigureRow::new(Entity::Process(7)));
            figures.see(&Event::Figures(Box::new(table)));
        }
        let rows = figures.rows();
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].resource.as_str(), rows[0].metric.as_str(), rows[0].unit.as_str()),
            ("cpu", "cpu_user", "share")
        );
        assert!((rows[0].value - 0.3).abs() < 1e-9);
    }
}
