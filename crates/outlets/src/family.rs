//! The metrics, each with its name, its unit and what it means: what the page for Prometheus and OpenTelemetry's protocol have in common.

use std::borrow::Cow;
use whyslow_model::{Metric, Unit};

/// How figures of a metric behave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FamilyKind {
    /// A sum since the agent began.
    Counter,
    /// What is now.
    Gauge,
    /// How often each length of time came, since the agent began.
    Histogram,
    /// Words about the agent, with the value 1.
    Info,
}

/// What a metric counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FamilyUnit {
    /// Things.
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A part of 1.
    Ratio,
    /// Something each second.
    PerSecond,
    /// Bytes each second.
    BytesPerSecond,
}

impl FamilyUnit {
    /// What a name ends with, as Prometheus has it; empty for things.
    pub(crate) fn word(self) -> &'static str {
        match self {
            FamilyUnit::Count => "",
            FamilyUnit::Seconds => "seconds",
            FamilyUnit::Bytes => "bytes",
            FamilyUnit::Ratio => "ratio",
            FamilyUnit::PerSecond => "per_second",
            FamilyUnit::BytesPerSecond => "bytes_per_second",
        }
    }

    /// The same by the Unified Code for Units of Measure, as OpenTelemetry has it.
    pub(crate) fn ucum(self) -> &'static str {
        match self {
            FamilyUnit::Count => "",
            FamilyUnit::Seconds => "s",
            FamilyUnit::Bytes => "By",
            FamilyUnit::Ratio => "1",
            FamilyUnit::PerSecond => "1/s",
            FamilyUnit::BytesPerSecond => "By/s",
        }
    }
}

/// A metric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricFamily {
    /// Its name without unit and `_total`.
    pub stem: Cow<'static, str>,
    /// How it behaves.
    pub kind: FamilyKind,
    /// What it counts in.
    pub unit: FamilyUnit,
    /// What it means.
    pub help: Cow<'static, str>,
}

impl MetricFamily {
    const fn new(stem: &'static str, kind: FamilyKind, unit: FamilyUnit, help: &'static str) -> MetricFamily {
        MetricFamily { stem: Cow::Borrowed(stem), kind, unit, help: Cow::Borrowed(help) }
    }

    /// Its name as queries have it; a histogram's without `_bucket`, `_sum` and `_count`.
    pub fn name(&self) -> String {
        let unit = self.unit.word();
        let underscore = if unit.is_empty() { "" } else { "_" };
        let end = match self.kind {
            FamilyKind::Counter => "_total",
            FamilyKind::Info => "_info",
            FamilyKind::Gauge | FamilyKind::Histogram => "",
        };
        format!("{}{underscore}{unit}{end}", self.stem)
    }
}

use FamilyKind::{Counter, Gauge, Histogram, Info};
use FamilyUnit::{Bytes, Count, Ratio, Seconds};

macro_rules! families {
    ($($name:ident: $stem:literal $kind:ident $unit:ident $help:literal;)+) => {
        $(pub(crate) static $name: MetricFamily = MetricFamily::new($stem, $kind, $unit, $help);)+

        /// All, without those of the host's figures.
        pub(crate) static FAMILIES: &[&MetricFamily] = &[$(&$name),+];
    };
}

