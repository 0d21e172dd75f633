//! The view `summary`: what `strace -c` prints, by any key, with percentiles, and with waiting told from work.

mod functions;

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use hashbrown::HashMap;
use whyslow_facts::who::process_name;
use whyslow_facts::{Facts, FdLife, FileFacts, Origin, ThreadFacts};
use whyslow_model::syscall::Waits;
use whyslow_model::{CallStats, Cell, Column, CountRow, Nanos, SaturatingSum, Syscall, Table, TimeKind};

/// The view.
pub(super) static VIEW: View = View {
    name: "summary",
    of_calls: true,
    summary: "calls, time, errors and percentiles by system call or another key",
    by: &[
        "syscall",
        "process",
        "thread",
        "cgroup",
        "container",
        "process,syscall",
        "thread,syscall",
        "cgroup,syscall",
        "container,syscall",
        "errno",
        "syscall,errno",
        "path",
        "pattern",
        "fd",
        "peer",
        "function",
        "process,function",
    ],
    table,
};

/// A median from which on each call is slow by itself: ten thousand times a cheap call, and more than a disk's
/// seek takes on flash.
const SLOW_CALL: Nanos = Nanos::from_millis(1);
/// Fewer calls than this are neither many nor a distribution.
const FEW: u64 = 10;

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let from_tables = facts.world.calls == 0 && facts.world.counted == 0 && by == "syscall";
    let is_functions = by.ends_with("function");
    let rows = match () {
        () if is_functions => functions::rows(facts, by),
        () if from_tables => of_tables(facts),
        () => of_trace(facts, by),
    };
    let all = rows.iter().map(|row| row.total.or_zero()).saturating_sum();
    let all_work = rows.iter().map(|row| row.work_ns().unwrap_or(0)).saturating_sum();
    let total = (!rows.is_empty()).then(|| {
        let sum = rows.iter().skip(1).fold(rows[0].clone(), |sum, row| sum.plus(row));
        let mut cells = sum.cells(all, all_work);
        cells.extend(by.split(',').map(|_| Cell::Unknown));
        if let Some(name) = cells.last_mut() {
            *name = Cell::Text("total".to_string());
        }
        cells
    });
    let mut columns = COLUMNS.to_vec();
    columns.extend(by.split(',').map(key_column));
    let table = Table {
        name: VIEW.name,
        question: question(by),
        columns,
        rows: rows
            .into_iter()
            .map(|row| {
                let mut cells = row.cells(all, all_work);
                cells.extend(row.key);
                cells
            })
            .collect(),
        total,
        notes: if is_functions { functions::notes(facts) } else { notes(facts, by, from_tables) },
    };
    let default = if all > 0 { "total" } else { "calls" };
    finish(table, ask, default)
}

/// strace's order; its `seconds` is `total` and its `usecs/call` is `mean`.
const COLUMNS: [Column; 13] = [
    Column::new("time_share", "% time"),
    Column::new("total", "total"),
    Column::optional("mean", "mean", 1),
    Column::new("calls", "calls"),
    Column::new("errors", "errors"),
    Column::optional("min", "min", 6),
    Column::optional("max", "max", 3),
    Column::optional("p50", "p50", 4),
    Column::optional("p90", "p90", 7),
    Column::optional("p99", "p99", 5),
    Column::optional("work_share", "% work", 3),
    Column::optional("nature", "nature", 2),
    Column::optional("cost", "cost", 2),
];

fn key_column(key: &str) -> Column {
    match key {
        "process" => Column::new("process", "process"),
        "thread" => Column::new("thread", "thread"),
        "cgroup" => Column::new("cgroup", "control group"),
        "container" => Column::new("container", "container"),
        "errno" => Column::new("errno", "errno"),
        "path" => Column::new("path", "path"),
        "pattern" => Column::new("pattern", "pattern"),
        "fd" => Column::new("fd", "descriptor"),
        "peer" => Column::new("peer", "peer"),
        "function" => Column::new("function", "function"),
        _ => Column::new("syscall", "syscall"),
    }
}

