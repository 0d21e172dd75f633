//! `openmetrics`: figures of an input as text of OpenMetrics 1.0: the account of time, calls, requests, the host, findings. Where the
//! capture tells the date, each sample has the time of its end, so that `promtool tsdb create-blocks-from openmetrics` takes it in.
//!
//! Labels are bounded: of each kind of thing the largest are told apart, and the rest is one series, so that sums stay whole. What is
//! unknown is not there.

use super::{ExportFormat, ExportHow};
use crate::text::shown;
use std::collections::BTreeMap;
use std::io::{self, Write};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;

use whyslow_model::{CallStats, Diagnosis, Entity, Metric, Severity, Unit, visible};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "openmetrics",
    about: "figures: the account of time, calls and requests with histograms, the host, findings",
    opened_by: "promtool tsdb create-blocks-from openmetrics, Prometheus and its family",
    is_binary: false,
    escapes: true,
    how: ExportHow::Diagnosis(write),
};

/// Rows of the account, calls, endpoints, findings, things of the host that are told apart.
const MOST_ROWS: usize = 100;
const MOST_CALLS: usize = 100;
const MOST_ENDPOINTS: usize = 100;
const MOST_FINDINGS: usize = 100;
const MOST_THINGS: usize = 64;
/// Characters of the value of a label.
const LONGEST: usize = 200;
/// Times before this are no date: 2000-01-01, ns.
const FIRST_DATE: u64 = 946_684_800_000_000_000;
/// Upper bounds of the buckets as powers of two, ns: 1 us to 69 s. Our histogram parts at powers of two, so that no count is a guess;
/// what a bound names belongs to the next bucket, and the bound is one less.
const BOUNDS: std::ops::RangeInclusive<u32> = 10..=36;
const BOUNDS_STEP: usize = 2;

fn write(facts: &Facts, diagnosis: &Diagnosis, out: &mut dyn Write) -> io::Result<()> {
    let end = facts.window.end.get().filter(|end| *end >= FIRST_DATE);
    let at = end.map_or(String::new(), |end| format!(" {}", seconds(end)));
    let mut text = MetricsText { out, at };
    recording(facts, diagnosis, &mut text)?;
    account(diagnosis, &mut text)?;
    calls(facts, &mut text)?;
    requests(facts, &mut text)?;
    host(facts, &mut text)?;
    findings(diagnosis, &mut text)?;
    text.out.write_all(b"# EOF\n")
}

/// The labels of a series, and what is written.
type Labels = Vec<(&'static str, String)>;

struct MetricsText<'w> {
    out: &'w mut dyn Write,
    /// The time behind each sample, with a space before it; empty where it is unknown.
    at: String,
}

impl MetricsText<'_> {
    fn family(&mut self, name: &str, kind: &str, unit: &str, help: &str) -> io::Result<()> {
        writeln!(self.out, "# TYPE {name} {kind}")?;
        if !unit.is_empty() {
            writeln!(self.out, "# UNIT {name} {unit}")?;
        }
        writeln!(self.out, "# HELP {name} {help}")
    }

    fn sample(&mut self, name: &str, labels: &Labels, more: &[(&str, &str)], value: &str) -> io::Result<()> {
        self.out.write_all(name.as_bytes())?;
        let own = labels.iter().map(|(key, text)| (*key, text.as_str()));
        for (number, (key, text)) in own.chain(more.iter().copied()).enumerate() {
            self.out.write_all(if number == 0 { b"{" } else { b"," })?;
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            write!(self.out, "{key}=\"{text}\"")?;
        }
        if !labels.is_empty() || !more.is_empty() {
            self.out.write_all(b"}")?;
        }
        writeln!(self.out, " {value}{}", self.at)
    }

    /// A family of one number a series.
    fn numbers(
        &mut self,
        (name, suffix, kind, unit, help): (&str, &str, &str, &str, &str),
        series: impl IntoIterator<Item = (Labels, String)>,
    ) -> io::Result<()> {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return Ok(());
        }
        self.family(name, kind, unit, help)?;
        series.try_for_each(|(labels, value)| self.sample(&format!("{name}{suffix}"), &labels, &[], &value))
    }

    fn histograms(&mut self, name: &str, help: &str, series: &[(Labels, CallStats)]) -> io::Result<()> {
        if series.iter().all(|(_, stats)| stats.timed == 0) {
            return Ok(());
        }
        self.family(name, "histogram", "seconds", help)?;
        for (labels, stats) in series.iter().filter(|(_, stats)| stats.timed > 0) {
            let durations = stats.histogram.durations();
            let (bucket, mut seen, mut next) = (format!("{name}_bucket"), 0_u64, 0);
            for power in BOUNDS.step_by(BOUNDS_STEP) {
                let bound = 1_u64 << power;
                while let Some((_, count)) = durations.get(next).filter(|(ns, _)| ns.or_zero() < bound) {
                    seen += u64::from(*count);
                    next += 1;
                }
                self.sample(&bucket, labels, &[("le", &seconds(bound - 1))], &seen.to_string())?;
            }
            self.sample(&bucket, labels, &[("le", "+Inf")], &stats.timed.to_string())?;
            self.sample(&format!("{name}_count"), labels, &[], &stats.timed.to_string())?;
            self.sample(&format!("{name}_sum"), labels, &[], &seconds(stats.total_ns))?;
        }
        Ok(())
    }
}

