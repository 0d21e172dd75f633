//! The CPU quotas of the watched processes' control groups, looked at while the recording goes on: how often and how long
//! the kernel stopped a group is a stream of the spool, beside what the BPF programs tell.

use crate::bpf::layout::{Fields, Header, kind};
use crate::bpf::spool::{QUOTA, SpoolRecord, SpoolWriter};
use crate::target::ProcRoot;
use crate::target::quota::{CpuGroups, QuotaGroup, Throttling};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use whyslow_model::{Entity, Event, FigureRow, FigureTable, Metric, Nanos, Over, Trait};

/// Between two looks: the period of a quota, as nearly everybody leaves it (`cpu.cfs_period_us`).
const EVERY_NS: u64 = 100_000_000;
/// Groups that are looked at.
const MAX_GROUPS: usize = 64;
/// Groups of processes that are looked at once only.
const MAX_PATHS: usize = 1_024;
/// Processes whose group is told. Of others it is taken for their parent's.
const MAX_PROCESSES: usize = 4_096;

struct Known {
    group: QuotaGroup,
    last: Throttling,
    /// When that was read, ns of the kernel's clock.
    since: u64,
}

/// The groups with a quota, and what was read of them last.
pub(crate) struct Quotas {
    cpu: CpuGroups,
    groups: Vec<Known>,
    /// Groups of processes, and whether a quota is on them or around them.
    paths: HashMap<String, bool>,
    told: HashSet<(u32, String)>,
    looked: u64,
    spool: SpoolWriter,
}

impl Quotas {
    pub(crate) fn new(spool: &Path) -> Quotas {
        Quotas {
            cpu: CpuGroups::of(ProcRoot::live()),
            groups: Vec::new(),
            paths: HashMap::new(),
            told: HashSet::new(),
            looked: 0,
            spool: SpoolWriter::new(spool),
        }
    }

    /// A process is watched from now on, or runs another program: who starts programs moves them before that.
    pub(crate) fn began(&mut self, pid: u32, now: u64) {
        if self.told.len() >= MAX_PROCESSES {
            return;
        }
        let Some(path) = self.cpu.of_process(pid) else { return };
        if self.is_limited(&path, now) && self.told.insert((pid, path.clone())) {
            self.write(kind::GROUP, pid, now, path.as_bytes());
        }
    }

    /// Whether a quota that is read rules the group. One that is set later is not seen.
    fn is_limited(&mut self, path: &str, now: u64) -> bool {
        if let Some(limited) = self.paths.get(path) {
            return *limited;
        }
        for group in self.cpu.with_quota(path) {
            let known = self.groups.iter().any(|known| known.group.path == group.path);
            if let Some(last) = group.throttling().filter(|_| !known && self.groups.len() < MAX_GROUPS) {
                self.groups.push(Known { group, last, since: now });
            }
        }
        let limited = self.groups.iter().any(|known| Path::new(path).starts_with(&known.group.path));
        if self.paths.len() < MAX_PATHS {
            self.paths.insert(path.to_string(), limited);
        }
        limited
    }

    /// Reads the counters, if it is time. To be called often.
    pub(crate) fn look(&mut self, now: u64) {
        if now.saturating_sub(self.looked) >= EVERY_NS {
            self.looked = now;
            self.read(now);
        }
    }

    /// Reads the counters now.
    pub(crate) fn read(&mut self, now: u64) {
        let mut records = Vec::new();
        for known in &mut self.groups {
            let Some(told) = known.group.throttling() else { continue };
            // Where the group did not run there is nothing to tell; a stop counts when it ends.
            if told != known.last {
                let since = |now: u64, before: u64| now.saturating_sub(before);
                let figures = [
                    since(now, known.since),
                    known.group.cpus.to_bits(),
                    since(told.periods, known.last.periods),
                    since(told.stopped_periods, known.last.stopped_periods),
                    since(told.stopped_ns, known.last.stopped_ns),
                ];
                let mut body: Vec<u8> = figures.into_iter().flat_map(u64::to_ne_bytes).collect();
                body.extend_from_slice(known.group.path.as_bytes());
                records.push(body);
            }
            (known.last, known.since) = (told, now);
        }
        for body in records {
            self.write(kind::QUOTA, 0, now, &body);
        }
    }

    fn write(&mut self, kind: u8, pid: u32, now: u64, body: &[u8]) {
        // A disk that is full ends the recording by the drain, which tells.
        let _ = self.spool.write(QUOTA, &Header::with(kind, pid, now, body));
    }
}

/// One record of the stream as figures; `None` where it is none or not whole. `figures` is an empty table of that time.
pub(crate) fn figures(record: &SpoolRecord<'_>, mut figures: FigureTable) -> Option<Event<'static>> {
    let path = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(Box::<str>::from);
    if record.header.kind == kind::GROUP {
        let mut row = FigureRow::new(Entity::Process(record.header.tid));
        row.say(Trait::Cgroup, path(record.body())?);
        figures.rows.push(row);
        return Some(Event::Figures(Box::new(figures)));
    }
    let mut fields = Fields(record.body());
    let (over, cpus) = (fields.u64().filter(|over| *over > 0)?, f64::from_bits(fields.u64()?));
    let counts = [fields.u64()?, fields.u64()?, fields.u64()?];
    let seconds = over as f64 / 1e9;
    let mut row = FigureRow::new(Entity::Cgroup(path(fields.0)?));
    row.set(Metric::CpuQuota, cpus);
    row.set(Metric::CpuPeriods, counts[0] as f64 / seconds);
    row.set(Metric::ThrottledPeriods, counts[1] as f64 / seconds);
    row.set(Metric::ThrottledTime, counts[2] as f64 / 1e9 / seconds);
    figures.over = Over::Interval(Nanos::new(over));
    figures.rows.push(row);
    Some(Event::Figures(Box::new(figures)))
}