fn question(by: &str) -> String {
    let key = match by {
        "syscall" => "system call",
        "process,syscall" => "process and system call",
        "thread,syscall" => "thread and system call",
        "cgroup" => "control group",
        "cgroup,syscall" => "control group and system call",
        "container,syscall" => "container and system call",
        "errno" => return "Which errors do calls return, and how often?".to_string(),
        "syscall,errno" => return "Which calls fail, with what error, and how often?".to_string(),
        "fd" => "descriptor",
        "function" => "function of the kernel",
        "process,function" => "process and function of the kernel",
        key => key,
    };
    format!("How many calls, and how much time in them, by {key}?")
}

fn notes(facts: &Facts, by: &str, from_tables: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if from_tables {
        let kinds: Vec<TimeKind> = facts.tables.iter().map(|table| table.time).collect();
        let has = |kind| kinds.contains(&kind);
        if has(TimeKind::SystemCpu) {
            notes.push(
                "Time is system CPU time, as strace -c counts it without -w: waiting is not in it."
                    .to_string(),
            );
        }
        if has(TimeKind::Wall) {
            notes.push("Time is wall-clock time in the calls.".to_string());
        }
        if has(TimeKind::Unknown) {
            notes.push(
                "The table does not tell whether its time is system CPU or wall-clock time.".to_string(),
            );
        }
        return notes;
    }
    notes.extend(nothing_because(facts, "threads, errors, files or descriptors"));
    if facts.world.calls > 0 || facts.world.counted > 0 {
        if facts.has_times() {
            notes.push(
                "Time is wall-clock time in the calls, as strace -c -w counts it; % work leaves waiting out. cost: count = many cheap calls, \
                 latency = each call is slow, tail = a few calls take most of the time."
                    .to_string(),
            );
        } else {
            notes.push("The capture shows no durations: record with strace -T.".to_string());
        }
        if facts.world.counted > 0 {
            notes.push(format!(
                "{} were counted in the kernel: of these, waiting is told from work by the call's name only, and percentiles are \
                 known within a factor of 1.5.",
                words::plural(facts.world.counted, "call")
            ));
        }
        if !facts.tables.is_empty() {
            notes.push("The tables of counts among the inputs are not part of these figures.".to_string());
        }
    }
    match by {
        "path" | "pattern" if facts.world.files.merged_paths > 0 => notes.push(format!(
            "{} with few calls stand under their patterns.",
            words::plural(facts.world.files.merged_paths, "path")
        )),
        "fd" | "peer" if facts.world.fds.dropped > 0 => notes.push(format!(
            "{} not shown: they were closed, and more were opened than are kept apart.",
            words::plural(facts.world.fds.dropped, "descriptor")
        )),
        _ => {}
    }
    if matches!(by, "fd" | "peer") && facts.world.calls > 0 {
        notes.push("Reads and writes only.".to_string());
    }
    notes
}

/// One row before it is a row: what is known of a set of calls, measured or printed.
#[derive(Clone, Default)]
struct Figures {
    key: Vec<Cell>,
    calls: Option<u64>,
    errors: Option<u64>,
    total: Nanos,
    mean: Nanos,
    min: Nanos,
    max: Nanos,
    p50: Nanos,
    p99: Nanos,
    /// Single calls, where they were seen.
    measured: Option<CallStats>,
    nature: Option<&'static str>,
}

impl Figures {
    fn measured(key: Vec<Cell>, stats: CallStats) -> Figures {
        Figures {
            key,
            calls: Some(stats.count),
            errors: Some(stats.errors),
            total: stats.known_total(),
            mean: stats.mean(),
            min: stats.min(),
            max: stats.max(),
            nature: nature(&stats),
            p50: stats.percentile(0.5),
            p99: stats.percentile(0.99),
            measured: Some(stats),
        }
    }

    fn printed(row: &CountRow) -> Figures {
        Figures {
            key: vec![Cell::Text(row.name.clone())],
            calls: row.calls,
            errors: row.errors,
            total: row.total,
            mean: mean(row.total, row.calls).unwrap_or(row.mean),
            min: row.min,
            max: row.max,
            nature: nature_by_name(&row.name),
            ..Figures::default()
        }
    }