/// The value of a label: without secrets, on a line, and not longer than people read.
fn label(text: &str) -> String {
    let text = shown(text);
    let text = visible::line(&text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Nanoseconds as seconds, in digits: no figure is rounded.
fn seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let end = text.trim_end_matches('0');
    match end.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => end.to_string(),
    }
}

/// Series by their labels. Two things may have the same ones once secrets are replaced and texts are cut.
struct Series<T> {
    all: BTreeMap<Labels, T>,
}

impl<T: Default> Series<T> {
    fn new() -> Series<T> {
        Series { all: BTreeMap::new() }
    }

    fn of(&mut self, labels: Labels) -> &mut T {
        self.all.entry(labels).or_default()
    }
}

fn recording(facts: &Facts, diagnosis: &Diagnosis, text: &mut MetricsText<'_>) -> io::Result<()> {
    text.family("whyslow_recording", "info", "", "What was read.")?;
    let mut about: Labels = vec![("version", env!("CARGO_PKG_VERSION").to_string())];
    if let Some(account) = &diagnosis.account {
        about.push(("target", label(&account.target)));
    }
    text.sample("whyslow_recording_info", &about, &[], "1")?;
    let window = facts.window.length().get().map(|ns| (Labels::new(), seconds(ns)));
    text.numbers(
        ("whyslow_window_seconds", "", "gauge", "seconds", "The time in which each call is in the input."),
        window,
    )
}

fn account(diagnosis: &Diagnosis, text: &mut MetricsText<'_>) -> io::Result<()> {
    let Some(account) = &diagnosis.account else { return Ok(()) };
    let whole = (Labels::new(), seconds(account.ns));
    let help = "The time of what was asked about without waits for work: the sum of the rows.";
    text.numbers(("whyslow_account_seconds", "", "gauge", "seconds", help), [whole])?;
    let idle = (Labels::new(), seconds(account.idle_ns));
    let help = "What threads waited for work beside that.";
    text.numbers(("whyslow_account_idle_seconds", "", "gauge", "seconds", help), [idle])?;
    let mut rows: Series<u64> = Series::new();
    for (at, row) in account.rows.iter().enumerate() {
        let mut labels: Labels = vec![("state", row.state.word().to_string())];
        if at < MOST_ROWS {
            labels.push(("who", label(&row.who)));
            labels.extend(row.call.as_deref().map(|call| ("call", label(call))));
            labels.extend(row.object.as_deref().map(|object| ("object", label(object))));
        } else {
            labels.push(("who", "(other rows)".to_string()));
        }
        let sum = rows.of(labels);
        *sum = sum.saturating_add(row.ns);
    }
    let rows = rows.all.into_iter().map(|(labels, ns)| (labels, seconds(ns)));
    let help = "The parts of that time: who, in which state, in which call, on what.";
    text.numbers(("whyslow_account_row_seconds", "", "gauge", "seconds", help), rows)
}

fn calls(facts: &Facts, text: &mut MetricsText<'_>) -> io::Result<()> {
    let mut series: Series<CallStats> = Series::new();
    for (at, (name, stats)) in facts.syscalls().iter().enumerate() {
        let name = if at < MOST_CALLS { label(name) } else { "(other calls)".to_string() };
        series.of(vec![("call", name)]).merge(stats);
    }
    let series: Vec<_> = series.all.into_iter().collect();
    let counts = series.iter().map(|(labels, stats)| (labels.clone(), stats.count.to_string()));
    text.numbers(("whyslow_calls", "_total", "counter", "", "Calls."), counts)?;
    let errors = series.iter().map(|(labels, stats)| (labels.clone(), stats.errors.to_string()));
    text.numbers(("whyslow_call_errors", "_total", "counter", "", "Calls that returned an error."), errors)?;
    let moved = series.iter().filter(|(_, stats)| stats.bytes > 0);
    let moved = moved.map(|(labels, stats)| (labels.clone(), stats.bytes.to_string()));
    let help = "Bytes that calls moved.";
    text.numbers(("whyslow_call_bytes", "_total", "counter", "bytes", help), moved)?;
    let help = "How long calls took, of those of which that is known.";
    text.histograms("whyslow_call_duration_seconds", help, &series)
}

