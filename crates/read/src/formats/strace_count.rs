//! `strace -c`: the tables of counts at the end of a run, and the parser that `ltrace -c` shares.
//!
//! ```text
//! % time     seconds  usecs/call     calls    errors syscall
//! ------ ----------- ----------- --------- --------- ----------------
//!  89.07    0.010488           0    200135           stat
//! ------ ----------- ----------- --------- --------- ----------------
//! 100.00    0.011775                200836           total
//! ```
//!
//! Columns come in any order and number (`-U`). Their widths are those of the dashes, but a figure too wide for
//! its column pushes the rest to the right, so a row is read by counting its words; only the total line, which
//! may leave several columns blank, is read by position.

use crate::formats::fd_text::{bounded, words};
use crate::formats::{Format, SniffInput};
use crate::source::{MAX_QUOTED, Source};
use std::io;
use whyslow_model::{
    CaptureKind, CaptureNote, CountRow, CountTable, Event, Nanos, NoteKind, Sink, SourceInfo, TimeKind,
};

/// The format.
pub(crate) static STRACE_COUNT: Format =
    Format { kind: CaptureKind::StraceCount, name: "strace -c", made_by: "strace -c -f -p PID", sniff, read };

/// Rows kept of one table: Linux has under 500 syscalls, a program rarely this many library functions.
const MAX_ROWS: usize = 1 << 14;

/// Bytes kept of a row: demangled names are long. With the number of rows this bounds a table to 32 MiB.
const MAX_ROW: usize = 1024;

/// A sleeping call whose mean is this long shows wall time. CPU time cannot reach it: where the kernel counts CPU
/// time in timer ticks, one call is charged one tick at most, and the longest tick (HZ=100) is 10 ms.
const WALL_MEAN_NS: u64 = 10_000_000;

/// A call whose mean is below this shows CPU time. Wall time cannot be that short: strace takes both of its ends
/// at ptrace stops of the thread, which lie several microseconds apart (10 us and more measured).
const CPU_MEAN_NS: u64 = 1_000;

/// Calls that sleep and use next to no CPU. `wait4` and `waitid` are left out although they sleep: the kernel's
/// figure for a thread gains the CPU time of its children as they are waited for, so that `strace -c` charges a
/// child's whole run to them (51 ms measured for a child that only read `/dev/zero`).
const SLEEPING: [&str; 14] = [
    "nanosleep",
    "clock_nanosleep",
    "pause",
    "select",
    "_newselect",
    "pselect6",
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "futex",
    "rt_sigtimedwait",
    "rt_sigsuspend",
];

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Percent,
    Total,
    Mean,
    Min,
    Max,
    WallTotal,
    WallMean,
    WallMin,
    WallMax,
    Calls,
    Errors,
    Name,
}

impl Column {
    /// The column that a word of the header names; strace up to 6.x has the first eight, newer ones the wall
    /// columns too, and ltrace says `function`. `% time` comes in two words.
    fn of(word: &[u8]) -> Option<Column> {
        Some(match word {
            b"time" => Column::Percent,
            b"seconds" => Column::Total,
            b"usecs/call" => Column::Mean,
            b"shortest" => Column::Min,
            b"longest" => Column::Max,
            b"wall-total" => Column::WallTotal,
            b"wall-avg" => Column::WallMean,
            b"wall-min" => Column::WallMin,
            b"wall-max" => Column::WallMax,
            b"calls" => Column::Calls,
            b"errors" => Column::Errors,
            b"syscall" | b"function" => Column::Name,
            _ => return None,
        })
    }
}

/// What a line was to a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableStep {
    /// The header, which opens a table.
    Header,
    /// A row, taken.
    Row,
    /// A line of dashes.
    Separator,
    /// The total line, taken: the table is complete.
    Total,
    /// Looks like a row, but cannot be read.
    Damaged,
    /// Not of the table, which may go on behind it: the line is the caller's.
    Other,
}

