//! iostat: CPU time and devices, plain and `-x`, in blocks, kB and MB, old and new columns, wrapped by narrow terminals.
//!
//! ```text
//! avg-cpu:  %user   %nice %system %iowait  %steal   %idle
//!           53.40    0.00   13.62    2.27    0.00   30.72
//!
//! Device:  rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
//! dm-2       0.00     0.00    0.00 48828.50    0.00 390628.00    8.00  5206.04   25.51   0.01  61.65
//! ```
//!
//! `svctm` is read by nobody: it was never measured, and sysstat dropped it.

use super::columns::{Column, Header, Is, Miss};
use super::line::{DayClock, Line, number, time_of_day};
use super::mpstat::CPU_COLUMNS;
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Nanos, Over, Timestamp};

pub(super) static IOSTAT: Tool = Tool { begins, row: |_| false, open: || Box::<Iostat>::default() };

const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * 1024.0;
const SECTOR: f64 = 512.0;
const PERCENT: f64 = 0.01;
const MS: f64 = 1e6;

static COLUMNS: &[Column] = &[
    ("Device", Is::Named(device)),
    ("tps", Is::Size(Metric::Requests, 1.0)),
    ("r/s", Is::Size(Metric::Reads, 1.0)),
    ("w/s", Is::Size(Metric::Writes, 1.0)),
    ("f/s", Is::Size(Metric::Flushes, 1.0)),
    ("kB_read/s", Is::Size(Metric::ReadBytes, KB)),
    ("kB_wrtn/s", Is::Size(Metric::WriteBytes, KB)),
    ("MB_read/s", Is::Size(Metric::ReadBytes, MB)),
    ("MB_wrtn/s", Is::Size(Metric::WriteBytes, MB)),
    ("Blk_read/s", Is::Size(Metric::ReadBytes, SECTOR)),
    ("Blk_wrtn/s", Is::Size(Metric::WriteBytes, SECTOR)),
    ("rkB/s", Is::Size(Metric::ReadBytes, KB)),
    ("wkB/s", Is::Size(Metric::WriteBytes, KB)),
    ("rMB/s", Is::Size(Metric::ReadBytes, MB)),
    ("wMB/s", Is::Size(Metric::WriteBytes, MB)),
    ("rsec/s", Is::Size(Metric::ReadBytes, SECTOR)),
    ("wsec/s", Is::Size(Metric::WriteBytes, SECTOR)),
    ("rrqm/s", Is::Size(Metric::ReadsMerged, 1.0)),
    ("wrqm/s", Is::Size(Metric::WritesMerged, 1.0)),
    ("avgrq-sz", Is::Size(Metric::RequestSize, SECTOR)),
    ("areq-sz", Is::Size(Metric::RequestSize, KB)),
    ("avgqu-sz", Is::Size(Metric::QueueLength, 1.0)),
    ("aqu-sz", Is::Size(Metric::QueueLength, 1.0)),
    ("await", Is::Figure(Metric::Latency, MS)),
    ("r_await", Is::Figure(Metric::ReadLatency, MS)),
    ("w_await", Is::Figure(Metric::WriteLatency, MS)),
    ("f_await", Is::Figure(Metric::FlushLatency, MS)),
    ("%util", Is::Figure(Metric::Utilisation, PERCENT)),
];

fn device(name: Box<str>) -> Entity {
    Entity::Device(name.strip_prefix("/dev/").map_or(name.clone(), Into::into))
}

fn begins(line: &Line<'_>) -> bool {
    is_cpu_header(line) || device_columns(line).is_some()
}

/// `avg-cpu:  %user …`, in other languages with another first word.
fn is_cpu_header(line: &Line<'_>) -> bool {
    line.word(0).ends_with(':') && line.word(1) == "%user" && line.has("%idle")
}

/// The names of a header of devices, which stand first, or last (`-h`).
fn device_columns<'l>(line: &'l Line<'_>) -> Option<&'l [&'l str]> {
    let is_device = |word: &str| {
        matches!(word.trim_end_matches(':'), "Device" | "Périphérique" | "Gerät" | "Dispositivo")
    };
    let named = is_device(line.word(0)) || line.words.last().is_some_and(|word| is_device(word));
    let known = |word: &&&str| COLUMNS.iter().any(|(name, _)| name == *word);
    (named && line.words.iter().filter(|word| known(word)).count() >= 3).then_some(&line.words)
}

#[derive(Default)]
struct Iostat {
    header: Header,
    /// The next line has the CPUs' figures.
    cpu: Option<Header>,
    /// Headers of devices since the table began: a wide table is wrapped into several.
    seen: Vec<String>,
    table: Option<FigureTable>,
    /// The time line above, where there is one.
    at: Option<u64>,
    before: Option<u64>,
    clock: DayClock,
    first: bool,
}

