//! Tables of calls with their times: the totals of `perf trace -s`, a table a thread; eBCC's module of system calls; the
//! chisels of sysdig that rank (`topscalls`, `topscalls_time`).
//!
//! ```text
//!  dd (7897), 524308 events, 99.9%
//!    syscall            calls  errors  total       min       avg       max       stddev
//!                                      (msec)    (msec)    (msec)    (msec)        (%)
//!    read              262145      0   123.456     0.000     0.001     0.123      0.50%
//! ```
//!
//! eBCC shows number, name, count, and total, least and most time in nanoseconds, behind a process where it was asked for
//! each. Its rows have no header, but leave no doubt: the mean lies between the least and the most.

use super::columns::task_number;
use super::line::{DayClock, Line, number, number_and_rest, time_of_day};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{
    ClockKind, Entity, FigureRow, FigureTable, Metric, Nanos, Over, Syscall, Timestamp, Trait,
};

pub(super) static CALL_TIMES: Tool = Tool {
    begins: |line| Header::of(line).is_some() || thread(line).is_some(),
    row: |line| numbered(line).is_some(),
    open: || Box::<CallTimes>::default(),
};

const MS: f64 = 1e6;

/// What a column holds. Times are in so many nanoseconds where the cell bears no unit of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Is {
    Pid,
    /// The number of the call in the kernel's table.
    Number,
    Name,
    Count,
    Errors,
    Time(Metric),
    Skip,
}

/// The columns of one table.
#[derive(Clone, Debug)]
struct Header {
    tool: &'static str,
    columns: Vec<Is>,
    /// Nanoseconds of a time.
    unit: f64,
}

/// `perf trace -s`; up to 3.12 it has no total, up to 5.5 no errors.
static PERF: &[(&str, Is)] = &[
    ("syscall", Is::Name),
    ("calls", Is::Count),
    ("errors", Is::Errors),
    ("total", Is::Time(Metric::CallTotal)),
    ("min", Is::Time(Metric::CallMin)),
    ("avg", Is::Time(Metric::Latency)),
    ("max", Is::Time(Metric::CallMax)),
    ("stddev", Is::Skip),
];

/// eBCC's, in any case and with the unit behind the name or not.
static EBCC: &[(&str, Is)] = &[
    ("PID", Is::Pid),
    ("NR", Is::Number),
    ("NAME", Is::Name),
    ("SYSCALL", Is::Name),
    ("COUNT", Is::Count),
    ("TIME", Is::Time(Metric::CallTotal)),
    ("TOTAL", Is::Time(Metric::CallTotal)),
    ("MIN", Is::Time(Metric::CallMin)),
    ("AVG", Is::Time(Metric::Latency)),
    ("MAX", Is::Time(Metric::CallMax)),
];

impl Header {
    fn of(line: &Line<'_>) -> Option<Header> {
        let named = |known: &[(&str, Is)], word: &str| {
            known.iter().find(|(name, _)| *name == word).map(|(_, is)| *is)
        };
        match &line.words[..] {
            ["syscall", "calls", ..] => {
                let columns: Option<Vec<Is>> = line.words.iter().map(|word| named(PERF, word)).collect();
                let columns = columns.filter(|columns| columns.len() >= 5)?;
                return Some(Header { tool: "perf trace -s", columns, unit: MS });
            }
            ["#", "Calls", "Syscall"] => {
                return Some(Header { tool: "sysdig", columns: vec![Is::Count, Is::Name], unit: 1.0 });
            }
            ["Time", "System", "Call"] => {
                let columns = vec![Is::Time(Metric::CallTotal), Is::Name];
                return Some(Header { tool: "sysdig", columns, unit: 1.0 });
            }
            _ => {}
        }
        let upper = line.text.to_ascii_uppercase();
        // `TIME(ns)` and `TIME (ns)`.
        let names: Vec<&str> = upper
            .split([' ', '\t', '(', ')'])
            .filter(|name| !name.is_empty() && !matches!(*name, "NS" | "US" | "MS"))
            .collect();
        let columns: Vec<Is> = names.iter().map_while(|name| named(EBCC, name)).collect();
        let has = |is: Is| columns.contains(&is);
        let whole = columns.len() == names.len()
            && has(Is::Name)
            && has(Is::Count)
            && has(Is::Time(Metric::CallTotal))
            && has(Is::Time(Metric::CallMax));
        let unit = match (upper.contains("(US)"), upper.contains("(MS)")) {
            (true, _) => 1e3,
            (_, true) => MS,
            _ => 1.0,
        };
        whole.then_some(Header { tool: "ebcc", columns, unit })
    }

