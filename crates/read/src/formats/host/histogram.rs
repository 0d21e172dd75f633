//! Histograms of latency: funclatency, runqlat, biolatency, cpudist, of bcc, bpftrace and perf-tools (iolatency).
//!
//! ```text
//! pid = 12929
//!      usecs               : count     distribution
//!          0 -> 1          : 351      |********************************        |
//! ```
//!
//! A percentile is the upper end of its bucket: so many calls are quicker than that.

use super::line::{DayClock, Line, number, time_of_day};
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, Metric, Nanos, Over, Timestamp};

pub(super) static HISTOGRAM: Tool =
    Tool { begins: |line| unit_of(line).is_some(), row: is_key, open: || Box::<Histogram>::default() };

/// `pid = 7` above a histogram.
fn is_key(line: &Line<'_>) -> bool {
    // libbpf's runqlat shows the name behind the process.
    let named = matches!(
        line.words[..],
        ["pid" | "tid" | "disk" | "comm" | "flags" | "softirq" | "hardirq" | "cgroup", "=", _, ..]
    );
    // bitesize and others: `Process Name = mkfs`, `operation = fsync`.
    let (key, value) = line.text.split_once(" = ").unwrap_or_default();
    let phrase = ["process name", "operation", "bucket ptr", "interface", "family"];
    (named && line.words.len() <= 4)
        || (phrase.iter().any(|known| key.trim().eq_ignore_ascii_case(known)) && !value.trim().is_empty())
}

/// Nanoseconds of the unit that the header names; 0 where the buckets are of something other than time.
fn unit_of(line: &Line<'_>) -> Option<u64> {
    let unit = |name: &str| match name {
        "nsecs" => 1,
        "usecs" => 1_000,
        "msecs" | ">=(ms)" => 1_000_000,
        "secs" => 1_000_000_000,
        _ => 0,
    };
    match &line.words[..] {
        [name, ":", "count", "distribution"] => Some(unit(name)),
        [">=(ms)", "..", "<(ms)", ":", "I/O", ..] => Some(1_000_000),
        [name] | [name, ..] if name.starts_with('@') && line.text.trim_end().ends_with(':') => {
            let name = name.trim_start_matches('@').trim_end_matches(':');
            Some(unit(name.split('[').next().unwrap_or(name)))
        }
        _ => None,
    }
}

/// A row: the end of its bucket in units, and its count.
fn bucket(line: &Line<'_>) -> Option<(f64, f64)> {
    if let Some((range, rest)) = line.text.split_once(':')
        && let Some((_, end)) = range.split_once("->")
    {
        let count = rest.split_ascii_whitespace().next().and_then(number)?;
        return Some((number(end.trim())? + 1.0, count));
    }
    let text = line.text.trim_start().strip_prefix('[')?;
    let (range, rest) = text.split_once([')', ']'])?;
    let count = rest.split_ascii_whitespace().next().and_then(number)?;
    let end = match range.split_once(',') {
        Some((_, end)) => power(end.trim())?,
        None => power(range.trim())? + 1.0,
    };
    Some((end, count))
}

