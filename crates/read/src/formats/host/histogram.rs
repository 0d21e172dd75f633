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

pub(super) static HISTOGRAM: Tool = Tool {
    begins: |line| scale(line).is_some() || dictionary(line).is_some(),
    row: is_key,
    open: || Box::<Histogram>::default(),
};

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

/// What the header of a histogram tells.
#[derive(Clone, Debug, Default)]
struct Scale {
    /// Nanoseconds of its unit; 0 where the buckets are of something other than the time that something takes.
    unit: u64,
    /// The upper end of a bucket is the lower one of the next.
    touching: bool,
}

/// The scale that a header names: `usecs : count distribution`, `query latency (ms) : count …`, `@usecs[7]:`.
fn scale(line: &Line<'_>) -> Option<Scale> {
    let unit = |name: &str| match name {
        "nsecs" | "ns" => 1,
        "usecs" | "us" => 1_000,
        "msecs" | "ms" => 1_000_000,
        "secs" => 1_000_000_000,
        name if name.contains("latency") && name.ends_with("(ns)") => 1,
        name if name.contains("latency") && name.ends_with("(us)") => 1_000,
        name if name.contains("latency") && name.ends_with("(ms)") => 1_000_000,
        _ => 0,
    };
    let plain = |name: &str| Scale { unit: unit(name), touching: false };
    if line.starts(&[">=(ms)", "..", "<(ms)", ":", "I/O"]) {
        return Some(Scale { unit: 1_000_000, touching: true });
    }
    if let Some(name) = line.word(0).strip_prefix('@') {
        let named = line.text.trim_end().ends_with(':');
        return named.then(|| plain(name.split(['[', ':']).next().unwrap_or(name)));
    }
    let (name, columns) = line.text.split_once(" : ")?;
    let mut columns = columns.split_ascii_whitespace();
    let counts = columns.next().is_some_and(|word| matches!(word, "count" | "Count" | "I/O"));
    let drawn =
        columns.next().is_some_and(|word| word.trim_matches('|').eq_ignore_ascii_case("distribution"));
    (counts && drawn).then(|| plain(name.trim()))
}

/// A row: the end of its bucket in units, and its count.
fn bucket(line: &Line<'_>, touching: bool) -> Option<(f64, f64)> {
    let more = if touching { 0.0 } else { 1.0 };
    if let Some((range, rest)) = line.text.split_once(" :") {
        let count = rest.split_ascii_whitespace().next().and_then(number)?;
        let end = match range.split_once("->") {
            // The last bucket may be open.
            Some((start, end)) => number(end.trim()).or_else(|| number(start.trim()))?,
            None => number(range.trim()).filter(|_| rest.contains('|'))?,
        };
        return Some((end + more, count));
    }
    let text = line.text.trim_start().strip_prefix('[')?;
    let (range, rest) = text.split_once([')', ']'])?;
    let count = rest.split_ascii_whitespace().next().and_then(number)?;
    let end = match range.split_once(',') {
        Some((start, end)) => power(end.trim()).or_else(|| power(start.trim()))?,
        None => power(range.trim())? + 1.0,
    };
    Some((end, count))
}