/// Requests of series that have the same labels.
#[derive(Default)]
struct OfEndpoint {
    stats: CallStats,
    aborted: u64,
    open: u64,
}

fn requests(facts: &Facts, text: &mut MetricsText<'_>) -> io::Result<()> {
    let mut rows: Vec<_> = facts.requests.endpoints().iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.stats.total_ns, row.stats.count)));
    let mut series: Series<OfEndpoint> = Series::new();
    for (at, row) in rows.into_iter().enumerate() {
        let mut labels: Labels = vec![("side", row.side.word().to_string())];
        if at < MOST_ENDPOINTS {
            labels.extend(row.protocol_words().map(|protocol| ("protocol", protocol.to_string())));
            labels.push(("endpoint", label(&row.name)));
            let other_end = match row.side {
                Side::Client => row.peer.as_deref().map(|peer| ("peer", label(peer))),
                Side::Server => row.local.as_deref().map(|local| ("local", label(local))),
            };
            labels.extend(other_end);
        } else {
            labels.push(("endpoint", "(other endpoints)".to_string()));
        }
        let of = series.of(labels);
        of.stats.merge(&row.stats);
        (of.aborted, of.open) = (of.aborted + row.aborted, of.open + row.open);
    }
    let all = &series.all;
    let of = |value: fn(&OfEndpoint) -> u64| {
        all.iter().map(move |(labels, of)| (labels.clone(), value(of).to_string()))
    };
    let help = "Requests that ended.";
    text.numbers(("whyslow_requests", "_total", "counter", "", help), of(|of| of.stats.count))?;
    let help = "Of these, those that failed.";
    text.numbers(("whyslow_request_errors", "_total", "counter", "", help), of(|of| of.stats.errors))?;
    let help = "Of these, those without a whole answer.";
    text.numbers(("whyslow_requests_aborted", "_total", "counter", "", help), of(|of| of.aborted))?;
    let help = "Requests that were open at the end.";
    text.numbers(("whyslow_requests_open", "", "gauge", "", help), of(|of| of.open))?;
    let series: Vec<_> = series.all.into_iter().map(|(labels, of)| (labels, of.stats)).collect();
    let help = "How long requests took.";
    text.histograms("whyslow_request_duration_seconds", help, &series)?;
    if series.iter().all(|(_, stats)| stats.timed == 0) {
        return Ok(());
    }
    let name = "whyslow_request_quantiles_seconds";
    text.family(name, "summary", "seconds", "Quantiles of how long requests took, within 6.3 %.")?;
    for (labels, stats) in series.iter().filter(|(_, stats)| stats.timed > 0) {
        for (quantile, share) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1.0", 1.0)] {
            let value = if share < 1.0 { stats.percentile(share) } else { stats.max() };
            if let Some(ns) = value.get() {
                text.sample(name, labels, &[("quantile", quantile)], &seconds(ns))?;
            }
        }
    }
    Ok(())
}

/// Figures of the machine, its CPUs, disks and interfaces: their means over the time that was looked at, and levels.
fn host(facts: &Facts, text: &mut MetricsText<'_>) -> io::Result<()> {
    let is_hardware =
        |of: &Entity| matches!(of, Entity::Host | Entity::Cpu(_) | Entity::Device(_) | Entity::Interface(_));
    let things = facts.host.things_that(is_hardware);
    for metric in Metric::ALL {
        let (unit, factor) = match metric.unit() {
            Unit::Share => ("ratio", 1.0),
            Unit::SecondsPerSecond => ("seconds_per_second", 1.0),
            Unit::PerSecond => ("per_second", 1.0),
            Unit::BytesPerSecond => ("bytes_per_second", 1.0),
            Unit::Bytes => ("bytes", 1.0),
            Unit::Nanos => ("seconds", 1e-9),
            Unit::Count => ("", 1.0),
        };
        let known = things.iter().filter_map(|(of, thing)| Some((of, thing.current(*metric)?)));
        let mut series: Series<Option<f64>> = Series::new();
        for (of, value) in known.filter(|(_, value)| value.is_finite()).take(MOST_THINGS) {
            *series.of(vec![("of", label(&of.to_string()))]) = Some(value * factor);
        }
        let values = series.all.into_iter().filter_map(|(labels, value)| Some((labels, value?.to_string())));
        let stem = metric.name().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let ends_so = unit.is_empty() || stem.ends_with(&format!("_{unit}"));
        let name =
            if ends_so { format!("whyslow_host_{stem}") } else { format!("whyslow_host_{stem}_{unit}") };
        let help = "A figure of the host, as `whyslow host` has it.";
        text.numbers((&name, "", "gauge", unit, help), values)?;
    }
    Ok(())
}

