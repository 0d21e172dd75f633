//! Control groups of both versions: CPU time, quota and throttling, memory and its limits, limits and bytes of disks, PSI.
//! Hosts with many groups are looked at less often; rates are over the time since the look before.

use super::pressure::{self, Stalls};
use super::{Look, Source};
use crate::counters::Span;
use crate::files::{Reader, open_dir};
use crate::options::Options;
use crate::out::{Out, Row};
use crate::pace::{Pace, cpu_time};
use crate::sampler::Context;
use crate::text;
use hashbrown::HashMap;
use rustix::fs::CWD;
use std::os::fd::OwnedFd;
use whyslow_model::text::bounded;
use whyslow_model::{Entity, Metric, Nanos, Over};

pub(super) const SOURCE: Source = Source {
    name: "cgroups",
    reads: "/sys/fs/cgroup, both versions: cpu.stat, cpu.max, memory.*, io.max, io.stat, *.pressure and their older names",
    open: |_: &Options| Box::new(Groups::default()),
};

/// Most groups looked at; the rest is a gap.
const MOST: usize = 2048;
/// Levels below the root.
const DEEPEST: usize = 12;
/// Share of a CPU that looks at groups may cost in the long run.
const SHARE: f64 = 0.001;
/// What version 1 shows of a group without a limit of memory: the largest number of whole pages, less a little.
const NO_LIMIT: u64 = 1 << 62;

/// What one look read of one group.
#[derive(Default)]
struct Figures {
    levels: Vec<(Metric, f64)>,
    /// Counts so far, and what one of them is.
    counters: Vec<(Metric, u64, f64)>,
    stalls: [Option<Stalls>; 3],
}

impl Figures {
    fn level(&mut self, metric: Metric, value: Option<u64>) {
        self.levels.extend(value.map(|value| (metric, value as f64)));
    }

    /// Takes a counter; several of one metric (devices) are added.
    fn counter(&mut self, metric: Metric, value: Option<u64>, unit: f64) {
        let Some(value) = value else { return };
        match self.counters.iter_mut().find(|(known, ..)| *known == metric) {
            Some((_, sum, _)) => *sum = sum.saturating_add(value),
            None => self.counters.push((metric, value, unit)),
        }
    }

    /// Takes a limit; of several the smallest holds.
    fn limit(&mut self, metric: Metric, value: Option<u64>) {
        let Some(value) = value.map(|value| value as f64) else { return };
        match self.levels.iter_mut().find(|(known, _)| *known == metric) {
            Some((_, least)) => *least = least.min(value),
            None => self.levels.push((metric, value)),
        }
    }
}

/// One file of a group: where it is, and how it is read.
struct Item {
    /// The controller of version 1 whose hierarchy has it; empty for version 2.
    controller: &'static str,
    file: &'static str,
    read: fn(&[u8], &mut Figures, f64),
}

const fn item(controller: &'static str, file: &'static str, read: fn(&[u8], &mut Figures, f64)) -> Item {
    Item { controller, file, read }
}

/// `name value` lines as counters.
fn keyed(text: &[u8], figures: &mut Figures, wanted: &[(&[u8], Metric, f64)]) {
    for line in text::lines(text) {
        let mut words = text::words(line);
        let (Some(name), value) = (words.next(), words.next().and_then(text::number)) else { continue };
        for (_, metric, unit) in wanted.iter().filter(|(key, ..)| *key == name) {
            figures.counter(*metric, value, *unit);
        }
    }
}

/// `name value` lines as levels.
fn keyed_levels(text: &[u8], figures: &mut Figures, wanted: &[(&[u8], Metric)]) {
    for line in text::lines(text) {
        let mut words = text::words(line);
        let (Some(name), value) = (words.next(), words.next().and_then(text::number)) else { continue };
        for (_, metric) in wanted.iter().filter(|(key, _)| *key == name) {
            figures.level(*metric, value);
        }
    }
}