/// `biolatency -j`: a histogram a line, as Python prints a dictionary; its unit, and its buckets.
fn dictionary(line: &Line<'_>) -> Option<(u64, Vec<(f64, f64)>)> {
    let text = line.text.trim();
    if !text.starts_with("{'ts': ") {
        return None;
    }
    let value = |text: &str, name: &str| -> Option<f64> {
        let rest = text.split_once(name)?.1.trim_start_matches("': ");
        super::line::number_and_rest(rest).map(|(value, _)| value)
    };
    let unit = match text.split_once("'val_type': '")?.1.split_once('\'')?.0 {
        "nsecs" => 1,
        "usecs" => 1_000,
        "msecs" => 1_000_000,
        _ => 0,
    };
    let parts = text.split("'interval-start'").skip(1).take(MOST_BUCKETS);
    let bucket = |part: &str| Some((value(part, "'interval-end")? + 1.0, value(part, "'count")?));
    Some((unit, parts.filter_map(bucket).collect()))
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
    scale: Scale,
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
        if std::mem::take(&mut self.untimed) {
            *out.given += 1;
            let (tool, _) = traced(&out.about.tracing);
            out.made(tool, 1, "histograms of something other than time, which no rule judges");
        }
        if count <= 0.0 {
            return;
        }
        let tracing = out.about.tracing.clone();
        let (tool, what) = traced(&tracing);
        out.made(tool, 1, "histograms of time");
        let pid = key.as_ref().filter(|(name, _)| matches!(name.as_str(), "pid" | "tid"));
        let pid = pid.and_then(|(_, value)| value.parse().ok());
        let disk = key.as_ref().filter(|(name, _)| name == "disk");
        let of = match disk {
            Some((_, name)) => Entity::Device(name.trim_matches('\'').into()),
            // `operation = read` of ext4dist.
            None => match key.as_ref().filter(|(name, _)| !matches!(name.as_str(), "pid" | "tid")) {
                Some((_, value)) => {
                    Entity::Function { pid, name: format!("{what} {}", value.trim_matches('\'')).into() }
                }
                None => Entity::Function { pid, name: what.into() },
            },
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

/// What the key of a map of bpftrace is: a process, perhaps with its name beside it, a disk, or a name.
fn key_of_map(key: &str) -> (String, String) {
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = key.split(", ").collect();
    if let Some(pid) = parts.iter().find(|part| is_number(part)) {
        return ("pid".into(), pid.to_string());
    }
    let is_disk =
        ["sd", "vd", "xvd", "nvme", "md", "dm-", "mmcblk"].iter().any(|start| key.starts_with(start));
    let is_numbered =
        key.split_once(',').is_some_and(|(major, minor)| is_number(&major) && is_number(&minor));
    match is_disk || is_numbered {
        true => ("disk".into(), key.to_string()),
        false => ("name".into(), key.to_string()),
    }
}

/// Words of the line that a tool begins with, the tool, and what it measures.
static MEASURED: &[(&str, &str, &str)] = &[
    ("run queue length", "runqlen", "run queue length"),
    ("run queue", "runqlat", "run queue"),
    ("scheduler", "runqlat", "run queue"),
    ("I/O size", "bitesize", "I/O size"),
    ("block", "biolatency", "block I/O"),
    ("on-CPU", "cpudist", "on CPU"),
    ("off-CPU", "cpudist", "off CPU"),
    ("database queries", "dbstat", "query"),
    ("TCP RTT", "tcprtt", "TCP round trip"),
    ("SSL/TLS", "ssllatency", "TLS"),
    ("hard irq", "hardirqs", "interrupt"),
    ("soft irq", "softirqs", "soft interrupt"),
    ("SYN backlog", "tcpsynbl", "SYN backlog"),
    ("Sampling CPU", "cpuwalk", "CPU"),
];

/// The tool and what it measures, by the line that it begins with: `Tracing vfs_read... Hit Ctrl-C to end.`
fn traced(tracing: &str) -> (&'static str, &str) {
    // Not in the name of a function, which is quoted.
    let plain = tracing.split('"').next().unwrap_or(tracing);
    if let Some((_, tool, what)) = MEASURED.iter().find(|(words, ..)| plain.contains(words)) {
        return (tool, what);
    }
    let quoted = tracing.split('"').nth(1);
    let name =
        quoted.or_else(|| tracing.split_ascii_whitespace().nth(1)).map(|name| name.trim_end_matches('.'));
    match name {
        // `Tracing ext4 operation latency`.
        Some(system) if tracing.contains("operation latency") => ("ext4dist and its like", system),
        Some(name) if !name.is_empty() && tracing.starts_with("Tracing ") => ("funclatency", name),
        _ => ("histogram", "unnamed"),
    }
}

impl Block for Histogram {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some((unit, buckets)) = dictionary(line) {
            self.flush(out);
            self.untimed = unit == 0 && !buckets.is_empty();
            self.buckets = buckets.into_iter().map(|(end, count)| (end * unit as f64, count)).collect();
            self.buckets.retain(|_| unit > 0);
            let mut signed = FigureRow::new(Entity::Host);
            line.sign(&mut signed);
            (self.line, self.raw) = (signed.line, signed.raw);
            self.flush(out);
            return Step::Used;
        }
        if let Some(scale) = scale(line) {
            // A key that stands above belongs to the histogram that begins, and has ended the one before.
            if !self.buckets.is_empty() || self.untimed {
                self.flush(out);
            }
            // Any key, where it stands right above: `retval = 12`.
            if let [name, "=", value] = out.about.command.iter().map(String::as_str).collect::<Vec<_>>()[..]
                && self.key.is_none()
            {
                self.key = Some((name.to_string(), value.to_string()));
                out.about.command.clear();
            }
            self.scale = scale;
            self.every = out.about.every;
            self.at = out.about.stamp.take().or(self.at);
            let mut signed = FigureRow::new(Entity::Host);
            line.sign(&mut signed);
            (self.line, self.raw) = (signed.line, signed.raw);
            // A key of bpftrace stands in brackets: `@usecs[7]:`.
            if let Some((_, key)) = line.text.split_once('[').filter(|_| line.word(0).starts_with('@')) {
                self.key = Some(key_of_map(key.trim_end_matches([']', ':', ' '])));
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
        let Some((end, count)) = bucket(line, self.scale.touching) else {
            // The tool labels the mean with a unit that is not the table's: it is not kept.
            return if line.starts(&["avg", "="]) { Step::Used } else { Step::Other };
        };
        self.untimed |= self.scale.unit == 0;
        if self.scale.unit > 0 && self.buckets.len() < MOST_BUCKETS {
            self.buckets.push((end * self.scale.unit as f64, count));
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