fn findings(diagnosis: &Diagnosis, text: &mut MetricsText<'_>) -> io::Result<()> {
    let severities = [Severity::Capture, Severity::Notice, Severity::Warning, Severity::Critical];
    let counts = severities.map(|severity| {
        let count = diagnosis.findings.iter().filter(|finding| finding.severity == severity).count();
        (vec![("severity", severity.word().to_string())], count.to_string())
    });
    text.numbers(("whyslow_findings", "", "gauge", "", "Findings by severity."), counts)?;
    let unjudged = (Labels::new(), diagnosis.not_judged.len().to_string());
    let help = "Rules that the input cannot answer.";
    text.numbers(("whyslow_rules_not_judged", "", "gauge", "", help), [unjudged])?;
    let told = || diagnosis.findings.iter().take(MOST_FINDINGS).zip(1..);
    let labels = |id: &str, number: i32| vec![("number", number.to_string()), ("rule", id.to_string())];
    let titles = told().map(|(finding, number)| {
        let mut labels = labels(finding.id, number);
        labels.push(("severity", finding.severity.word().to_string()));
        labels.push(("title", label(&finding.title)));
        (labels, "1".to_string())
    });
    let help = "The findings, the most worthwhile first.";
    text.numbers(("whyslow_finding", "_info", "info", "", help), titles)?;
    let shares = told().filter_map(|(finding, number)| {
        let share = finding.share.filter(|share| share.is_finite())?;
        Some((labels(finding.id, number), share.to_string()))
    });
    let help = "The part of its subject's time or calls that a finding costs.";
    text.numbers(("whyslow_finding_share_ratio", "", "gauge", "ratio", help), shares)?;
    let savings = told().filter_map(|(finding, number)| {
        Some((labels(finding.id, number), seconds(finding.saving.ns_per_s?)))
    });
    let help = "What fixing it would save, in each second of wall time.";
    text.numbers(("whyslow_finding_saving_seconds_per_second", "", "gauge", "", help), savings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::HOSTILE;
    use whyslow_model::Nanos;

    #[test]
    fn seconds_keep_each_nanosecond() {
        for (ns, wanted) in [(0, "0.0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (2_000_000_000, "2.0")] {
            assert_eq!(seconds(ns), wanted);
        }
    }

    #[test]
    fn buckets_add_up_and_labels_are_escaped() {
        let mut stats = CallStats::default();
        for ns in [1_000, 1_023, 1_024, 5_000_000, 200_000_000_000] {
            stats.record(Nanos::new(ns), false, 0);
        }
        let mut out = Vec::new();
        let mut text = MetricsText { out: &mut out, at: " 1.5".to_string() };
        text.histograms("x_seconds", "X.", &[(vec![("name", label(HOSTILE))], stats)]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains(|c| c != '\n' && visible::acts(c)), "{text:?}");
        let series = "{name=\"a,\\\"b\\\"\\\\\\\\r\\\\nc\\\\x1b[31m\\\\u{202e}d;e{f=\\\"1\\\"}\\\\t<b>&\"";
        for wanted in [
            format!("x_seconds_bucket{series},le=\"0.000001023\"}} 2 1.5\n"),
            format!("x_seconds_bucket{series},le=\"0.000004095\"}} 3 1.5\n"),
            format!("x_seconds_bucket{series},le=\"68.719476735\"}} 4 1.5\n"),
            format!("x_seconds_bucket{series},le=\"+Inf\"}} 5 1.5\n"),
            format!("x_seconds_count{series}}} 5 1.5\n"),
            format!("x_seconds_sum{series}}} 200.005003047 1.5\n"),
        ] {
            assert!(text.contains(&wanted), "{wanted} is not in {text}");
        }
    }
}
