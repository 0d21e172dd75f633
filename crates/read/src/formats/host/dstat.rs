//! dstat and dool: groups of columns under a line of titles, a row an interval. The first row is since boot.
//!
//! ```text
//! --total-cpu-usage-- -dsk/total- -net/total- ---paging-- ---system--
//! usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw
//!   1   0  98   0   0|  12k   34k|   0     0 |   0     0 | 123   456
//! ```

use super::line::{DayClock, Line, number_and_rest, time_of_day};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Over, Timestamp};

pub(super) static DSTAT: Tool =
    Tool { begins: |line| titles(line).is_some(), row: |_| false, open: || Box::<Dstat>::default() };

/// dstat's interval without one named, in seconds.
const EVERY: f64 = 1.0;
const PERCENT: f64 = 0.01;

/// What the columns of a group hold: by the group's title and the column's name.
static COLUMNS: &[(&str, &str, Metric)] = &[
    ("cpu", "usr", Metric::CpuUser),
    ("cpu", "sys", Metric::CpuSystem),
    ("cpu", "idl", Metric::CpuIdle),
    ("cpu", "wai", Metric::CpuIowait),
    ("cpu", "hiq", Metric::CpuIrq),
    ("cpu", "siq", Metric::CpuSoftirq),
    ("cpu", "stl", Metric::CpuSteal),
    ("dsk", "read", Metric::ReadBytes),
    ("dsk", "writ", Metric::WriteBytes),
    ("io", "read", Metric::Reads),
    ("io", "writ", Metric::Writes),
    ("net", "recv", Metric::RxBytes),
    ("net", "send", Metric::TxBytes),
    ("paging", "in", Metric::SwapIn),
    ("paging", "out", Metric::SwapOut),
    ("system", "int", Metric::Interrupts),
    ("system", "csw", Metric::ContextSwitches),
    ("procs", "run", Metric::Runnable),
    ("procs", "blk", Metric::Uninterruptible),
    ("procs", "new", Metric::Forks),
    ("load", "1m", Metric::Load1),
    ("load", "5m", Metric::Load5),
    ("load", "15m", Metric::Load15),
    ("memory", "free", Metric::MemFree),
    ("memory", "avai", Metric::MemAvailable),
    ("memory", "buff", Metric::MemBuffers),
    ("memory", "buf", Metric::MemBuffers),
    ("memory", "cach", Metric::MemCached),
    ("memory", "cch", Metric::MemCached),
    ("swap", "used", Metric::Swapped),
    ("swap", "free", Metric::SwapFree),
];

/// One group of columns.
#[derive(Clone, Debug)]
struct Group {
    of: Entity,
    kind: &'static str,
    columns: Vec<Option<Metric>>,
}

/// Titles between dashes, one of which only dstat has: `-dsk/total-`, `--total-cpu-usage--`, `--dsk/sda-----dsk/sdb--`.
fn titles<'l>(line: &Line<'l>) -> Option<Vec<&'l str>> {
    if !line.words.iter().all(|word| word.starts_with('-') && word.ends_with('-')) {
        return None;
    }
    let parts = line.words.iter().flat_map(|word| word.split("--"));
    let titles: Vec<&str> =
        parts.map(|part| part.trim_matches(['-', ':'])).filter(|title| !title.is_empty()).collect();
    let is_dstat = |title: &&str| {
        ["dsk/", "net/", "io/", "cpu"].iter().any(|kind| title.starts_with(kind))
            || matches!(*title, "total-cpu-usage" | "total-usage" | "load-avg" | "memory-usage" | "paging")
    };
    titles.iter().any(is_dstat).then_some(titles)
}

/// The kind of a group's columns by its title, and what they are of.
fn kind_of(title: &str) -> (&'static str, Entity) {
    let (kind, name) = title.split_once('/').unwrap_or((title, "total"));
    let one = |make: fn(Box<str>) -> Entity| if name == "total" { Entity::Host } else { make(name.into()) };
    match kind {
        "dsk" => ("dsk", one(Entity::Device)),
        "io" => ("io", one(Entity::Device)),
        "net" => ("net", one(Entity::Interface)),
        "paging" => ("paging", Entity::Host),
        "system" => ("system", Entity::Host),
        "procs" => ("procs", Entity::Host),
        "swap" => ("swap", Entity::Host),
        "load-avg" => ("load", Entity::Host),
        "memory-usage" => ("memory", Entity::Host),
        kind if kind.starts_with("cpu") && kind.contains("usage") => {
            let number = kind.trim_start_matches("cpu").split('-').next().unwrap_or("");
            ("cpu", number.parse().map_or(Entity::Host, Entity::Cpu))
        }
        "total-cpu-usage" | "total-usage" => ("cpu", Entity::Host),
        _ => ("", Entity::Host),
    }
}