/// Reads one table, line by line.
#[derive(Debug)]
pub(crate) struct TableParser {
    columns: Vec<Column>,
    /// Where each column begins and ends, by the dashes below the header.
    spans: Vec<(usize, usize)>,
    /// True once the total line was read.
    complete: bool,
    table: CountTable,
}

impl TableParser {
    /// A parser, if this line is a table's header.
    pub(crate) fn start(header: &[u8]) -> Option<TableParser> {
        let mut columns = Vec::new();
        let mut library = false;
        let mut words = words(header).map(|(_, word)| word);
        while let Some(word) = words.next() {
            let column = if word == b"%" {
                Column::of(words.next().filter(|word| *word == b"time")?)?
            } else {
                Column::of(word)?
            };
            if (word == b"time") || columns.contains(&column) {
                return None;
            }
            library |= word == b"function";
            columns.push(column);
        }
        if columns.len() < 2 || !columns.contains(&Column::Name) {
            return None;
        }
        let table = CountTable {
            source: Default::default(),
            time: TimeKind::Unknown,
            library,
            rows: Vec::new(),
            stated_calls: None,
            stated_total: Nanos::UNKNOWN,
        };
        Some(TableParser { columns, spans: Vec::new(), complete: false, table })
    }

    /// True for a table of library functions (ltrace).
    pub(crate) fn is_library(&self) -> bool {
        self.table.library
    }