/// `512`, `1K`, `2M`.
fn power(text: &str) -> Option<f64> {
    let (value, unit) = super::line::number_and_rest(text)?;
    let scale = match unit {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(value * scale)
}

#[derive(Default)]
struct Histogram {
    /// Buckets were passed over that are not of time.
    untimed: bool,
    unit: u64,
    /// `pid = 7`, `disk = 'xvda1'`, above the header.
    key: Option<(String, String)>,
    /// Ends in nanoseconds, and counts.
    buckets: Vec<(f64, f64)>,
    line: u64,
    raw: Box<str>,
    clock: DayClock,
    at: Option<u64>,
    /// Seconds that each histogram is over.
    every: Option<f64>,
}

/// Buckets of one histogram; log2 of 64 bits has 64, a linear one some hundreds.
const MOST_BUCKETS: usize = 4096;

impl Histogram {
    fn flush(&mut self, out: &mut Out<'_>) {
        let buckets = std::mem::take(&mut self.buckets);
        let count = count_of(&buckets);
        let key = self.key.take();
        if self.untimed {
            self.untimed = false;
            *out.given += 1;
            out.assume(
                self.line,
                "a histogram of something other than time: it is read, and no rule judges it",
            );
        }
        if count <= 0.0 {
            return;
        }
        let (tool, what) = traced(&out.about.tracing);
        let pid = key.as_ref().filter(|(name, _)| matches!(name.as_str(), "pid" | "tid"));
        let pid = pid.and_then(|(_, value)| value.parse().ok());
        let disk = key.as_ref().filter(|(name, _)| name == "disk");
        let of = match disk {
            Some((_, name)) => Entity::Device(name.trim_matches('\'').into()),
            None => Entity::Function { pid, name: what.into() },
        };
        let mut row = FigureRow::new(of);
        let quantile = |share: f64| {
            let mut seen = 0.0;
            buckets.iter().find(|(_, calls)| {
                seen += calls;
                seen >= share * count
            })
        };
        row.set(Metric::CallCount, count);
        for (metric, share) in [(Metric::CallP50, 0.5), (Metric::CallP99, 0.99), (Metric::CallMax, 1.0)] {
            if let Some((end, _)) = quantile(share) {
                row.set(metric, *end);
            }
        }
        (row.line, row.raw) = (self.line, std::mem::take(&mut self.raw));
        let mut table = out.table(tool);
        table.at = self.at.map_or(Timestamp::UNKNOWN, Timestamp::new);
        table.over = Over::Interval(self.every.map_or(Nanos::UNKNOWN, super::sysstat::seconds));
        table.rows.push(row);
        out.push(table);
    }
}

fn count_of(buckets: &[(f64, f64)]) -> f64 {
    buckets.iter().map(|(_, count)| count).sum()
}

/// The tool and what it measures, by the line that it begins with: `Tracing vfs_read... Hit Ctrl-C to end.`
fn traced(tracing: &str) -> (&'static str, &str) {
    if tracing.contains("run queue") || tracing.contains("scheduler") {
        return ("runqlat", "run queue");
    }
    if tracing.contains("block") {
        return ("biolatency", "block I/O");
    }
    if tracing.contains("on-CPU") {
        return ("cpudist", "on CPU");
    }
    if tracing.contains("off-CPU") {
        return ("cpudist", "off CPU");
    }
    let quoted = tracing.split('"').nth(1);
    let name = quoted.or_else(|| tracing.split_ascii_whitespace().nth(1)).unwrap_or("unnamed");
    ("funclatency", name.trim_end_matches('.'))
}

impl Block for Histogram {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(unit) = unit_of(line) {
            // A key above belongs to the histogram that begins.
            if !self.buckets.is_empty() {
                self.flush(out);
            }
            self.unit = unit;
            self.every = out.about.every;
            self.at = out.about.stamp.take().or(self.at);
            let mut signed = FigureRow::new(Entity::Host);
            line.sign(&mut signed);
            (self.line, self.raw) = (signed.line, signed.raw);
            // A key of bpftrace stands in brackets: `@usecs[7]:`.
            if let Some((_, key)) = line.text.split_once('[').filter(|_| line.word(0).starts_with('@')) {
                let name =
                    if key.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) { "pid" } else { "disk" };
                self.key = Some((name.into(), key.trim_end_matches([']', ':', ' ']).into()));
            }
            return Step::Used;
        }
        if let Some((_, value)) = line.text.split_once(" = ").filter(|_| line.word(1) != "=" && is_key(line))
        {
            self.flush(out);
            self.key = Some(("name".into(), value.trim().into()));
            return Step::Used;
        }
        if let [name, "=", value, ..] = line.words[..] {
            if !is_key(line) {
                return Step::Other;
            }
            self.flush(out);
            self.key = Some((name.to_string(), value.to_string()));
            return Step::Used;
        }
        if let Some((time, _)) = time_of_day(line, 0).filter(|(_, words)| *words == line.words.len()) {
            self.flush(out);
            out.clock(ClockKind::TimeOfDay);
            self.at = Some(self.clock.carry(time));
            return Step::Used;
        }
        let Some((end, count)) = bucket(line) else {
            // The tool labels the mean with a unit that is not the table's: it is not kept.
            return if line.starts(&["avg", "="]) { Step::Used } else { Step::Other };
        };
        self.untimed |= self.unit == 0;
        if self.unit > 0 && self.buckets.len() < MOST_BUCKETS {
            self.buckets.push((end * self.unit as f64, count));
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
