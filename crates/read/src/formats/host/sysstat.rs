//! What pidstat, mpstat and sar have in common: lines begin with a time, a header names the columns of the rows below it,
//! and the header's time is that of the sample before: where it is the rows' own, the rows are since boot.
//!
//! ```text
//! 14:39:14      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command
//! 14:39:15        0     12280      0.00 335716.00      0.00       0  python
//! Average:        0     12280      0.00 335716.00      0.00       0  python
//! ```

use super::columns::{Column, Header, Miss};
use super::line::{DayClock, Line, time_of_day};
use super::{Block, Out, Step};
use whyslow_model::{ClockKind, FigureRow, FigureTable, Nanos, Over, Timestamp};

/// When a line says that it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    /// Nanoseconds since midnight.
    Day(u64),
    /// Nanoseconds since the epoch (`-h`).
    Epoch(u64),
    /// `Average:`, in any language.
    Average,
    /// A header of `-h`: `# Time`.
    Column,
}

/// The time at the start of a line, and how many words it takes.
pub(super) fn when(line: &Line<'_>) -> Option<(When, usize)> {
    if let Some((time, words)) = time_of_day(line, 0) {
        return Some((When::Day(time), words));
    }
    match line.word(0) {
        "#" if line.word(1) == "Time" => return Some((When::Column, 2)),
        "Average:" => return Some((When::Average, 1)),
        _ => {}
    }
    let first = line.word(0);
    // `Moyenne :`, `Durchschn.:`
    if first.chars().next().is_some_and(char::is_alphabetic) && line.words.len() > 3 {
        return match (first.ends_with(':'), line.word(1) == ":") {
            (true, _) => Some((When::Average, 1)),
            (false, true) => Some((When::Average, 2)),
            _ => None,
        };
    }
    let epoch = first.parse::<u64>().ok().filter(|_| first.len() == 10)?;
    Some((When::Epoch(epoch.saturating_mul(1_000_000_000)), 1))
}

/// What is told as, and what its columns hold.
pub(super) type Section = (&'static str, &'static [Column]);

/// A tool of sysstat.
pub(super) struct Kind {
    /// The tool that columns of these names are of, and what they hold; `None` where they are another's.
    pub(super) tool: fn(&[&str]) -> Option<Section>,
    /// Mends a row by the length of its interval in seconds, where that is known.
    pub(super) mend: fn(&mut FigureRow, Option<f64>),
}

/// The tool whose header the line is, and where its columns begin.
pub(super) fn header_of(kind: &Kind, line: &Line<'_>) -> Option<(Section, usize)> {
    let (_, from) = when(line)?;
    let names = line.words.get(from..)?;
    let is_name = |name: &&&str| !name.is_empty() && super::line::number(name).is_none();
    if names.is_empty() || !names.iter().all(|name| is_name(&name)) {
        return None;
    }
    Some(((kind.tool)(names)?, from))
}

/// The reader.
pub(super) struct Tables {
    kind: &'static Kind,
    tool: &'static str,
    names: Vec<String>,
    header: Header,
    clock: DayClock,
    /// The time of the sample before.
    before: Option<u64>,
    /// A table of `-h` without a header in time, or one without a time before it, is since boot.
    since_boot: bool,
    table: Option<(When, FigureTable)>,
    averages: Option<FigureTable>,
    /// Tables of samples given since the tool began.
    given: u64,
}

impl Tables {
    pub(super) fn open(kind: &'static Kind) -> Box<dyn Block> {
        Box::new(Tables {
            kind,
            tool: "",
            names: Vec::new(),
            header: Header::default(),
            clock: DayClock::default(),
            before: None,
            since_boot: false,
            table: None,
            averages: None,
            given: 0,
        })
    }