    /// The figures of both sets; unknown where one of them is.
    fn plus(&self, other: &Figures) -> Figures {
        if let (Some(a), Some(b)) = (&self.measured, &other.measured) {
            let mut stats = a.clone();
            stats.merge(b);
            return Figures::measured(self.key.clone(), stats);
        }
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let known = |ns: Option<u64>| ns.map_or(Nanos::UNKNOWN, Nanos::new);
        let (calls, total) = (sum(self.calls, other.calls), known(sum(self.total.get(), other.total.get())));
        Figures {
            key: self.key.clone(),
            calls,
            errors: sum(self.errors, other.errors),
            total,
            mean: mean(total, calls).unwrap_or(Nanos::UNKNOWN),
            min: known(self.min.get().zip(other.min.get()).map(|(a, b)| a.min(b))),
            max: known(self.max.get().zip(other.max.get()).map(|(a, b)| a.max(b))),
            p50: Nanos::UNKNOWN,
            p99: Nanos::UNKNOWN,
            measured: None,
            nature: self.nature.filter(|nature| other.nature == Some(*nature)),
        }
    }

    /// Time in the calls without waiting, where the two are told apart.
    fn work_ns(&self) -> Option<u64> {
        let stats = self.measured.as_ref().filter(|stats| stats.timed > 0)?;
        Some(stats.total_ns.saturating_sub(stats.waiting_ns))
    }

    /// The cells of [`COLUMNS`]; `all` is the time of all rows, `all_work` its part that is not waiting.
    fn cells(&self, all: u64, all_work: u64) -> Vec<Cell> {
        let p90 = self.measured.as_ref().map_or(Nanos::UNKNOWN, |stats| stats.percentile(0.9));
        let share = self.total.get().filter(|_| all > 0).map(|ns| ns as f64 / all as f64);
        let work = self.work_ns().filter(|_| all_work > 0).map(|ns| ns as f64 / all_work as f64);
        vec![
            Cell::share(share),
            Cell::duration(self.total),
            Cell::duration(self.mean),
            Cell::count(self.calls),
            Cell::count(self.errors),
            Cell::duration(self.min),
            Cell::duration(self.max),
            Cell::duration(self.p50),
            Cell::duration(p90),
            Cell::duration(self.p99),
            Cell::share(work),
            Cell::text(self.nature),
            Cell::text(self.measured.as_ref().and_then(cost)),
        ]
    }
}

fn mean(total: Nanos, calls: Option<u64>) -> Option<Nanos> {
    let (total, calls) = (total.get()?, calls.filter(|calls| *calls > 0)?);
    Some(Nanos::new(total / calls))
}

/// Whether the time is waiting or work.
fn nature(stats: &CallStats) -> Option<&'static str> {
    /// Less than this part of either is not worth a word.
    const MOSTLY: f64 = 0.9;
    if stats.total_ns == 0 {
        return None;
    }
    let waiting = stats.waiting_ns as f64 / stats.total_ns as f64;
    Some(match waiting {
        _ if waiting >= MOSTLY => "waiting",
        _ if waiting <= 1.0 - MOSTLY => "working",
        _ => "both",
    })
}

fn nature_by_name(name: &str) -> Option<&'static str> {
    match Syscall::lookup(name.as_bytes())?.info().waits {
        Waits::Never => Some("working"),
        Waits::Always => Some("waiting"),
        Waits::ByDescriptor | Waits::ByArguments => None,
    }
}

/// Whether many calls or slow calls make up the time; says nothing about waits, whose length is not their cost.
fn cost(stats: &CallStats) -> Option<&'static str> {
    if stats.timed < FEW || stats.total_ns == 0 || nature(stats) == Some("waiting") {
        return None;
    }
    let median = stats.percentile(0.5);
    Some(if median >= SLOW_CALL {
        "latency"
    } else if median.or_zero() as u128 * stats.timed as u128 * 2 >= stats.total_ns as u128 {
        "count"
    } else {
        "tail"
    })
}

fn of_tables(facts: &Facts) -> Vec<Figures> {
    let mut rows: Vec<(&str, Figures)> = Vec::new();
    for row in facts.tables.iter().flat_map(|table| &table.rows) {
        let figures = Figures::printed(row);
        match rows.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, known)) => *known = known.plus(&figures),
            None => rows.push((&row.name, figures)),
        }
    }
    rows.into_iter().map(|(_, figures)| figures).collect()
}