families! {
    ACCOUNT: "whyslow_account" Counter Seconds
        "Time of threads, without what they waited for work: by service, process, role of the threads, state, and kind of what it was spent on.";
    CALLS: "whyslow_calls" Counter Count "Calls of the kernel.";
    CALL_ERRORS: "whyslow_call_errors" Counter Count "Calls that returned an error; absent where that is unknown.";
    CALL_TIME: "whyslow_call" Counter Seconds "Time in calls; absent where it is unknown.";
    REQUESTS: "whyslow_requests" Counter Count "Requests served and made that ended.";
    REQUEST_ERRORS: "whyslow_request_errors" Counter Count "Of these, those that failed; absent where that is unknown.";
    REQUEST_DURATION: "whyslow_request_duration" Histogram Seconds "How long requests took, of those of which it is known.";
    FINDINGS_OPEN: "whyslow_findings_open" Gauge Count "Findings that are open, by rule, severity and service.";
    FINDING_SHARE: "whyslow_finding_share" Gauge Ratio
        "The largest part of its subject's time or calls that a finding of these that are open costs.";
    FINDINGS_OPENED: "whyslow_findings_opened" Counter Count "Findings that opened.";
    FINDINGS_CLOSED: "whyslow_findings_closed" Counter Count "Findings that closed.";
    AGENT: "whyslow_agent" Info Count "The agent: its version, host, kernel, and how it records.";
    AGENT_START: "whyslow_agent_start_time" Gauge Seconds "When the agent began, since 1970.";
    AGENT_LAST_WINDOW: "whyslow_agent_last_window_timestamp" Gauge Seconds
        "The end of the last window that was told, since 1970; absent before the first.";
    AGENT_OBSERVED: "whyslow_agent_observed" Counter Seconds "How much time the windows that were told have observed.";
    AGENT_CPU: "whyslow_agent_cpu" Gauge Ratio "What the agent took of one CPU in the last window, with the telling of windows.";
    AGENT_MEMORY: "whyslow_agent_memory" Gauge Bytes "Memory that is the agent's alone.";
    AGENT_EVENTS: "whyslow_agent_events" Counter Count "Events in the windows that were told.";
    AGENT_LOST: "whyslow_agent_events_lost" Counter Count "Events that were lost.";
    AGENT_WINDOWS: "whyslow_agent_windows" Counter Count "Windows that were told.";
    AGENT_WINDOWS_LOST: "whyslow_agent_windows_lost" Counter Count "Windows that could not be told.";
    AGENT_PROCESSES: "whyslow_agent_processes" Gauge Count "Processes that are recorded.";
    AGENT_SHED: "whyslow_agent_shed_level" Gauge Count
        "How much detail is given up to stay within the budget: 0 for none, 4 for the most.";
    AGENT_PARTS: "whyslow_agent_parts_waiting" Gauge Count "Parts that wait to be taken elsewhere.";
    AGENT_PARTS_REMOVED: "whyslow_agent_parts_removed" Counter Count "Parts that were removed for want of room.";
    SERIES: "whyslow_outlet_series" Gauge Count "Sets of labels that are told apart, by group of metrics.";
    SERIES_DROPPED: "whyslow_outlet_label_sets_dropped" Counter Count
        "Sets of labels, window by window, that were not told apart and are in those of `other`, by group of metrics.";
    OUTLET_SENT: "whyslow_outlet_sent" Counter Count "Messages that a receiver took, by outlet.";
    OUTLET_FAILURES: "whyslow_outlet_failures" Counter Count "Attempts to send that failed, by outlet.";
    OUTLET_DROPPED: "whyslow_outlet_dropped" Counter Count "Messages that were given up, by outlet.";
    OUTLET_WAITING: "whyslow_outlet_waiting" Gauge Count "Messages that wait to be sent, by outlet.";
    WINDOWS_DROPPED: "whyslow_outlet_windows_dropped" Counter Count "Windows that outlets were not given.";
}

/// The metric of a figure of the host; the number by which its values are multiplied. `None` for one that is not known.
pub(crate) fn of_host(metric: &str) -> Option<(MetricFamily, f64)> {
    let metric = Metric::named(metric)?;
    let (unit, factor) = match metric.unit() {
        Unit::Share | Unit::SecondsPerSecond => (FamilyUnit::Ratio, 1.0),
        Unit::PerSecond => (FamilyUnit::PerSecond, 1.0),
        Unit::BytesPerSecond => (FamilyUnit::BytesPerSecond, 1.0),
        Unit::Bytes => (FamilyUnit::Bytes, 1.0),
        Unit::Nanos => (FamilyUnit::Seconds, 1e-9),
        Unit::Count => (FamilyUnit::Count, 1.0),
    };
    let stem = metric.name().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let end = unit.word();
    let stem = stem.strip_suffix(end).map_or(stem.as_str(), |stem| stem.trim_end_matches('_'));
    // This end is a histogram's.
    let stem = stem.strip_suffix("_count").map_or(Cow::Borrowed(stem), |stem| Cow::Owned(format!("{stem}s")));
    let family = MetricFamily {
        stem: Cow::Owned(format!("whyslow_host_{stem}")),
        kind: Gauge,
        unit,
        help: Cow::Borrowed("A figure of the host over the last window: the mean of what was sampled."),
    };
    Some((family, factor))
}

/// The names of all metrics, as queries have them: a histogram's three, and those of the host's figures.
pub fn family_names() -> Vec<String> {
    let own = FAMILIES.iter().flat_map(|family| {
        let name = family.name();
        match family.kind {
            Histogram => ["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")).to_vec(),
            _ => vec![name],
        }
    });
    let host = Metric::ALL.iter().filter_map(|metric| Some(of_host(metric.name())?.0.name()));
    own.chain(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_those_of_prometheus_and_each_is_there_once() {
        let names = family_names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in &names {
            let is_right = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.starts_with("whyslow_") && name.chars().all(is_right), "{name}");
            assert!(!name.contains("__"), "{name}");
            let is_histogram = name.starts_with("whyslow_request_duration_seconds_");
            let ends_so = ["_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end));
            assert_eq!(ends_so, is_histogram, "{name}");
        }
        for wanted in [
            "whyslow_account_seconds_total",
            "whyslow_request_duration_seconds_bucket",
            "whyslow_agent_info",
            "whyslow_host_cpu_user_ratio",
            "whyslow_agent_memory_bytes",
        ] {
            assert!(names.iter().any(|name| name == wanted), "{wanted}");
        }
    }

    #[test]
    fn each_metric_says_what_it_means() {
        for family in FAMILIES {
            assert!(family.help.ends_with('.') && !family.help.contains('\n'), "{}", family.name());
            assert!(!family.help.contains('\\'), "{}", family.name());
        }
    }
}