    fn begin(&mut self, line: &Line<'_>, from: usize, (tool, columns): Section, out: &mut Out<'_>) {
        self.flush(out);
        let names = line.words.get(from..).unwrap_or_default();
        let first = out.take_first();
        if first || !self.names.iter().eq(names.iter()) {
            self.flush_averages(out);
            self.names = names.iter().map(|name| (*name).to_string()).collect();
            self.clock = DayClock::default();
            self.before = None;
        }
        if first {
            self.given = 0;
        }
        self.since_boot = first;
        self.tool = tool;
        self.header = Header::new(names, columns);
        if let Some((When::Day(time), _)) = when(line) {
            out.clock(ClockKind::TimeOfDay);
            self.before = Some(self.clock.carry(time));
        }
    }

    /// Gives the table of one time.
    fn flush(&mut self, out: &mut Out<'_>) {
        let Some((when, mut table)) = self.table.take() else { return };
        let at = match when {
            When::Day(time) => self.clock.carry(time),
            When::Epoch(time) => time,
            When::Average | When::Column => return,
        };
        table.at = Timestamp::new(at);
        table.over = match self.before {
            Some(before) if at > before => Over::Interval(Nanos::new(at - before)),
            Some(before) if at == before => Over::SinceBoot,
            _ if self.since_boot => Over::SinceBoot,
            _ => Over::Interval(out.interval(tool_name(self.tool)).map_or(Nanos::UNKNOWN, seconds)),
        };
        let length = match table.over {
            Over::Interval(length) => length.as_secs_f64(),
            _ => None,
        };
        for row in &mut table.rows {
            (self.kind.mend)(row, length);
        }
        self.before = Some(at);
        self.since_boot = false;
        self.given += 1;
        out.push(table);
    }

    /// Averages say something where the samples themselves are not shown.
    fn flush_averages(&mut self, out: &mut Out<'_>) {
        let Some(mut averages) = self.averages.take().filter(|_| self.given == 0) else { return };
        averages.over = Over::Interval(Nanos::UNKNOWN);
        averages.rows.iter_mut().for_each(|row| (self.kind.mend)(row, None));
        out.push(averages);
    }
}

/// `pidstat` of `pidstat -d`.
fn tool_name(tool: &str) -> &str {
    tool.split(' ').next().unwrap_or(tool)
}

/// A length in seconds as one in nanoseconds.
pub(super) fn seconds(length: f64) -> Nanos {
    if length.is_finite() && length > 0.0 { Nanos::new((length * 1e9) as u64) } else { Nanos::UNKNOWN }
}

/// Rows of one time; one more is a new table.
const MOST_ROWS: usize = 65_536;

impl Block for Tables {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some((section, from)) = header_of(self.kind, line) {
            self.begin(line, from, section, out);
            return Step::Used;
        }
        let Some((when, from)) = when(line) else { return Step::Other };
        if line.word(from) == "LINUX" || matches!(line.word(from), "COM") {
            // The machine came up: what was before is no sample to count from.
            self.flush(out);
            return Step::Used;
        }
        if self.header.figures() == 0 {
            return if self.tool.is_empty() { Step::Other } else { Step::Used };
        }
        let row = match self.header.row(line, from) {
            Ok(row) => row,
            Err(Miss::Other) if when == When::Average => return Step::Other,
            Err(_) => return Step::Damaged("a row with a cell for each column of its header"),
        };
        match when {
            When::Average => {
                self.flush(out);
                let table = self.averages.get_or_insert_with(|| out.table(self.tool));
                if table.rows.len() < MOST_ROWS {
                    table.rows.push(row);
                }
                return Step::Used;
            }
            When::Epoch(_) => out.clock(ClockKind::Epoch),
            When::Day(_) => out.clock(ClockKind::TimeOfDay),
            When::Column => return Step::Other,
        }
        if self.table.as_ref().is_none_or(|(open, table)| *open != when || table.rows.len() >= MOST_ROWS) {
            self.flush(out);
        }
        let (_, table) = self.table.get_or_insert_with(|| (when, out.table(self.tool)));
        table.rows.push(row);
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
        self.flush_averages(out);
    }
}
