//! iotop in batch mode (`-b`, with `-o`, `-P`, `-a`, `-k`, `-t`), of Python and of C: what tasks read and write, how long
//! they wait for it, and what reaches the disks.
//!
//! ```text
//! Total DISK READ :       0.00 B/s | Total DISK WRITE :      32.14 M/s
//! Actual DISK READ:       0.00 B/s | Actual DISK WRITE:      31.95 M/s
//!     TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND
//!   12280 be/4 root        0.00 B/s   32.14 M/s  0.00 % 99.99 % python /app.py
//! ```

use super::columns::{say_task, task_number};
use super::line::{DayClock, Line, number, size, time_of_day};
use super::sysstat::seconds;
use super::{Block, Out, Step, Tool};
use whyslow_model::{ClockKind, Entity, FigureRow, FigureTable, Metric, Over, Timestamp, Trait};

pub(super) static IOTOP: Tool = Tool { begins, row: |_| false, open: || Box::<Iotop>::default() };

/// iotop's interval without `-d`, in seconds.
const EVERY: f64 = 1.0;
const PERCENT: f64 = 0.01;

fn begins(line: &Line<'_>) -> bool {
    sums(line).is_some() || Header::of(line).is_some()
}

/// Read and write of all tasks (`Total`) or of the disks (`Actual`; `Current` in some versions), bytes a second; and
/// whether it is of the disks.
fn sums(line: &Line<'_>) -> Option<(f64, f64, bool)> {
    let text = line.text;
    let of_disks = match text {
        _ if text.contains("Total DISK READ") => false,
        _ if text.contains("Actual DISK READ") || text.contains("Current DISK READ") => true,
        _ => return None,
    };
    let (read, write) = text.split_once('|')?;
    let figure = |text: &str| {
        let (_, figure) = text.rsplit_once(':')?;
        let mut words = figure.split_ascii_whitespace();
        amount(words.next()?, words.next()?).map(|(bytes, _)| bytes)
    };
    Some((figure(read)?, figure(write)?, of_disks))
}

/// Bytes of `32.14 M/s`, and whether they are a second's; `-a` shows them in all.
fn amount(value: &str, unit: &str) -> Option<(f64, bool)> {
    let (unit, a_second) = unit.strip_suffix("/s").map_or((unit, false), |unit| (unit, true));
    number(value)?;
    size(&format!("{value}{unit}"), 1.0).map(|bytes| (bytes, a_second))
}

#[derive(Clone, Copy, Debug)]
struct Header {
    /// Processes (`-P`), else threads.
    processes: bool,
    /// `-t`: each row begins with the time.
    timed: bool,
    /// Waiting for swap and for disks is shown.
    delays: bool,
}

impl Header {
    fn of(line: &Line<'_>) -> Option<Header> {
        // Under some versions of Python the line is shown as its source.
        let words: Vec<&str> = line.words.iter().map(|word| word.trim_start_matches("b'")).collect();
        let at = words.iter().position(|word| matches!(*word, "TID" | "PID") && !word.is_empty())?;
        let is = words.get(at + 1..at + 3) == Some(&["PRIO", "USER"]) && line.text.contains("DISK READ");
        is.then(|| Header {
            processes: words[at] == "PID",
            timed: at > 0,
            delays: line.text.contains("IO>") || line.text.contains("SWAPIN") || line.text.contains(" IO "),
        })
    }
}

#[derive(Default)]
struct Iotop {
    header: Option<Header>,
    table: Option<FigureTable>,
    clock: DayClock,
    at: Option<u64>,
    /// Seconds.
    every: f64,
}

/// Tasks of one table.
const MOST_ROWS: usize = 65_536;

impl Iotop {
    fn table<'t>(&'t mut self, out: &mut Out<'_>) -> &'t mut FigureTable {
        self.table.get_or_insert_with(|| out.table("iotop"))
    }

    fn flush(&mut self, out: &mut Out<'_>) {
        let Some(mut table) = self.table.take() else { return };
        table.over = Over::Interval(seconds(self.every));
        table.at = self.at.map_or(Timestamp::UNKNOWN, Timestamp::new);
        out.push(table);
    }

    fn row(&self, header: Header, line: &Line<'_>) -> Option<FigureRow> {
        let from = usize::from(header.timed);
        let task = task_number(line.word(from))?;
        let mut row = FigureRow::new(match header.processes {
            true => Entity::Process(task),
            false => Entity::Thread { pid: 0, tid: task },
        });
        row.say(Trait::User, line.word(from + 2));
        let mut at = from + 3;
        for (rate, total) in
            [(Metric::ReadBytes, Metric::ReadTotal), (Metric::WriteBytes, Metric::WriteTotal)]
        {
            let (bytes, a_second) = amount(line.word(at), line.word(at + 1))?;
            row.set(if a_second { rate } else { total }, bytes);
            at += 2;
        }
        // Without the kernel's delay accounting it says `?unavailable?`.
        if header.delays && line.word(at).starts_with('?') {
            at += 1;
        } else if header.delays {
            for metric in [Metric::SwapDelay, Metric::BlockDelay] {
                let share = line.word(at).trim_end_matches('%');
                row.set(metric, number(share)? * PERCENT);
                at += if line.word(at).ends_with('%') { 1 } else { 2 };
            }
        }
        say_task(&mut row, line.rest(at).trim_end_matches('\''));
        line.sign(&mut row);
        Some(row)
    }
}

impl Block for Iotop {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some((read, write, of_disks)) = sums(line) {
            if !of_disks {
                self.flush(out);
                let arguments = out.arguments("iotop");
                let told = arguments.iter().position(|word| word == "-d");
                let told = told.and_then(|at| number(arguments.get(at + 1)?));
                self.every = told.filter(|every| *every > 0.0).unwrap_or(EVERY);
                self.at = out.about.stamp.take().map(|time| self.clock.carry(time));
                if let Some((time, _)) = time_of_day(line, 0) {
                    out.clock(ClockKind::TimeOfDay);
                    self.at = Some(self.clock.carry(time));
                }
                return Step::Used;
            }
            let mut row = FigureRow::new(Entity::Host);
            row.set(Metric::ReadBytes, read);
            row.set(Metric::WriteBytes, write);
            line.sign(&mut row);
            self.table(out).rows.push(row);
            return Step::Used;
        }
        if let Some(header) = Header::of(line) {
            self.header = Some(header);
            if self.every <= 0.0 {
                self.every = EVERY;
            }
            return Step::Used;
        }
        let Some(header) = self.header else { return Step::Other };
        let begins = task_number(line.word(usize::from(header.timed))).is_some();
        let Some(row) = self.row(header, line) else {
            return if begins { Step::Damaged("a task with what it reads and writes") } else { Step::Other };
        };
        if header.timed
            && let Some((time, _)) = time_of_day(line, 0)
        {
            out.clock(ClockKind::TimeOfDay);
            self.at = Some(self.clock.carry(time));
        }
        let table = self.table(out);
        if table.rows.len() < MOST_ROWS {
            table.rows.push(row);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