fn of_trace(facts: &Facts, by: &str) -> Vec<Figures> {
    let mut groups = Groups::default();
    match by {
        "errno" | "syscall,errno" => {
            for (syscall, errno, stats) in facts.errors.iter() {
                let errno = errno.name().to_string();
                let name = || facts.name_of(syscall).to_string();
                groups.add(if by == "errno" { vec![errno] } else { vec![name(), errno] }, stats);
            }
        }
        "path" | "pattern" => {
            for file in
                facts.world.files.iter().map(|(_, file)| file).chain(facts.world.files.merged.values())
            {
                let key = if by == "path" { file.path.to_string() } else { file.pattern() };
                groups.add(vec![key], &all_calls(file));
            }
        }
        "fd" | "peer" => {
            for (_, life) in facts.world.fds.iter().filter(|(_, life)| life.io_calls() > 0) {
                let key = if by == "fd" { Some(descriptor_name(facts, life)) } else { peer_name(life) };
                if let Some(key) = key {
                    groups.add(vec![key], &life_calls(life));
                }
            }
        }
        _ => {
            for (_, thread) in facts.world.threads.iter() {
                let owner = owner(facts, thread, by);
                for (syscall, stats) in thread.all_calls() {
                    let mut key: Vec<String> = owner.iter().cloned().collect();
                    if by.ends_with("syscall") {
                        key.push(facts.name_of(syscall).to_string());
                    }
                    groups.add(key, stats);
                }
            }
        }
    }
    groups.rows()
}

/// Whose the calls of a thread are, by a key that begins with an owner.
fn owner(facts: &Facts, thread: &ThreadFacts, by: &str) -> Option<String> {
    let process = facts.world.threads.process(thread.process);
    let (kind, _) = by.split_once(',').unwrap_or((by, ""));
    Some(match kind {
        "process" if thread.merged_processes => "(ended)".to_string(),
        "process" => process_name(facts, thread.process),
        "thread" => super::threads::name(facts, thread),
        "cgroup" => process.cgroup.as_deref().unwrap_or("(unknown)").to_string(),
        "container" => match (&process.container, &process.cgroup) {
            (Some(id), _) => id.to_string(),
            (None, Some(_)) => "(none)".to_string(),
            (None, None) => "(unknown)".to_string(),
        },
        _ => return None,
    })
}

/// Every call on one path.
fn all_calls(file: &FileFacts) -> CallStats {
    let mut stats = file.path_calls.clone();
    stats.merge(&file.directory_reads);
    stats.merge(&file.syncs);
    for io in [&file.reads, &file.writes].into_iter().flatten() {
        stats.merge(&io.calls);
    }
    stats
}

fn life_calls(life: &FdLife) -> CallStats {
    let mut stats = CallStats::default();
    for io in [&life.reads, &life.writes].into_iter().flatten() {
        stats.merge(&io.calls);
    }
    if life.kind.waits_for_peer() {
        stats.waiting_ns = stats.total_ns;
    }
    stats
}

fn descriptor_name(facts: &Facts, life: &FdLife) -> String {
    let target = life.target(&facts.world).unwrap_or_else(|| life.kind.word().to_string());
    let process = facts.world.threads.process(life.process);
    process.pid.map_or(format!("{} {target}", life.fd), |pid| format!("{pid}/{} {target}", life.fd))
}

/// The other end of a socket: a client without the port that its kernel chose.
fn peer_name(life: &FdLife) -> Option<String> {
    let peer = life.peer()?;
    Some(match life.origin {
        Origin::Accept => peer.rsplit_once(':').map_or(peer, |(host, _)| host).to_string(),
        _ => peer.to_string(),
    })
}

/// Sets of calls by their key.
#[derive(Default)]
struct Groups {
    by_key: HashMap<Vec<String>, CallStats>,
}

impl Groups {
    fn add(&mut self, key: Vec<String>, stats: &CallStats) {
        if stats.count > 0 {
            self.by_key.entry(key).or_default().merge(stats);
        }
    }

    /// Sorted by key, so that equal figures come in the same order each time.
    fn rows(self) -> Vec<Figures> {
        let mut rows: Vec<_> = self.by_key.into_iter().collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows.into_iter()
            .map(|(key, stats)| Figures::measured(key.into_iter().map(Cell::Text).collect(), stats))
            .collect()
    }
}

#[cfg(test)]
mod tests;
