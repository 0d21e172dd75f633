//! Tables of counts: syscount, vfscount, funccount, vfsstat, cachestat, dcstat, llcstat, hardirqs, softirqs; and maps of
//! counts that bpftrace prints.
//!
//! ```text
//! [14:58:52]
//! SYSCALL                   COUNT
//! lstat                   1052795
//! ```

use super::call_times::rate_counts;
use super::columns::task_number;
use super::line::{DayClock, Line, number, time_of_day};
use super::snoop_row::columns;
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Nanos, Syscall, Trait};

pub(super) static COUNTS: Tool =
    Tool { begins: |line| shape(line).is_some(), row: |_| false, open: || Box::<Counts>::default() };

/// The forms of such tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// A name and its count: syscalls, functions.
    Functions(&'static str),
    /// Function's address, name, count.
    Addresses,
    /// A command and its count.
    Commands,
    /// A process, its name and its count (`syscount -P`).
    Processes,
    /// A second a row, a kind of call a column.
    VfsStat,
    /// A second a row.
    CacheStat,
    /// A second a row: names looked for in the kernel's cache of directory entries.
    DcStat,
    /// A process on a CPU a row: misses of the last cache.
    LlcStat,
    /// A count and the value of what was asked for (`argdist -C`).
    Values,
    /// An interrupt and its time or number.
    Interrupts,
    /// A map of bpftrace, a key and its count a row.
    Map,
}

fn shape(line: &Line<'_>) -> Option<Shape> {
    Some(match &line.words[..] {
        ["METHOD", "#", "CALLS", ..] => Shape::Functions("ucalls"),
        ["SYSCALL", "COUNT", ..] => Shape::Functions("syscount"),
        ["FUNC", "COUNT"] => Shape::Functions("funccount"),
        ["ADDR", "FUNC", "COUNT"] => Shape::Addresses,
        ["COMM", "COUNT"] => Shape::Commands,
        ["PID", "COMM" | "NAME", "COUNT", ..] => Shape::Processes,
        ["TIME", "REFS/s", "SLOW/s", "MISS/s", ..] => Shape::DcStat,
        ["PID", "NAME", "CPU", "REFERENCE", "MISS", ..]
        | ["PID", "TID", "NAME", "CPU", "REFERENCE", "MISS", ..] => Shape::LlcStat,
        ["COUNT", "EVENT"] => Shape::Values,
        ["HARDIRQ" | "SOFTIRQ", total, ..] if total.starts_with("TOTAL_") => Shape::Interrupts,
        ["TIME", "READ/s", "WRITE/s", ..] => Shape::VfsStat,
        ["HITS", "MISSES", "DIRTIES", ..]
        | ["TIME", "HITS", "MISSES", "DIRTIES", ..]
        | ["TOTAL", "MISSES", "HITS", "DIRTIES", ..] => Shape::CacheStat,
        _ => return map_row(line).filter(|row| row.bracketed).map(|_| Shape::Map),
    })
}

/// A row of a map of bpftrace: `@[tracepoint:syscalls:sys_enter_openat]: 12`, `@process[redis]: 150`, `@[redis, 77]: 8`.
struct MapRow<'l> {
    /// It has a key, by which a row is known without others.
    bracketed: bool,
    /// What the key is, where it is a call, a function, a program or a process: stacks and other tuples are not.
    of: Option<(Entity, &'l str)>,
    count: f64,
}

fn map_row<'l>(line: &Line<'l>) -> Option<MapRow<'l>> {
    let text = line.text.trim().strip_prefix('@')?;
    let whole =
        |value: &str| number(value.trim()).filter(|count| *count >= 0.0 && !value.contains(['.', ',']));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let Some((map, rest)) = text.split_once('[').filter(|(map, _)| is_name(map)) else {
        let (map, value) = text.split_once(": ")?;
        return is_name(map).then_some(MapRow { bracketed: false, of: None, count: whole(value)? });
    };
    let (key, value) = rest.rsplit_once("]: ")?;
    // `count 1401, average 2, total 2834` of stats().
    let (count, of) = match value.strip_prefix("count ").and_then(|value| value.split_once(", average ")) {
        Some((count, _)) => (whole(count)?, None),
        None => (whole(value)?, key_of(map, key)),
    };
    Some(MapRow { bracketed: true, of, count })
}

/// What a key is, and the name of the process that it tells.
fn key_of<'l>(map: &str, key: &'l str) -> Option<(Entity, &'l str)> {
    match map {
        "process" | "comm" | "pname" if !key.is_empty() => return Some((Entity::Command(key.into()), "")),
        "pid" => return Some((Entity::Process(task_number(key)?), "")),
        _ => {}
    }
    if let Some((first, second)) = key.split_once(", ") {
        // A name and a process, in any order.
        return match (task_number(first), task_number(second)) {
            (None, Some(pid)) => Some((Entity::Process(pid), first)),
            (Some(pid), None) if !second.contains(", ") => Some((Entity::Process(pid), second)),
            _ => None,
        };
    }
    // A probe's name ends in the function.
    let name = if key.contains("sys_enter_") { key } else { key.rsplit(':').next().unwrap_or(key) };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.".contains(&byte));
    let is_function = name.contains('_') || key.contains(':') || is_call(name);
    (is_name && is_function).then(|| (Entity::Function { pid: None, name: name.into() }, ""))
}