impl Iostat {
    /// A table of this report, made where it is the first of it.
    fn table(&mut self, out: &mut Out<'_>) -> &mut FigureTable {
        if self.table.is_none() {
            self.first = out.take_first();
        }
        self.table.get_or_insert_with(|| out.table("iostat"))
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        self.seen.clear();
        let Some(mut table) = self.table.take() else { return };
        table.at = self.at.map_or(Timestamp::UNKNOWN, Timestamp::new);
        let between =
            self.at.zip(self.before).filter(|(at, before)| at > before).map(|(at, before)| at - before);
        table.over = match between {
            _ if self.first => Over::SinceBoot,
            Some(length) => Over::Interval(Nanos::new(length)),
            None => Over::Interval(out.interval("iostat").map_or(Nanos::UNKNOWN, seconds)),
        };
        self.before = self.at.take().or(self.before);
        if table.rows.iter().any(|row| row.get(Metric::Utilisation).is_some()) {
            table.tool = "iostat -x";
        }
        table.rows.iter_mut().for_each(derive);
        out.push(table);
    }
}

/// New columns show size and time of reads and of writes apart: the means of both follow, as old columns had them.
fn derive(row: &mut FigureRow) {
    let rate = |row: &FigureRow, metric| row.get(metric);
    let (Some(reads), Some(writes)) = (rate(row, Metric::Reads), rate(row, Metric::Writes)) else { return };
    let requests = reads + writes;
    if requests <= 0.0 {
        return;
    }
    if row.get(Metric::RequestSize).is_none()
        && let (Some(read), Some(written)) = (row.get(Metric::ReadBytes), row.get(Metric::WriteBytes))
    {
        row.set(Metric::RequestSize, (read + written) / requests);
    }
    if row.get(Metric::Latency).is_none()
        && let (Some(read), Some(write)) = (row.get(Metric::ReadLatency), row.get(Metric::WriteLatency))
    {
        row.set(Metric::Latency, (read * reads + write * writes) / requests);
    }
}

/// Devices of one report; a hostile paste is given on in pieces.
const MOST_ROWS: usize = 4096;

impl Block for Iostat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if is_cpu_header(line) {
            self.flush(out);
            self.cpu = Some(Header::new(line.words.get(1..).unwrap_or_default(), CPU_COLUMNS));
            return Step::Used;
        }
        if let Some(names) = device_columns(line) {
            let all = names.join(" ");
            if self.seen.contains(&all) || self.seen.len() >= 8 {
                self.flush(out);
            }
            self.seen.push(all);
            self.header = Header::new(names, COLUMNS);
            return Step::Used;
        }
        if let Some(time) = time_line(line) {
            self.flush(out);
            out.clock(ClockKind::TimeOfDay);
            self.at = Some(self.clock.carry(time));
            return Step::Used;
        }
        if let Some(mut cpu) = self.cpu.take() {
            return match cpu.row(line, 0) {
                Ok(row) => {
                    self.table(out).rows.push(row);
                    Step::Used
                }
                Err(_) => Step::Damaged("CPU time by mode, a figure for each column"),
            };
        }
        if self.header.figures() == 0 {
            return Step::Other;
        }
        match self.header.row(line, 0) {
            Ok(mut row) => {
                if self.table(out).rows.len() >= MOST_ROWS {
                    self.flush(out);
                }
                let table = self.table(out);
                match table.rows.iter_mut().find(|known| known.of == row.of) {
                    Some(known) => known.figures.append(&mut row.figures),
                    None => table.rows.push(row),
                }
                Step::Used
            }
            // A line of text: not one cell of figures.
            Err(Miss::Damaged) if line.words.iter().skip(1).any(|word| number(word).is_some()) => {
                Step::Damaged("a device with a figure for each column")
            }
            Err(_) => Step::Other,
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}

/// `Time: 03:49:57 PM`, `11/30/2021 04:16:00 PM`, `2021-11-30T16:16:00+0100`.
fn time_line(line: &Line<'_>) -> Option<u64> {
    let words = line.words.len();
    let is_date = |word: &str| {
        word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_digit() || b"/-.".contains(&byte))
    };
    if (2..=3).contains(&words) && (line.word(0) == "Time:" || is_date(line.word(0))) {
        return time_of_day(line, 1).map(|(time, _)| time);
    }
    let (date, rest) = line.word(0).split_once('T').filter(|_| words == 1)?;
    let time = rest.get(..8).filter(|_| is_date(date))?;
    time_of_day(&Line::new(0, time), 0).map(|(time, _)| time)
}
