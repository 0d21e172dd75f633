//! All figures that outlets show: sums over windows, findings that are open, what the agent says of itself, how the outlets fare.

use crate::family::{self, MetricFamily};
use crate::findings::OpenFindings;
use crate::series::SeriesGroup;
use crate::told::{
    ACCOUNT_KEPT, CALL_KEPT, CallSums, HostFigure, Key, REQUEST_KEPT, RequestSums, ToldWindow,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the agent says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFigures {
    /// When it began, us since 1970.
    pub since: i64,
    /// What it took of one CPU in the last window, 0 to 1.
    pub cpu_share: f64,
    /// Memory that is its own, bytes.
    pub memory: u64,
    /// Windows that were told.
    pub windows: u64,
    /// Windows that could not be told.
    pub windows_lost: u64,
    /// Events that were lost.
    pub events_lost: u64,
    /// Processes that are recorded.
    pub processes: u64,
    /// How much detail it gave up: 0 for none.
    pub shed_level: u64,
    /// Parts that wait to be taken elsewhere.
    pub parts_waiting: u64,
    /// Parts that were removed for want of room.
    pub parts_removed: u64,
}

/// How an outlet fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutletCounts {
    pub(crate) sent: u64,
    pub(crate) failures: u64,
    pub(crate) dropped: u64,
    pub(crate) waiting: u64,
}

/// A figure of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    Count(u64),
    /// A sum of time, ns; shown in seconds.
    Nanos(u64),
    Number(f64),
    Histogram {
        /// How many are up to each bound and beyond the one before, and those beyond all: one more than bounds.
        counts: Vec<u64>,
        /// The durations together, ns.
        ns: u64,
    },
}

/// A figure with its labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FamilySample {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) figure: Figure,
    /// From when on it is summed, us since 1970; of a level `None`.
    pub(crate) since: Option<i64>,
}

/// A metric with its figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FamilySamples {
    pub(crate) family: Cow<'static, MetricFamily>,
    pub(crate) samples: Vec<FamilySample>,
}

const ACCOUNT_LABELS: &[&str] = &["service", "process", "role", "state", "object_kind"];
const CALL_LABELS: &[&str] = &["service", "process", "call"];
const REQUEST_LABELS: &[&str] = &["service", "side", "protocol", "endpoint"];

/// Upper bounds of the buckets as powers of two, ns: 1 us to 69 s. The rows part at powers of two, so that no count is a guess; what a
/// bound names belongs to the next bucket, and the bound is one less.
const POWERS: [u32; 14] = [10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36];

/// The upper bounds of the buckets, seconds.
pub(crate) fn bounds() -> [f64; POWERS.len()] {
    POWERS.map(|power| ((1_u64 << power) - 1) as f64 / 1e9)
}

/// How many are in each bucket, of how many there are from 2^i to below 2^(i+1) ns by i.
fn bucketed(by_power: &[u64]) -> Vec<u64> {
    let mut counts = vec![0_u64; POWERS.len() + 1];
    for (power, count) in by_power.iter().enumerate() {
        let at = POWERS.iter().position(|bound| power < *bound as usize).unwrap_or(POWERS.len());
        counts[at] = counts[at].saturating_add(*count);
    }
    counts
}

/// All figures.
#[derive(Debug)]
pub(crate) struct OutletSums {
    accounts: SeriesGroup<u64>,
    calls: SeriesGroup<CallSums>,
    requests: SeriesGroup<RequestSums>,
    hosts: Vec<HostFigure>,
    pub(crate) findings: OpenFindings,
    about: Option<Labels>,
    observed: f64,
    events: u64,
    windows_dropped: u64,
    last_end: Option<i64>,
    agent: AgentFigures,
    outlets: BTreeMap<&'static str, OutletCounts>,
}