fn is_call(name: &str) -> bool {
    Syscall::lookup(name.as_bytes()).is_some()
}

#[derive(Default)]
struct Counts {
    shape: Option<Shape>,
    names: Vec<String>,
    table: Option<FigureTable>,
    clock: DayClock,
    at: Option<u64>,
    before: Option<u64>,
    /// Seconds that each table is over.
    every: Option<f64>,
}

/// Rows of one table: a kernel has some 100,000 functions.
const MOST_ROWS: usize = 131_072;

impl Counts {
    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        let between =
            self.at.zip(self.before).and_then(|(at, before)| at.checked_sub(before)).filter(|ns| *ns > 0);
        let length = between.map(Nanos::new).or_else(|| self.every.map(seconds)).unwrap_or_default();
        rate_counts(&mut table, self.at, length);
        self.before = self.at.or(self.before);
        out.push(table);
    }

    /// Nanoseconds of the header's `TIME (us)`.
    fn time_unit(&self) -> f64 {
        if self.names.iter().any(|name| name.contains("ms")) { 1e6 } else { 1e3 }
    }

    /// Column of that name.
    fn cell(&self, line: &Line<'_>, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|is| is == name)?;
        number(line.word(at).trim_end_matches('%'))
    }

    fn row(&self, shape: Shape, line: &Line<'_>) -> Option<Vec<FigureRow>> {
        let count =
            |at: usize| number(line.word(at)).filter(|value| *value >= 0.0 && !line.word(at).contains('.'));
        let counted = |of: Entity, count: f64| {
            let mut row = FigureRow::new(of);
            row.set(Metric::CallCount, count);
            row
        };
        let function = |name: &str| Entity::Function { pid: None, name: name.into() };
        let words = line.words.len();
        Some(match shape {
            Shape::Functions(_) if (2..=3).contains(&words) => {
                let mut row = counted(function(line.word(0)), count(1)?);
                // `syscount -L`: the time of all, in the unit of the header.
                if let Some(time) = number(line.word(2)).filter(|_| words == 3) {
                    row.set(Metric::CallTotal, time * self.time_unit());
                    row.set(Metric::Latency, time * self.time_unit() / count(1)?.max(1.0));
                }
                vec![row]
            }
            Shape::Addresses if words == 3 && line.word(0).bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                vec![counted(function(line.word(1)), count(2)?)]
            }
            Shape::Commands if words >= 2 => {
                let name = line.text.trim().strip_suffix(line.word(words - 1))?.trim_end();
                vec![counted(Entity::Command(name.into()), count(words - 1)?)]
            }
            Shape::Processes if words >= 3 => {
                // A name may have blanks: its end is told by the columns behind it.
                let timed = usize::from(self.names.iter().any(|name| name == "TIME"));
                let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
                let behind = columns(&names).iter().rev().position(|name| *name == "COUNT")?;
                let at = words.checked_sub(1 + behind).filter(|at| *at >= 2)?;
                let mut row = counted(Entity::Process(task_number(line.word(0))?), count(at)?);
                let name = line.rest(1);
                let end = line.word(at).as_ptr() as usize - line.word(1).as_ptr() as usize;
                row.say(Trait::Name, name.get(..end).unwrap_or("").trim_end());
                if timed > 0 {
                    row.set(Metric::CallTotal, number(line.word(words - 1))? * self.time_unit());
                }
                vec![row]
            }
            Shape::VfsStat => {
                let named = self.names.iter().zip(&line.words).skip(1);
                let calls = named.map(|(name, cell)| {
                    let name = format!("vfs_{}", name.trim_end_matches("/s").to_ascii_lowercase());
                    let mut row = FigureRow::new(function(&name));
                    row.set(Metric::Calls, number(cell)?);
                    Some(row)
                });
                calls.collect::<Option<Vec<_>>>()?
            }
            Shape::CacheStat => {
                let (hits, misses) = (self.cell(line, "HITS")?, self.cell(line, "MISSES")?);
                let mut row = FigureRow::new(Entity::Host);
                row.set(Metric::PageCacheHits, hits);
                row.set(Metric::PageCacheMisses, misses);
                for (name, metric) in [("BUFFERS_MB", Metric::MemBuffers), ("CACHED_MB", Metric::MemCached)] {
                    if let Some(size) = self.cell(line, name) {
                        row.set(metric, size * 1024.0 * 1024.0);
                    }
                }
                vec![row]
            }
            Shape::DcStat => {
                let lookups = [("lookup_fast", "REFS/s"), ("d_lookup", "SLOW/s")].map(|(name, column)| {
                    let mut row = FigureRow::new(function(name));
                    row.set(Metric::Calls, self.cell(line, column)?);
                    Some(row)
                });
                lookups.into_iter().collect::<Option<Vec<_>>>()?
            }
            Shape::LlcStat if words >= 6 => {
                // Process, name, CPU, references, misses, share: counted from the end, as a name may have blanks.
                let threads = usize::from(self.names.iter().any(|name| name == "TID"));
                let pid = task_number(line.word(0))?;
                let of = match threads {
                    0 => Entity::Process(pid),
                    _ => Entity::Thread { pid, tid: task_number(line.word(1))? },
                };
                let mut row = FigureRow::new(of);
                row.set(Metric::CacheMisses, count(words - 2)? / self.every?);
                row.say(Trait::Name, line.word(1 + threads));
                vec![row]
            }
            Shape::Interrupts if words >= 2 => {
                let unit = match self.names.get(1).map_or("", |name| name.trim_start_matches("TOTAL_")) {
                    "nsecs" => 1.0,
                    "usecs" => 1e3,
                    _ => 0.0,
                };
                let (name, _) = line.text.trim().rsplit_once([' ', '\t'])?;
                let mut row = FigureRow::new(Entity::Interrupt(name.trim_end().into()));
                match unit {
                    0.0 => row.set(Metric::CallCount, count(words - 1)?),
                    unit => row.set(Metric::CallTotal, number(line.word(words - 1))? * unit),
                }
                vec![row]
            }
            Shape::Map => {
                let MapRow { of, count, .. } = map_row(line)?;
                let told = of.map(|(of, name)| {
                    let mut row = counted(of, count);
                    if !name.is_empty() {
                        row.say(Trait::Name, name);
                    }
                    row
                });
                told.into_iter().collect()
            }
            Shape::Values if words >= 2 && !line.word(0).starts_with('[') => {
                count(0)?;
                Vec::new()
            }
            _ => return None,
        })
    }
}