    /// Takes the next line, which is the `number`th of its source.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> TableStep {
        if is_separator(line) {
            self.spans = words(line).map(|(start, word)| (start, start + word.len())).collect();
            return TableStep::Separator;
        }
        let cells = self.cells(line);
        if let Some(figures) = self.total_line(line, &cells) {
            self.complete = true;
            self.table.stated_calls = figures.calls;
            self.table.stated_total = figures.total();
            return TableStep::Total;
        }
        match self.row(&cells, line, number) {
            Some(row) if self.table.rows.len() < MAX_ROWS => {
                self.table.rows.push(row);
                TableStep::Row
            }
            None if !self.resembles_row(&cells) => TableStep::Other,
            _ => TableStep::Damaged,
        }
    }

    /// The words of a line, as many as a row can have and one more; a demangled function's name (`ltrace -C`) has
    /// words of its own.
    fn cells<'a>(&self, line: &'a [u8]) -> Vec<&'a [u8]> {
        let most = self.columns.len();
        let mut cells: Vec<(usize, &[u8])> = words(line).take(most + 1).collect();
        if cells.len() > most && self.table.library && self.columns.last() == Some(&Column::Name) {
            cells.truncate(most);
            if let Some((start, name)) = cells.last_mut() {
                *name = line.get(*start..).unwrap_or(name).trim_ascii_end();
            }
        }
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    fn row(&self, cells: &[&[u8]], line: &[u8], number: u64) -> Option<CountRow> {
        let figures = Figures::read(self.without_blanks(cells.len())?, cells)?;
        let has = |column| self.columns.contains(&column);
        let name = figures.name.filter(|name| is_name(name) || self.table.library && !name.is_empty())?;
        Some(CountRow {
            name: bounded(name.get(..MAX_ROW).unwrap_or(name)),
            calls: figures.calls,
            // A blank cell stands for none.
            errors: has(Column::Errors).then_some(figures.errors.unwrap_or(0)),
            total: figures.total(),
            min: figures.wall_min.or(figures.min).unwrap_or_default(),
            max: figures.wall_max.or(figures.max).unwrap_or_default(),
            mean: figures.wall_mean.or(figures.mean).unwrap_or_default(),
            line: number,
            raw: bounded(line.get(..MAX_ROW).unwrap_or(line)),
        })
    }

    /// The columns of a row of `count` words: all, or all but the errors.
    fn without_blanks(&self, count: usize) -> Option<Vec<Column>> {
        if count == self.columns.len() {
            return Some(self.columns.clone());
        }
        let rest: Vec<Column> =
            self.columns.iter().copied().filter(|column| *column != Column::Errors).collect();
        (count == rest.len()).then_some(rest)
    }

    /// The figures of the total line; `None` where the line is none. Cells that cannot be told apart (no line of
    /// dashes seen, columns left blank) stay unknown.
    fn total_line<'a>(&self, line: &'a [u8], cells: &[&'a [u8]]) -> Option<Figures<'a>> {
        let name_at = self.columns.iter().position(|column| *column == Column::Name)?;
        let from = if name_at == 0 { cells.first() } else { cells.last() };
        let named = from == Some(&&b"total"[..]) || cells.get(name_at) == Some(&&b"total"[..]);
        if !named || cells.len() > self.columns.len() {
            return None;
        }
        if cells.len() == self.columns.len() {
            // A library may have a function of that name; ltrace's own total line leaves a column blank.
            return if self.table.library { None } else { Figures::read(self.columns.clone(), cells) };
        }
        let mut columns = Vec::new();
        for (start, word) in words(line) {
            let last = start + word.len() - 1;
            let column = self.spans.iter().position(|(from, to)| (*from..*to).contains(&last));
            columns.push(*column.and_then(|at| self.columns.get(at))?);
        }
        Figures::read(columns, cells).filter(|figures| figures.name == Some(b"total"))
    }

    /// True where a line that is no row has a row's shape: figures but for one cell and the name.
    fn resembles_row(&self, cells: &[&[u8]]) -> bool {
        let Some(name_at) = self.columns.iter().position(|column| *column == Column::Name) else {
            return false;
        };
        let figures = cells.iter().filter(|cell| seconds(cell).is_some()).count();
        let at_name = if name_at == 0 { cells.first() } else { cells.last() };
        figures >= 2
            && figures + 2 >= cells.len()
            && at_name.is_some_and(|cell| is_name(cell) || seconds(cell).is_some())
    }

    /// The table, and what is to be said about it.
    pub(crate) fn finish(mut self, source: &SourceInfo) -> (CountTable, Option<CaptureNote>) {
        self.table.source = source.id;
        self.table.time = self.time_kind();
        let note = self.disagreement().map(|text| CaptureNote {
            kind: NoteKind::Truncated,
            source: source.id,
            line: self.table.rows.first().map(|row| row.line),
            text: format!("{}: {text}", source.name),
            tid: None,
        });
        (self.table, note)
    }

    /// What the time of the table is. The header is the same with and without `-w`, so only figures that one of
    /// the two cannot produce prove the other; without such a proof it stays unknown.
    fn time_kind(&self) -> TimeKind {
        use Column::*;
        if self.table.library
            || self.columns.iter().any(|column| matches!(column, WallTotal | WallMean | WallMin | WallMax))
        {
            return TimeKind::Wall;
        }
        let mean = |row: &CountRow| {
            let calls = row.calls.filter(|calls| *calls > 0)?;
            Some(row.total.get()? / calls)
        };
        // strace may miss the start of the execve that it begins with.
        let cpu =
            self.table.rows.iter().any(|row| {
                !row.name.starts_with("execve") && mean(row).is_some_and(|mean| mean < CPU_MEAN_NS)
            });
        let wall = self.table.rows.iter().any(|row| {
            SLEEPING.contains(&row.name.as_str())
                && mean(row).or(row.mean.get()).is_some_and(|mean| mean >= WALL_MEAN_NS)
        });
        match (cpu, wall) {
            (true, false) => TimeKind::SystemCpu,
            (false, true) => TimeKind::Wall,
            _ => TimeKind::Unknown,
        }
    }

    /// Where the rows do not add up to the total line: what differs.
    fn disagreement(&self) -> Option<String> {
        let table = &self.table;
        let (calls, total) = (table.calls(), table.total());
        if !self.complete {
            return Some(format!(
                "the table of {} rows has no readable total line: it may be cut off",
                table.rows.len()
            ));
        }
        if let (Some(rows), Some(stated)) = (calls, table.stated_calls)
            && rows != stated
        {
            return Some(format!(
                "the rows count {rows} calls, the total line {stated}: rows are missing or damaged"
            ));
        }
        // Each figure is rounded to a microsecond.
        let slack = (table.rows.len() as u64 + 1) * 1_000;
        let (rows, stated) = (total.get()?, table.stated_total.get()?);
        let differs = rows.abs_diff(stated) > slack;
        differs.then(|| {
            format!(
                "the rows add up to {total}, the total line says {}: rows are missing or damaged",
                table.stated_total
            )
        })
    }
}