    /// What a row without a header holds: six columns, or seven with the process.
    fn numbered(with_pid: bool) -> Header {
        let columns = [
            Is::Pid,
            Is::Number,
            Is::Name,
            Is::Count,
            Is::Time(Metric::CallTotal),
            Is::Time(Metric::CallMin),
            Is::Time(Metric::CallMax),
        ];
        let from = usize::from(!with_pid);
        Header { tool: "ebcc", columns: columns.get(from..).unwrap_or_default().to_vec(), unit: 1.0 }
    }

    fn row(&self, line: &Line<'_>, thread: Option<&(u32, Box<str>)>) -> Option<FigureRow> {
        if line.words.len() != self.columns.len() {
            return None;
        }
        let (mut pid, mut name) = (thread.map(|(tid, _)| *tid), "");
        let mut row = FigureRow::new(Entity::Host);
        for (is, word) in self.columns.iter().zip(&line.words) {
            match *is {
                Is::Pid => pid = Some(task_number(word)?),
                Is::Number => {
                    whole(word)?;
                }
                Is::Name => name = word,
                Is::Count => row.set(Metric::CallCount, count(word)?),
                Is::Errors => drop(whole(word)?),
                Is::Time(metric) => row.set(metric, time(word, self.unit)?),
                Is::Skip => {}
            }
        }
        if name.is_empty() || name.starts_with(['-', '(']) {
            return None;
        }
        row.of = Entity::Function { pid, name: name.into() };
        let calls = row.get(Metric::CallCount);
        if let Some((mean, calls)) = row.get(Metric::Latency).zip(calls)
            && row.get(Metric::CallTotal).is_none()
        {
            row.set(Metric::CallTotal, mean * calls);
        }
        if let Some((_, name)) = thread {
            row.say(Trait::Name, name.clone());
        }
        line.sign(&mut row);
        Some(row)
    }
}

fn whole(word: &str) -> Option<f64> {
    number(word).filter(|value| *value >= 0.0 && !word.contains(['.', ',']))
}