type Labels = Vec<(&'static str, String)>;

impl OutletSums {
    /// None so far; of each group so many series are told apart.
    pub(crate) fn new(most: usize) -> OutletSums {
        OutletSums {
            accounts: SeriesGroup::new(ACCOUNT_LABELS, &ACCOUNT_KEPT, most),
            calls: SeriesGroup::new(CALL_LABELS, &CALL_KEPT, most),
            requests: SeriesGroup::new(REQUEST_LABELS, &REQUEST_KEPT, most),
            hosts: Vec::new(),
            findings: OpenFindings::new(most),
            about: None,
            observed: 0.0,
            events: 0,
            windows_dropped: 0,
            last_end: None,
            agent: AgentFigures::default(),
            outlets: BTreeMap::new(),
        }
    }

    /// Adds a window.
    pub(crate) fn take(&mut self, window: &ToldWindow) {
        self.accounts.take(&window.accounts, window.start);
        self.calls.take(&window.calls, window.start);
        self.requests.take(&window.requests, window.start);
        self.hosts.clone_from(&window.hosts);
        self.findings.take(window);
        self.observed += window.seconds.max(0.0);
        self.events = self.events.saturating_add(window.events.unwrap_or(0));
        self.last_end = Some(window.end());
        self.about = Some(vec![
            ("version", window.version.clone()),
            ("host", window.host.clone()),
            ("kernel", window.kernel.clone()),
            ("mode", window.mode.clone()),
        ]);
    }

    pub(crate) fn see_agent(&mut self, figures: AgentFigures) {
        self.agent = figures;
    }

    /// Takes how the outlets fare; several of one name are one.
    pub(crate) fn see_outlets(&mut self, all: impl Iterator<Item = (&'static str, OutletCounts)>) {
        self.outlets.clear();
        for (name, counts) in all {
            let sum = self.outlets.entry(name).or_default();
            *sum = OutletCounts {
                sent: sum.sent + counts.sent,
                failures: sum.failures + counts.failures,
                dropped: sum.dropped + counts.dropped,
                waiting: sum.waiting + counts.waiting,
            };
        }
    }

    pub(crate) fn windows_dropped(&mut self, number: u64) {
        self.windows_dropped += number;
    }

    /// All metrics of which there is a figure, each with its figures.
    pub(crate) fn families(&self) -> Vec<FamilySamples> {
        let mut all = Vec::new();
        self.put_told(&mut all);
        self.put_findings(&mut all);
        self.put_agent(&mut all);
        self.put_outlets(&mut all);
        self.put_hosts(&mut all);
        all.retain(|of| !of.samples.is_empty());
        all
    }

    fn put_told(&self, all: &mut Vec<FamilySamples>) {
        put(all, &family::ACCOUNT, series(&self.accounts, |ns| Some(Figure::Nanos(*ns))));
        put(all, &family::CALLS, series(&self.calls, |sums| Some(Figure::Count(sums.calls))));
        put(all, &family::CALL_ERRORS, series(&self.calls, |sums| sums.errors.map(Figure::Count)));
        put(all, &family::CALL_TIME, series(&self.calls, |sums| sums.ns.map(Figure::Nanos)));
        put(all, &family::REQUESTS, series(&self.requests, |sums| Some(Figure::Count(sums.requests))));
        put(all, &family::REQUEST_ERRORS, series(&self.requests, |sums| sums.failed.map(Figure::Count)));
        let histogram = |sums: &RequestSums| {
            let ns = sums.ns.filter(|_| !sums.buckets.is_empty())?;
            Some(Figure::Histogram { counts: bucketed(&sums.buckets), ns })
        };
        put(all, &family::REQUEST_DURATION, series(&self.requests, histogram));
    }

    fn put_findings(&self, all: &mut Vec<FamilySamples>) {
        let open = self.findings.counts();
        let level = |labels: &Labels, figure| FamilySample { labels: labels.clone(), figure, since: None };
        let counts = open.iter().map(|(labels, (count, _))| level(labels, Figure::Count(*count)));
        put(all, &family::FINDINGS_OPEN, counts.collect());
        let shares =
            open.iter().filter_map(|(labels, (_, share))| Some(level(labels, Figure::Number((*share)?))));
        put(all, &family::FINDING_SHARE, shares.collect());
        for (family, counts) in [
            (&family::FINDINGS_OPENED, &self.findings.opened),
            (&family::FINDINGS_CLOSED, &self.findings.closed),
        ] {
            let of = |(severity, count): (&String, &u64)| {
                self.total(vec![("severity", severity.clone())], Figure::Count(*count))
            };
            put(all, family, counts.iter().map(of).collect());
        }
    }

    fn put_agent(&self, all: &mut Vec<FamilySamples>) {
        let about = self.about.iter();
        let info = |labels: &Labels| FamilySample {
            labels: labels.clone(),
            figure: Figure::Number(1.0),
            since: None,
        };
        put(all, &family::AGENT, about.map(info).collect());
        let agent = &self.agent;
        let seconds = |us: i64| Figure::Number(us as f64 / 1e6);
        let mut level = |family, figure| put(all, family, vec![plain(figure)]);
        level(&family::AGENT_START, seconds(agent.since));
        if let Some(end) = self.last_end {
            level(&family::AGENT_LAST_WINDOW, seconds(end));
        }
        level(&family::AGENT_CPU, Figure::Number(agent.cpu_share));
        level(&family::AGENT_MEMORY, Figure::Count(agent.memory));
        level(&family::AGENT_PROCESSES, Figure::Count(agent.processes));
        level(&family::AGENT_SHED, Figure::Count(agent.shed_level));
        level(&family::AGENT_PARTS, Figure::Count(agent.parts_waiting));
        for (family, figure) in [
            (&family::AGENT_OBSERVED, Figure::Number(self.observed)),
            (&family::AGENT_EVENTS, Figure::Count(self.events)),
            (&family::AGENT_LOST, Figure::Count(agent.events_lost)),
            (&family::AGENT_WINDOWS, Figure::Count(agent.windows)),
            (&family::AGENT_WINDOWS_LOST, Figure::Count(agent.windows_lost)),
            (&family::AGENT_PARTS_REMOVED, Figure::Count(agent.parts_removed)),
            (&family::WINDOWS_DROPPED, Figure::Count(self.windows_dropped)),
        ] {
            put(all, family, vec![self.total(Vec::new(), figure)]);
        }
    }

    fn put_outlets(&self, all: &mut Vec<FamilySamples>) {
        let groups = [
            ("accounts", self.accounts.len(), self.accounts.dropped),
            ("calls", self.calls.len(), self.calls.dropped),
            ("requests", self.requests.len(), self.requests.dropped),
            ("findings", self.findings.counts().len(), self.findings.dropped),
        ];
        let group = |name: &str| vec![("group", name.to_string())];
        let there = groups.iter().map(|(name, number, _)| FamilySample {
            labels: group(name),
            figure: Figure::Count(*number as u64),
            since: None,
        });
        put(all, &family::SERIES, there.collect());
        let dropped = groups.iter().map(|(name, _, number)| self.total(group(name), Figure::Count(*number)));
        put(all, &family::SERIES_DROPPED, dropped.collect());
        let of = |value: fn(&OutletCounts) -> u64| {
            let sample = move |(name, counts): (&&'static str, &OutletCounts)| {
                self.total(vec![("outlet", (*name).to_string())], Figure::Count(value(counts)))
            };
            self.outlets.iter().map(sample).collect::<Vec<_>>()
        };
        put(all, &family::OUTLET_SENT, of(|counts| counts.sent));
        put(all, &family::OUTLET_FAILURES, of(|counts| counts.failures));
        put(all, &family::OUTLET_DROPPED, of(|counts| counts.dropped));
        let mut waiting = of(|counts| counts.waiting);
        waiting.iter_mut().for_each(|sample| sample.since = None);
        put(all, &family::OUTLET_WAITING, waiting);
    }

    /// Metrics of one name stand together.
    fn put_hosts(&self, all: &mut Vec<FamilySamples>) {
        let mut families: BTreeMap<String, FamilySamples> = BTreeMap::new();
        for figure in &self.hosts {
            let Some((family, factor)) = family::of_host(&figure.metric) else { continue };
            let sample = FamilySample {
                labels: vec![("resource", figure.resource.clone())],
                figure: Figure::Number(figure.value * factor),
                since: None,
            };
            let of = families
                .entry(family.name())
                .or_insert_with(|| FamilySamples { family: Cow::Owned(family), samples: Vec::new() });
            // Two disks may have one name once it is cut.
            if of.samples.iter().all(|known| known.labels != sample.labels) {
                of.samples.push(sample);
            }
        }
        all.extend(families.into_values());
    }

    fn total(&self, labels: Labels, figure: Figure) -> FamilySample {
        FamilySample { labels, figure, since: Some(self.agent.since) }
    }
}

fn plain(figure: Figure) -> FamilySample {
    FamilySample { labels: Vec::new(), figure, since: None }
}

fn put(all: &mut Vec<FamilySamples>, family: &'static MetricFamily, samples: Vec<FamilySample>) {
    all.push(FamilySamples { family: Cow::Borrowed(family), samples });
}

fn series<V: crate::told::Sums>(
    group: &SeriesGroup<V>,
    figure: impl Fn(&V) -> Option<Figure>,
) -> Vec<FamilySample> {
    let labels = |key: &Key| group.labels.iter().copied().zip(key.iter().cloned()).collect();
    let sample = |(key, sum): (&Key, &crate::series::Sum<V>)| {
        Some(FamilySample { labels: labels(key), figure: figure(&sum.value)?, since: Some(sum.since) })
    };
    group.all().filter_map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::ToldSums;

    #[test]
    fn buckets_part_where_rows_part() {
        let mut by_power = vec![0; 40];
        (by_power[0], by_power[9], by_power[10], by_power[35], by_power[36], by_power[39]) =
            (1, 2, 4, 8, 16, 32);
        let counts = bucketed(&by_power);
        assert_eq!((counts[0], counts[1], counts[13], counts[14]), (3, 4, 8, 48));
        assert_eq!(counts.iter().sum::<u64>(), 63);
        assert!(bounds().windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn figures_are_summed_over_windows_and_what_is_unknown_is_absent() {
        let mut sums = OutletSums::new(10);
        let key = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<Key>();
        let calls = CallSums { calls: 3, errors: None, ns: Some(5) };
        let window = ToldWindow {
            start: 60_000_000,
            seconds: 60.0,
            accounts: ToldSums { rows: vec![(key(&["a", "p", "r", "user", "none"]), 7)], joined: 0 },
            calls: ToldSums { rows: vec![(key(&["a", "p", "read"]), calls)], joined: 2 },
            hosts: vec![HostFigure {
                resource: "cpu".into(),
                metric: "cpu_user".into(),
                value: 0.25,
                unit: "share".into(),
            }],
            ..ToldWindow::default()
        };
        sums.take(&window);
        sums.take(&ToldWindow { start: 120_000_000, ..window });
        let families = sums.families();
        let of = |name: &str| families.iter().find(|of| of.family.name() == name);
        let account = of("whyslow_account_seconds_total").expect("there");
        assert_eq!(account.samples[0].figure, Figure::Nanos(14));
        assert_eq!(account.samples[0].since, Some(60_000_000));
        assert_eq!(account.samples[0].labels[4], ("object_kind", "none".to_string()));
        assert!(of("whyslow_call_errors_total").is_none());
        assert_eq!(of("whyslow_calls_total").expect("there").samples[0].figure, Figure::Count(6));
        let last = of("whyslow_agent_last_window_timestamp_seconds").expect("there");
        assert_eq!(last.samples[0].figure, Figure::Number(180.0));
        assert_eq!(of("whyslow_host_cpu_user_ratio").expect("there").samples[0].figure, Figure::Number(0.25));
        let dropped = of("whyslow_outlet_label_sets_dropped_total").expect("there");
        assert_eq!(dropped.samples[1].figure, Figure::Count(4));
        // Each is one that the list of names has.
        let names = family::family_names();
        for family in &families {
            let name = family.family.name();
            assert!(names.iter().any(|known| known.starts_with(&name)), "{name}");
        }
    }
}