/// What both versions tell in memory.stat.
fn memory_stat(text: &[u8], figures: &mut Figures) {
    keyed(
        text,
        figures,
        &[
            (b"pgmajfault", Metric::MajorFaults, 1.0),
            (b"workingset_refault_file", Metric::Refaults, 1.0),
            (b"pgscan_direct", Metric::DirectScans, 1.0),
            (b"pgscan_kswapd", Metric::KswapdScans, 1.0),
        ],
    );
    keyed_levels(
        text,
        figures,
        &[
            (b"file", Metric::MemCached),
            (b"cache", Metric::MemCached),
            (b"active_file", Metric::MemActiveFile),
            (b"file_dirty", Metric::MemDirty),
            (b"dirty", Metric::MemDirty),
            (b"file_writeback", Metric::MemWriteback),
            (b"writeback", Metric::MemWriteback),
        ],
    );
}

/// `8:16 rbps=2097152 wbps=max` and the same of io.stat: pairs behind the device.
fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], Option<u64>)> {
    text::lines(text).flat_map(|line| text::words(line).skip(1)).filter_map(|word| {
        let at = word.iter().position(|byte| *byte == b'=')?;
        Some((&word[..at], text::number(&word[at + 1..])))
    })
}

/// The limits that lines `8:16 1048576` set, a device a line.
fn throttle(text: &[u8], figures: &mut Figures, metric: Metric) {
    for line in text::lines(text) {
        figures.limit(metric, text::words(line).nth(1).and_then(text::number));
    }
}