/// The cells of one line, by column.
#[derive(Default)]
struct Figures<'a> {
    name: Option<&'a [u8]>,
    calls: Option<u64>,
    errors: Option<u64>,
    total: Option<Nanos>,
    mean: Option<Nanos>,
    min: Option<Nanos>,
    max: Option<Nanos>,
    wall_total: Option<Nanos>,
    wall_mean: Option<Nanos>,
    wall_min: Option<Nanos>,
    wall_max: Option<Nanos>,
}

impl<'a> Figures<'a> {
    /// `None` where a cell is not what its column holds.
    fn read(columns: Vec<Column>, cells: &[&'a [u8]]) -> Option<Figures<'a>> {
        let mut figures = Figures::default();
        for (column, cell) in columns.into_iter().zip(cells) {
            match column {
                // `nan` where the total is zero in old versions; the figure is not used.
                Column::Percent => {
                    seconds(cell).or((*cell == b"nan" || *cell == b"-nan").then_some(Nanos::ZERO))?;
                }
                Column::Total => figures.total = Some(seconds(cell)?),
                Column::Mean => figures.mean = Some(microseconds(cell)?),
                Column::Min => figures.min = Some(seconds(cell)?),
                Column::Max => figures.max = Some(seconds(cell)?),
                Column::WallTotal => figures.wall_total = Some(seconds(cell)?),
                Column::WallMean => figures.wall_mean = Some(microseconds(cell)?),
                Column::WallMin => figures.wall_min = Some(seconds(cell)?),
                Column::WallMax => figures.wall_max = Some(seconds(cell)?),
                Column::Calls => figures.calls = Some(integer(cell)?),
                Column::Errors => figures.errors = Some(integer(cell)?),
                Column::Name => figures.name = Some(cell),
            }
        }
        Some(figures)
    }

    /// Wall time where the table has it, else what it calls `seconds`.
    fn total(&self) -> Nanos {
        self.wall_total.or(self.total).unwrap_or_default()
    }
}

pub(super) fn is_separator(line: &[u8]) -> bool {
    let mut count = 0;
    words(line).all(|(_, word)| {
        count += 1;
        word.len() >= 4 && word.iter().all(|byte| *byte == b'-')
    }) && count >= 2
}

/// A syscall or function: `stat`, `syscall_0x1c7`, `__ctype_b_loc`, `operator new`'s mangled form, `lib.so->name`.
fn is_name(word: &[u8]) -> bool {
    word.first().is_some_and(|byte| !byte.is_ascii_digit())
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.@$->:~*+".contains(byte))
        && word.iter().any(u8::is_ascii_alphabetic)
}

fn integer(cell: &[u8]) -> Option<u64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

fn microseconds(cell: &[u8]) -> Option<Nanos> {
    integer(cell)?.checked_mul(1_000).map(Nanos::new)
}

/// `0.010488`, in some locales `0,010488`.
fn seconds(cell: &[u8]) -> Option<Nanos> {
    let at = cell.iter().position(|byte| matches!(byte, b'.' | b','));
    let (whole, fraction) = match at {
        Some(at) => (cell.get(..at)?, cell.get(at + 1..)?),
        None => (cell, &b""[..]),
    };
    if fraction.len() > 9 || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut ns = 0;
    for place in 0..9 {
        ns = ns * 10 + fraction.get(place).map_or(0, |digit| u64::from(digit - b'0'));
    }
    integer(whole)?.checked_mul(1_000_000_000)?.checked_add(ns).map(Nanos::new)
}

fn sniff(sample: &SniffInput<'_>) -> bool {
    sniff_table(sample, false)
}

/// True where the sample holds a header with its line of dashes, and no log of calls before it (`strace -C`
/// shows both: that is for the reader of the log).
pub(super) fn sniff_table(sample: &SniffInput<'_>, library: bool) -> bool {
    let mut header = false;
    let mut calls = 0;
    for line in sample.head.split(|byte| *byte == b'\n') {
        if header && is_separator(line) {
            return calls < 3;
        }
        header = TableParser::start(line).is_some_and(|parser| parser.is_library() == library);
        calls += looks_like_call(line) as usize;
    }
    false
}

/// `name(… = …` with what may stand before it: a pid, a time.
fn looks_like_call(line: &[u8]) -> bool {
    let Some(open) = memchr::memchr(b'(', line) else { return false };
    let (before, behind) = line.split_at(open);
    let name = before.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or(b"");
    !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && (memchr::memmem::find(behind, b") = ").is_some()
            || memchr::memmem::find(behind, b")  ").is_some()
            || behind.ends_with(b"<unfinished ...>"))
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    read_tables(source, sink, b"strace: ", b"System call usage summary")
}

/// Reads a file of tables. `tool` begins the tool's own messages, `caption` a line it prints above a table.
pub(super) fn read_tables(
    source: &mut Source,
    sink: &mut dyn Sink,
    tool: &[u8],
    caption: &[u8],
) -> io::Result<()> {
    let mut tables = Tables::default();
    let mut told = 0;
    loop {
        let number = source.line_number() + 1;
        let Some(line) = source.next_line()? else { break };
        let line = line.to_vec();
        match tables.line(&line, number, &source.info, sink) {
            TableStep::Damaged => source.reject(sink, &line, "a row of a table of calls"),
            TableStep::Other if line.starts_with(tool) => {
                source.info.events += 1;
                if !is_attach_message(&line) && told < MAX_QUOTED {
                    told += 1;
                    sink.push(Event::Note(tool_note(&source.info, bounded(&line))));
                }
            }
            TableStep::Other if line.starts_with(caption) => source.info.events += 1,
            TableStep::Other => source.info.foreign += u64::from(!line.trim_ascii().is_empty()),
            TableStep::Header | TableStep::Separator | TableStep::Row | TableStep::Total => {
                source.info.events += 1
            }
        }
    }
    tables.finish(&source.info, sink);
    Ok(())
}

/// The tables of a source, one after the other: also those at the end of a log (`strace -C`).
#[derive(Debug, Default)]
pub(crate) struct Tables {
    open: Option<TableParser>,
}

impl Tables {
    /// Takes the next line; gives the sink the table that it completes.
    pub(crate) fn line(
        &mut self,
        line: &[u8],
        number: u64,
        info: &SourceInfo,
        sink: &mut dyn Sink,
    ) -> TableStep {
        match self.open.as_mut().map_or(TableStep::Other, |table| table.line(line, number)) {
            TableStep::Total => {
                self.close(info, sink);
                TableStep::Total
            }
            TableStep::Other => match TableParser::start(line) {
                Some(next) => {
                    self.close(info, sink);
                    self.open = Some(next);
                    TableStep::Header
                }
                None => TableStep::Other,
            },
            step => step,
        }
    }

    /// The end of the source: gives the sink the table that is still open.
    pub(crate) fn finish(mut self, info: &SourceInfo, sink: &mut dyn Sink) {
        self.close(info, sink);
    }

    fn close(&mut self, info: &SourceInfo, sink: &mut dyn Sink) {
        let Some((table, note)) = self.open.take().map(|table| table.finish(info)) else { return };
        sink.push(Event::Counts(table));
        if let Some(note) = note {
            sink.push(Event::Note(note));
        }
    }
}

fn is_attach_message(line: &[u8]) -> bool {
    line.ends_with(b" attached") || line.ends_with(b" detached")
}

/// The note for a message of the capturing tool itself.
pub(super) fn tool_note(info: &SourceInfo, text: String) -> CaptureNote {
    let text = format!("{}:{}: {text}", info.name, info.lines);
    CaptureNote { kind: NoteKind::Tracer, source: info.id, line: Some(info.lines), text, tid: None }
}

#[cfg(test)]
mod tests;