impl Block for Counts {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(shape) = shape(line).filter(|shape| *shape != Shape::Map || self.shape != Some(*shape)) {
            self.flush(out);
            self.shape = Some(shape);
            let told = ["hardirqs", "softirqs"];
            self.every = out.about.every.or_else(|| told.iter().find_map(|tool| out.interval(tool)));
            self.at = out.about.stamp.take().or(self.at);
            self.names = line.words.iter().map(|word| (*word).to_string()).collect();
            if shape != Shape::Map {
                return Step::Used;
            }
        }
        let time =
            line.words.iter().find_map(|word| word.rsplit_once("^C").map(|(_, word)| word).or(Some(word)));
        let time = time.map(|word| word.trim_matches(['[', ']', ':']));
        let stamp = time.and_then(|word| time_of_day(&Line { words: vec![word], ..*line }, 0));
        let by_second = matches!(self.shape, Some(Shape::VfsStat | Shape::CacheStat | Shape::DcStat));
        if let Some((time, _)) = stamp.filter(|_| line.words.len() == 1 || by_second) {
            self.flush(out);
            out.clock(ClockKind::TimeOfDay);
            self.at = Some(self.clock.carry(time));
            if line.words.len() == 1 {
                return Step::Used;
            }
        }
        let Some(shape) = self.shape else { return Step::Other };
        let Some(mut rows) = self.row(shape, line) else { return Step::Other };
        let said = match (shape, rows.is_empty()) {
            (Shape::Map, false) => "rows counted by call, program or process",
            (Shape::Map, true) => "rows of maps by another key, which no rule judges",
            (Shape::Values, _) => "values with their counts, which no rule judges",
            (Shape::VfsStat | Shape::CacheStat | Shape::DcStat, _) => "rows of rates",
            (Shape::Interrupts, _) => "interrupts",
            _ => "rows with counts",
        };
        *out.given += u64::from(rows.is_empty());
        rows.iter_mut().for_each(|row| line.sign(row));
        let tool = match shape {
            Shape::Functions(tool) => tool,
            Shape::Addresses => "vfscount",
            Shape::Commands | Shape::Processes => "syscount",
            Shape::VfsStat => "vfsstat",
            Shape::CacheStat => "cachestat",
            Shape::DcStat => "dcstat",
            Shape::LlcStat => "llcstat",
            Shape::Interrupts if self.names.first().is_some_and(|name| name == "SOFTIRQ") => "softirqs",
            Shape::Interrupts => "hardirqs",
            Shape::Map => "bpftrace",
            Shape::Values => "argdist",
        };
        out.made(tool, 1, said);
        let table = self.table.get_or_insert_with(|| out.table(tool));
        if table.rows.len() < MOST_ROWS {
            table.rows.append(&mut rows);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