static ITEMS: [Item; 32] = [
    item("", "cpu.stat", |text, figures, _| {
        keyed(
            text,
            figures,
            &[
                (b"user_usec", Metric::TaskUser, 1e-6),
                (b"system_usec", Metric::TaskSystem, 1e-6),
                (b"nr_periods", Metric::CpuPeriods, 1.0),
                (b"nr_throttled", Metric::ThrottledPeriods, 1.0),
                (b"throttled_usec", Metric::ThrottledTime, 1e-6),
            ],
        );
    }),
    item("", "cpu.max", |text, figures, _| {
        let mut words = text::words(text.trim_ascii()).map(text::number);
        if let (Some(Some(quota)), Some(Some(period @ 1..))) = (words.next(), words.next()) {
            figures.levels.push((Metric::CpuQuota, quota as f64 / period as f64));
        }
    }),
    item("", "memory.current", |text, figures, _| figures.level(Metric::MemUsed, text::only_number(text))),
    item("", "memory.max", |text, figures, _| figures.level(Metric::MemTotal, text::only_number(text))),
    item("", "memory.high", |text, figures, _| figures.level(Metric::MemoryHigh, text::only_number(text))),
    item("", "memory.swap.current", |text, figures, _| {
        figures.level(Metric::Swapped, text::only_number(text))
    }),
    item("", "memory.events", |text, figures, _| {
        keyed(
            text,
            figures,
            &[
                (b"high", Metric::MemoryHighEvents, 1.0),
                (b"max", Metric::MemoryMaxEvents, 1.0),
                (b"oom_kill", Metric::OomKills, 1.0),
            ],
        );
    }),
    item("", "memory.stat", |text, figures, _| memory_stat(text, figures)),
    item("", "io.max", |text, figures, _| {
        for (key, value) in pairs(text) {
            match key {
                b"rbps" => figures.limit(Metric::IoReadLimit, value),
                b"wbps" => figures.limit(Metric::IoWriteLimit, value),
                b"riops" | b"wiops" => figures.limit(Metric::IoOpsLimit, value),
                _ => {}
            }
        }
    }),
    item("", "io.stat", |text, figures, _| {
        for (key, value) in pairs(text) {
            match key {
                b"rbytes" => figures.counter(Metric::ReadBytes, value, 1.0),
                b"wbytes" => figures.counter(Metric::WriteBytes, value, 1.0),
                b"rios" => figures.counter(Metric::Reads, value, 1.0),
                b"wios" => figures.counter(Metric::Writes, value, 1.0),
                _ => {}
            }
        }
    }),
    item("", "cpu.pressure", |text, figures, _| figures.stalls[0] = Some(Stalls::parse(text))),
    item("", "memory.pressure", |text, figures, _| figures.stalls[1] = Some(Stalls::parse(text))),
    item("", "io.pressure", |text, figures, _| figures.stalls[2] = Some(Stalls::parse(text))),
    item("", "pids.current", |text, figures, _| figures.level(Metric::Threads, text::only_number(text))),
    item("", "pids.max", |text, figures, _| figures.level(Metric::PidLimit, text::only_number(text))),
    item("cpu", "cpu.stat", |text, figures, _| {
        keyed(
            text,
            figures,
            &[
                (b"nr_periods", Metric::CpuPeriods, 1.0),
                (b"nr_throttled", Metric::ThrottledPeriods, 1.0),
                (b"throttled_time", Metric::ThrottledTime, 1e-9),
            ],
        );
    }),
    // The quota first: the period turns it into CPUs.
    item("cpu", "cpu.cfs_quota_us", |text, figures, _| {
        figures.level(Metric::CpuQuota, text::only_number(text))
    }),
    item("cpu", "cpu.cfs_period_us", |text, figures, _| {
        let period = text::only_number(text).filter(|period| *period > 0);
        let quota = figures.levels.iter().position(|(metric, _)| *metric == Metric::CpuQuota);
        if let Some(at) = quota {
            let (_, quota) = figures.levels.swap_remove(at);
            figures.levels.extend(period.map(|period| (Metric::CpuQuota, quota / period as f64)));
        }
    }),
    item("cpuacct", "cpuacct.stat", |text, figures, ticks| {
        keyed(
            text,
            figures,
            &[(b"user", Metric::TaskUser, 1.0 / ticks), (b"system", Metric::TaskSystem, 1.0 / ticks)],
        );
    }),
    item("memory", "memory.usage_in_bytes", |text, figures, _| {
        figures.level(Metric::MemUsed, text::only_number(text))
    }),
    item("memory", "memory.limit_in_bytes", |text, figures, _| {
        figures.level(Metric::MemTotal, text::only_number(text).filter(|limit| *limit < NO_LIMIT));
    }),
    item("memory", "memory.failcnt", |text, figures, _| {
        figures.counter(Metric::MemoryMaxEvents, text::only_number(text), 1.0);
    }),
    item("memory", "memory.oom_control", |text, figures, _| {
        keyed(text, figures, &[(b"oom_kill", Metric::OomKills, 1.0)])
    }),
    item("memory", "memory.stat", |text, figures, _| memory_stat(text, figures)),
    item("blkio", "blkio.throttle.read_bps_device", |text, figures, _| {
        throttle(text, figures, Metric::IoReadLimit)
    }),
    item("blkio", "blkio.throttle.write_bps_device", |text, figures, _| {
        throttle(text, figures, Metric::IoWriteLimit)
    }),
    item("blkio", "blkio.throttle.read_iops_device", |text, figures, _| {
        throttle(text, figures, Metric::IoOpsLimit)
    }),
    item("blkio", "blkio.throttle.write_iops_device", |text, figures, _| {
        throttle(text, figures, Metric::IoOpsLimit)
    }),
    item("blkio", "blkio.throttle.io_service_bytes", |text, figures, _| {
        by_direction(text, figures, Metric::ReadBytes, Metric::WriteBytes);
    }),
    item("blkio", "blkio.throttle.io_serviced", |text, figures, _| {
        by_direction(text, figures, Metric::Reads, Metric::Writes);
    }),
    item("pids", "pids.current", |text, figures, _| figures.level(Metric::Threads, text::only_number(text))),
    item("pids", "pids.max", |text, figures, _| figures.level(Metric::PidLimit, text::only_number(text))),
];