/// `262145`, `1.2M` of sysdig.
fn count(word: &str) -> Option<f64> {
    if let Some(count) = whole(word) {
        return Some(count);
    }
    let (value, unit) = number_and_rest(word)?;
    let scale = match unit {
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    (value >= 0.0).then_some(value * scale)
}

/// `0.123` in the unit of the table, `1.32s`, `417us` of sysdig.
fn time(word: &str, unit: f64) -> Option<f64> {
    let (value, rest) = number_and_rest(word)?;
    let scale = match rest {
        "" => unit,
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => MS,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    (value >= 0.0).then_some(value * scale)
}

/// Says when `table` of counts was made and over how long, and where that is known what its counts come to a second.
pub(super) fn rate_counts(table: &mut FigureTable, at: Option<u64>, length: Nanos) {
    table.over = Over::Interval(length);
    table.at = at.map_or(Timestamp::UNKNOWN, Timestamp::new);
    let Some(length) = length.as_secs_f64().filter(|length| *length > 0.0) else { return };
    for row in &mut table.rows {
        if let Some(count) = row.get(Metric::CallCount) {
            row.set(Metric::Calls, count / length);
        }
        if let Some(total) = row.get(Metric::CallTotal) {
            row.set(Metric::CallTime, total / 1e9 / length);
        }
    }
}

/// A row of eBCC without a header. The number of the call differs by architecture: that its name is one of a call, and
/// that the mean lies between least and most, leaves no doubt.
fn numbered(line: &Line<'_>) -> Option<Header> {
    let with_pid = match line.words.len() {
        6 => false,
        7 => true,
        _ => return None,
    };
    let header = Header::numbered(with_pid);
    let row = header.row(line, None)?;
    let figure = |metric| row.get(metric).unwrap_or(0.0);
    let mean = figure(Metric::CallTotal) / figure(Metric::CallCount).max(1.0);
    let between = figure(Metric::CallMin) <= mean && mean <= figure(Metric::CallMax);
    (between && Syscall::lookup(row.of.name().as_bytes()).is_some()).then_some(header)
}

/// `dd (7897), 524308 events, 99.9%`: whose the calls of the next table are; `total, 21580 events` is of all.
fn thread(line: &Line<'_>) -> Option<Option<(u32, Box<str>)>> {
    let (who, rest) = line.text.trim().split_once(", ")?;
    rest.split_ascii_whitespace().nth(1).filter(|word| word.trim_end_matches(',') == "events")?;
    if who == "total" {
        return Some(None);
    }
    let (name, tid) = who.strip_suffix(')')?.rsplit_once(" (")?;
    Some(Some((task_number(tid)?, name.trim().into())))
}

#[derive(Default)]
struct CallTimes {
    header: Option<Header>,
    /// Whose calls these are (`perf trace -s`).
    thread: Option<(u32, Box<str>)>,
    table: Option<FigureTable>,
    clock: DayClock,
    at: Option<u64>,
    /// Seconds that each table is over.
    every: Option<f64>,
}

/// Rows of one table: some hundred calls of each of many threads.
const MOST_ROWS: usize = 131_072;

impl CallTimes {
    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        let length = self.every.map_or(Nanos::UNKNOWN, seconds);
        rate_counts(&mut table, self.at, length);
        out.push(table);
    }
}

impl Block for CallTimes {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(header) = Header::of(line) {
            // The tables of `perf trace -s` are of one run, a thread each.
            if header.tool != "perf trace -s" || self.header.as_ref().is_none_or(|is| is.tool != header.tool)
            {
                self.flush(out);
            }
            self.every = out.about.every;
            self.at = out.about.stamp.take().or(self.at);
            self.header = Some(header);
            return Step::Used;
        }
        if let Some(thread) = thread(line) {
            self.thread = thread;
            return Step::Used;
        }
        let stamp = Line { words: vec![line.word(0).trim_matches(['[', ']'])], ..*line };
        if let Some((time, _)) = time_of_day(&stamp, 0).filter(|_| line.words.len() == 1) {
            self.flush(out);
            out.clock(ClockKind::TimeOfDay);
            self.at = Some(self.clock.carry(time));
            return Step::Used;
        }
        if line.text.trim().bytes().all(|byte| matches!(byte, b'-' | b' ')) || line.word(0).starts_with('(') {
            return if self.header.is_some() { Step::Used } else { Step::Other };
        }
        if self.header.is_none() {
            self.every = out.about.every;
            self.header = numbered(line);
        }
        let Some(header) = &self.header else { return Step::Other };
        let Some(row) = header.row(line, self.thread.as_ref()) else {
            let cells = line.words.len() == header.columns.len();
            return match header.tool {
                "perf trace -s" if cells => Step::Damaged("a call with its number and times"),
                _ => Step::Other,
            };
        };
        let tool = header.tool;
        let table = self.table.get_or_insert_with(|| out.table(tool));
        if table.rows.len() < MOST_ROWS {
            table.rows.push(row);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