#[derive(Default)]
struct Dstat {
    titles: Vec<String>,
    groups: Vec<Group>,
    /// Which group is the time.
    time: Option<usize>,
    clock: DayClock,
    /// A row was read: the next is of an interval.
    begun: bool,
    every: f64,
}

impl Dstat {
    /// Takes the line of names below the titles.
    fn names(&mut self, line: &Line<'_>) -> bool {
        let parts = groups_of(line.text);
        let words = |part: &str| part.split_ascii_whitespace().map(str::to_string).collect::<Vec<_>>();
        if parts.len() != self.titles.len() {
            return false;
        }
        self.time = parts.iter().position(|part| matches!(part.trim(), "time" | "date/time"));
        self.groups = (self.titles.iter().zip(&parts))
            .map(|(title, part)| {
                let (kind, of) = kind_of(title);
                let metric = |name: String| {
                    let known = COLUMNS.iter().find(|(group, column, _)| *group == kind && *column == name);
                    known.map(|(.., metric)| *metric)
                };
                Group { of, kind, columns: words(part).into_iter().map(metric).collect() }
            })
            .collect();
        self.groups.iter().any(|group| group.columns.iter().any(Option::is_some))
    }

    fn row(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Option<FigureTable> {
        let parts = groups_of(line.text);
        if parts.len() != self.groups.len() {
            return None;
        }
        let mut table = out.table("dstat");
        for (at, (group, part)) in self.groups.iter().zip(&parts).enumerate() {
            if self.time == Some(at) {
                let words: Vec<&str> = part.split_ascii_whitespace().collect();
                let last = Line { words: words.last().copied().into_iter().collect(), ..*line };
                if let Some((time, _)) = time_of_day(&last, 0) {
                    out.clock(ClockKind::TimeOfDay);
                    table.at = Timestamp::new(self.clock.carry(time));
                }
                continue;
            }
            let cells: Vec<&str> = part.split_ascii_whitespace().collect();
            // Columns of text (`most expensive`) have any number of words.
            if cells.len() != group.columns.len() || group.kind.is_empty() {
                continue;
            }
            let mut row = FigureRow::new(group.of.clone());
            for (metric, cell) in group.columns.iter().zip(cells) {
                if let Some(metric) = metric {
                    row.set(*metric, figure(cell, group.kind)?);
                }
            }
            line.sign(&mut row);
            match table.rows.iter_mut().find(|known| known.of == row.of) {
                Some(known) => known.figures.append(&mut row.figures),
                None => table.rows.push(row),
            }
        }
        (!table.rows.is_empty()).then_some(table)
    }
}

/// Groups of a line: kinds are parted by lines, things of one kind by colons, and so are the parts of a time.
fn groups_of(text: &str) -> Vec<&str> {
    let is_time = |part: &str| part.split(':').count() == 3 && part.split(':').all(ends_in_digit);
    let parts = text.trim_end().trim_end_matches(['|', '│']).split(['|', '│']);
    parts.flat_map(|part| if is_time(part) { vec![part] } else { part.split(':').collect() }).collect()
}

fn ends_in_digit(text: &str) -> bool {
    text.trim().ends_with(|last: char| last.is_ascii_digit()) && !text.trim().contains("  ")
}

/// `12k`, `98`, `0.42`: sizes count in units of 1,024, numbers of things in those of 1,000.
fn figure(cell: &str, kind: &str) -> Option<f64> {
    let (value, unit) = number_and_rest(cell)?;
    let step: f64 = if matches!(kind, "system" | "procs" | "io") { 1000.0 } else { 1024.0 };
    let scale = match unit {
        "" | "B" | "b" => 1.0,
        "k" | "K" => step,
        "M" | "m" => step.powi(2),
        "G" | "g" => step.powi(3),
        "T" | "t" => step.powi(4),
        _ => return None,
    };
    Some(value * scale * if kind == "cpu" { PERCENT } else { 1.0 })
}

impl Block for Dstat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(titles) = titles(line) {
            // It shows its header again after each page of rows.
            let titles: Vec<String> = titles.into_iter().map(str::to_string).collect();
            if titles != self.titles {
                self.begun = false;
                self.every =
                    ["dstat", "dool"].iter().find_map(|tool| out.interval(tool)).unwrap_or(EVERY).max(0.0);
            }
            self.titles = titles;
            self.groups.clear();
            return Step::Used;
        }
        if self.titles.is_empty() {
            return Step::Other;
        }
        if self.groups.is_empty() {
            return if self.names(line) { Step::Used } else { Step::Other };
        }
        let Some(table) = self.row(line, out) else {
            return match line.text.contains(['|', '│']) {
                true => Step::Damaged("a figure for each column of dstat"),
                false => Step::Other,
            };
        };
        let over = match std::mem::replace(&mut self.begun, true) {
            true => Over::Interval(seconds(self.every)),
            false => Over::SinceBoot,
        };
        out.push_apart(table, over, |metric| !metric.is_level());
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}