/// `8:0 Read 1234`.
fn by_direction(text: &[u8], figures: &mut Figures, read: Metric, write: Metric) {
    for line in text::lines(text) {
        let mut words = text::words(line).skip(1);
        let (direction, value) = (words.next(), words.next().and_then(text::number));
        match direction {
            Some(b"Read") => figures.counter(read, value, 1.0),
            Some(b"Write") => figures.counter(write, value, 1.0),
            _ => {}
        }
    }
}

/// One hierarchy.
struct Hierarchy {
    /// Its controllers; empty for version 2.
    controllers: Vec<String>,
    /// Where it is mounted.
    at: String,
}

/// What was read of a group last.
struct Known {
    figures: Figures,
    at: f64,
}

struct Groups {
    known: HashMap<Box<str>, Known>,
    hierarchies: Option<Vec<Hierarchy>>,
    pace: Pace,
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { known: HashMap::new(), hierarchies: None, pace: Pace::new(SHARE) }
    }
}

impl Look for Groups {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        if !self.pace.is_due(context.uptime) {
            return;
        }
        let began = cpu_time();
        let hierarchies = self.hierarchies.get_or_insert_with(|| hierarchies(context.reader));
        if hierarchies.is_empty() {
            return out.gap(
                SOURCE.name,
                "control groups",
                "none are mounted",
                "mount -t cgroup2 none /sys/fs/cgroup; in a container: docker run --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:ro",
            );
        }
        let mut found: HashMap<Box<str>, Figures> = HashMap::new();
        let mut left_out = 0;
        for hierarchy in hierarchies.iter() {
            let Ok(root) = open_dir(CWD, context.options.root.path(&hierarchy.at)) else { continue };
            let mut walk =
                Walk { hierarchy, ticks: context.ticks, found: &mut found, left_out: &mut left_out };
            walk.group(context.reader, &root, "/", 0);
        }
        if left_out > 0 {
            out.gap(
                SOURCE.name,
                format!("{left_out} control groups"),
                format!("more than {MOST} are there"),
                "",
            );
        }
        let mut rows = Vec::with_capacity(found.len());
        let mut length: Option<f64> = None;
        for (path, figures) in &found {
            let before = self.known.get(path);
            let span = match before {
                Some(before) => Span::since_last(context.uptime - before.at),
                None if context.span.is_first() => context.span,
                // It is new: nothing to compare with.
                None => Span::since_last(0.0),
            };
            if let Some(before) = before {
                length = Some(length.unwrap_or(0.0).max(context.uptime - before.at));
            }
            rows.push(row_of(path, figures, before.map(|before| &before.figures), &span));
        }
        self.known =
            found.into_iter().map(|(path, figures)| (path, Known { figures, at: context.uptime })).collect();
        out.table_of(rows, Over::SinceBoot, true, length.map(|seconds| Nanos::new((seconds * 1e9) as u64)));
        self.pace.took(context.uptime, cpu_time() - began);
    }
}

fn row_of(path: &str, figures: &Figures, before: Option<&Figures>, span: &Span) -> Row {
    let mut row = Row::new(Entity::Cgroup(path.into()));
    for &(metric, value) in &figures.levels {
        row.level(metric, Some(value));
    }
    for &(metric, now, unit) in &figures.counters {
        let before = before.and_then(|before| before.counters.iter().find(|(known, ..)| *known == metric));
        row.rate(metric, span.rate(Some(now), before.map(|(_, count, _)| *count)).map(|rate| rate * unit));
    }
    for (at, (_, some, full)) in pressure::FILES.into_iter().enumerate() {
        let (Some(now), before) = (figures.stalls[at], before.and_then(|before| before.stalls[at])) else {
            continue;
        };
        pressure::shares(&mut row, span, now, before.unwrap_or_default(), some, full);
    }
    row
}

/// A walk through the groups of one hierarchy.
struct Walk<'a> {
    hierarchy: &'a Hierarchy,
    ticks: f64,
    found: &'a mut HashMap<Box<str>, Figures>,
    left_out: &'a mut u64,
}

