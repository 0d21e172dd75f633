//! vmstat, a row an interval; also `-w`, `-t`, `-S M`. Its first row is since boot, but for its levels.
//!
//! ```text
//! procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
//!  r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
//!  2  0      0 2794468   2108 741208    0    0     1     3   29   57  0  0 99  0  0
//! ```

use super::columns::{Column, Header, Is};
use super::line::{DayClock, Line, number, time_of_day};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, FigureTable, Metric, Nanos, Over, Timestamp, Unit};

pub(super) static VMSTAT: Tool = Tool { begins, row: |_| false, open: || Box::<Vmstat>::default() };

/// Blocks of vmstat are 1,024 bytes, as is the unit of memory without `-S`.
const KB: f64 = 1024.0;
const PERCENT: f64 = 0.01;

static COLUMNS: &[Column] = &[
    ("r", Is::Figure(Metric::Runnable, 1.0)),
    ("b", Is::Figure(Metric::Uninterruptible, 1.0)),
    ("swpd", Is::Figure(Metric::Swapped, KB)),
    ("free", Is::Figure(Metric::MemFree, KB)),
    ("buff", Is::Figure(Metric::MemBuffers, KB)),
    ("cache", Is::Figure(Metric::MemCached, KB)),
    ("si", Is::Figure(Metric::SwapIn, KB)),
    ("so", Is::Figure(Metric::SwapOut, KB)),
    ("bi", Is::Figure(Metric::PageIn, KB)),
    ("bo", Is::Figure(Metric::PageOut, KB)),
    ("in", Is::Figure(Metric::Interrupts, 1.0)),
    ("cs", Is::Figure(Metric::ContextSwitches, 1.0)),
    ("us", Is::Figure(Metric::CpuUser, PERCENT)),
    ("sy", Is::Figure(Metric::CpuSystem, PERCENT)),
    ("id", Is::Figure(Metric::CpuIdle, PERCENT)),
    ("wa", Is::Figure(Metric::CpuIowait, PERCENT)),
    ("st", Is::Figure(Metric::CpuSteal, PERCENT)),
    ("gu", Is::Figure(Metric::CpuGuest, PERCENT)),
];

fn begins(line: &Line<'_>) -> bool {
    line.starts(&["r", "b", "swpd"]) || (line.word(0) == "procs" && line.text.contains("-memory-"))
}

#[derive(Default)]
struct Vmstat {
    header: Header,
    columns: usize,
    /// A row was read: the next is of an interval.
    begun: bool,
    before: Option<u64>,
    clock: DayClock,
}

impl Vmstat {
    /// The time at the end of a row (`-t`): `2021-11-30 16:20:00`.
    fn time(&mut self, line: &Line<'_>) -> Option<u64> {
        let (time, _) = time_of_day(line, self.columns + 1)?;
        Some(self.clock.carry(time))
    }
}

impl Block for Vmstat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.word(0) == "procs" {
            return Step::Used;
        }
        if begins(line) {
            // The zone stands over the time.
            let known = |word: &&&str| {
                COLUMNS.iter().any(|(name, _)| name == *word) || **word == "inact" || **word == "active"
            };
            let names: Vec<&str> = line.words.iter().take_while(known).copied().collect();
            self.columns = names.len();
            self.header = Header::new(&names, COLUMNS);
            return Step::Used;
        }
        if self.columns == 0
            || !line.words.iter().all(|word| number(word).is_some() || word.contains([':', '-']))
        {
            return Step::Other;
        }
        let cut = line.words.get(..self.columns).map(|words| Line { words: words.to_vec(), ..*line });
        let Some(Ok(row)) = cut.map(|line| self.header.row(&line, 0)) else {
            return Step::Damaged("a figure for each column of vmstat");
        };
        let mut table: FigureTable = out.table("vmstat");
        table.rows.push(row);
        let at = self.time(line);
        if let Some(at) = at {
            out.clock(ClockKind::TimeOfDay);
            table.at = Timestamp::new(at);
        }
        scale(&mut table, out);
        let between =
            at.zip(self.before).and_then(|(at, before)| at.checked_sub(before)).filter(|ns| *ns > 0);
        let length =
            between.map(Nanos::new).or_else(|| out.interval("vmstat").map(seconds)).unwrap_or_default();
        self.before = at.or(self.before);
        let over =
            if std::mem::replace(&mut self.begun, true) { Over::Interval(length) } else { Over::SinceBoot };
        out.push_apart(table, over, |metric| !metric.is_level());
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

/// `-S` changes the unit of memory and swap; nothing in the table tells, only the command line where it was pasted too.
fn scale(table: &mut FigureTable, out: &Out<'_>) {
    let arguments = out.arguments("vmstat");
    let unit = arguments.iter().position(|word| word == "-S").and_then(|at| arguments.get(at + 1));
    let unit = unit.map(String::as_str).or_else(|| arguments.iter().find_map(|word| word.strip_prefix("-S")));
    let bytes = match unit {
        Some("m") => 1e6,
        Some("M") => KB * KB,
        Some("k") => 1e3,
        _ => return,
    };
    for (metric, value) in table.rows.iter_mut().flat_map(|row| &mut row.figures) {
        let swap = matches!(metric, Metric::SwapIn | Metric::SwapOut);
        if metric.unit() == Unit::Bytes || swap {
            *value *= bytes / KB;
        }
    }
}