impl Walk<'_> {
    fn group(&mut self, reader: &mut Reader, dir: &OwnedFd, path: &str, depth: usize) {
        if !self.found.contains_key(path) && self.found.len() >= MOST {
            *self.left_out += 1;
            return;
        }
        let figures = self.found.entry_ref(path).or_default();
        let controllers = &self.hierarchy.controllers;
        for item in &ITEMS {
            let is_here = match item.controller {
                "" => controllers.is_empty(),
                wanted => controllers.iter().any(|name| name == wanted),
            };
            // Files of controllers that are not on for this group are not there.
            if is_here && let Ok(text) = reader.at(dir, item.file) {
                (item.read)(text, figures, self.ticks);
            }
        }
        if depth >= DEEPEST {
            return;
        }
        for name in reader.folders(dir) {
            if let Ok(below) = open_dir(dir, &name) {
                let path = format!("{}/{}", path.trim_end_matches('/'), bounded(name.as_encoded_bytes()));
                self.group(reader, &below, &path, depth + 1);
            }
        }
    }
}

/// The hierarchies that are mounted, of /proc/self/mounts.
fn hierarchies(reader: &mut Reader) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in text::lines(reader.proc("self/mounts").unwrap_or_default()) {
        let mut words = text::words(line).skip(1);
        let (Some(at), Some(kind), Some(options)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let known: Vec<&str> =
            ITEMS.iter().map(|item| item.controller).filter(|name| !name.is_empty()).collect();
        let controllers: Vec<String> = match kind {
            b"cgroup2" => Vec::new(),
            b"cgroup" => options
                .split(|byte| *byte == b',')
                .map(bounded)
                .filter(|option| known.contains(&option.as_str()))
                .collect(),
            _ => continue,
        };
        let has = kind == b"cgroup2" || !controllers.is_empty();
        if has && !found.iter().any(|other| other.controllers == controllers) {
            found.push(Hierarchy { controllers, at: bounded(at) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(controller: &str, files: &[(&str, &str)]) -> Figures {
        let mut figures = Figures::default();
        for item in ITEMS.iter().filter(|item| item.controller == controller) {
            for (_, text) in files.iter().filter(|(name, _)| *name == item.file) {
                (item.read)(text.as_bytes(), &mut figures, 100.0);
            }
        }
        figures
    }

    #[test]
    fn both_versions_tell_the_same() {
        let unified = read(
            "",
            &[
                ("cpu.max", "50000 100000\n"),
                ("cpu.stat", "usage_usec 9\nuser_usec 5\nnr_throttled 3\nthrottled_usec 2000000\n"),
                ("memory.max", "max\n"),
                ("io.max", "8:16 rbps=2097152 wbps=max riops=max wiops=120\n8:0 rbps=1000 wbps=5\n"),
            ],
        );
        assert_eq!(
            unified.levels,
            [
                (Metric::CpuQuota, 0.5),
                (Metric::IoReadLimit, 1000.0),
                (Metric::IoOpsLimit, 120.0),
                (Metric::IoWriteLimit, 5.0)
            ]
        );
        assert!(unified.counters.contains(&(Metric::ThrottledTime, 2_000_000, 1e-6)));
        let old = read(
            "cpu",
            &[
                ("cpu.cfs_quota_us", "50000\n"),
                ("cpu.cfs_period_us", "100000\n"),
                ("cpu.stat", "throttled_time 2000000000\n"),
            ],
        );
        assert_eq!(old.levels, [(Metric::CpuQuota, 0.5)]);
        assert_eq!(old.counters, [(Metric::ThrottledTime, 2_000_000_000, 1e-9)]);
        let none = read("cpu", &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]);
        assert_eq!(none.levels, []);
        assert_eq!(read("memory", &[("memory.limit_in_bytes", "9223372036854771712\n")]).levels, []);
    }
}
