//! The core of most tables: a header line names the columns, and each line below it is a row of as many words.

use super::line::{Line, number, size};
use crate::formats::fd_text;
use whyslow_model::{Entity, FigureRow, Metric, Trait};

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Is {
    /// A process (`-` where the row is of a thread).
    Pid,
    /// A thread (`-` where the row is of the process).
    Tid,
    /// The name of the thing that the row is of.
    Named(fn(Box<str>) -> Entity),
    /// A CPU by number, or `all`.
    Cpu,
    /// A figure, in units of so many of the metric's.
    Figure(Metric, f64),
    /// A size with or without a unit; without one it counts in so many bytes.
    Size(Metric, f64),
    /// A word.
    Word(Trait),
    /// The name or the whole command line of a task; in the last column it may have blanks.
    Task,
    /// Nothing that is kept.
    Skip,
}

/// A column's name in the header, and what it holds.
pub(super) type Column = (&'static str, Is);

/// The columns of a table, by its header.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    columns: Vec<Is>,
    /// The process that the threads below it are of.
    pid: Option<u32>,
}

/// A line that is no row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Miss {
    /// It does not begin as a row does.
    Other,
    /// It does, but its cells are not what the columns hold.
    Damaged,
}

impl Header {
    /// The columns under these names; what is not known is passed over.
    pub(super) fn new(names: &[&str], known: &[Column]) -> Header {
        let of = |name: &&str| {
            let name = name.trim_end_matches(':');
            known.iter().find(|(is, _)| *is == name).map_or(Is::Skip, |(_, is)| *is)
        };
        Header { columns: names.iter().map(of).collect(), pid: None }
    }

    /// How many of the columns have figures.
    pub(super) fn figures(&self) -> usize {
        self.columns.iter().filter(|is| matches!(is, Is::Figure(..) | Is::Size(..))).count()
    }

    /// The row on that line, whose cells begin at word `from`.
    pub(super) fn row(&mut self, line: &Line<'_>, from: usize) -> Result<FigureRow, Miss> {
        let words = line.words.len().saturating_sub(from);
        let texts = matches!(self.columns.last(), Some(Is::Task));
        let keys = self.keys(line, from)?;
        // Kernel threads have no command line in some tools.
        if words < self.columns.len() - usize::from(texts && self.columns.len() > 1)
            || (words > self.columns.len() && !texts)
        {
            return Err(Miss::Damaged);
        }
        let mut row = FigureRow::new(keys);
        for (at, is) in self.columns.iter().enumerate() {
            let cell = line.word(from + at);
            match *is {
                Is::Figure(metric, scale) => match number(cell) {
                    // Tools print -1 for what they could not read.
                    Some(value) if value >= 0.0 || metric == Metric::Nice => row.set(metric, value * scale),
                    Some(_) => {}
                    None if is_unknown(cell) => {}
                    None => return Err(Miss::Damaged),
                },
                Is::Size(metric, plain) => match size(cell, plain) {
                    Some(bytes) => row.set(metric, bytes),
                    None if is_unknown(cell) => {}
                    None => return Err(Miss::Damaged),
                },
                Is::Word(_) if matches!(cell, "-" | "?") => {}
                Is::Word(of) => row.say(of, cell),
                Is::Task if at + 1 == self.columns.len() => say_task(&mut row, line.rest(from + at)),
                Is::Task => say_task(&mut row, cell),
                Is::Pid | Is::Tid | Is::Named(_) | Is::Cpu | Is::Skip => {}
            }
        }
        line.sign(&mut row);
        Ok(row)
    }

    /// Whose row it is.
    fn keys(&mut self, line: &Line<'_>, from: usize) -> Result<Entity, Miss> {
        let (mut pid, mut tid, mut of) = (None, None, Entity::Host);
        for (at, is) in self.columns.iter().enumerate() {
            let cell = line.word(from + at);
            match is {
                Is::Pid if cell == "-" => {}
                Is::Pid => pid = Some(task_number(cell).ok_or(Miss::Other)?),
                Is::Tid if cell == "-" => {}
                Is::Tid => tid = Some(task_number(cell).ok_or(Miss::Other)?),
                Is::Named(make) if !cell.is_empty() => of = make(cell.trim_end_matches(':').into()),
                Is::Named(_) => return Err(Miss::Other),
                Is::Cpu if cell == "all" || cell == "-1" => {}
                Is::Cpu => of = Entity::Cpu(fd_text::decimal(cell.as_bytes()).ok_or(Miss::Other)?),
                _ => {}
            }
        }
        let has_pid = self.columns.iter().any(|is| matches!(is, Is::Pid));
        Ok(match (pid, tid) {
            (Some(pid), Some(tid)) => Entity::Thread { pid, tid },
            (Some(pid), None) => {
                self.pid = Some(pid);
                Entity::Process(pid)
            }
            // The process stands in a row above.
            (None, Some(tid)) if has_pid => Entity::Thread { pid: self.pid.unwrap_or(0), tid },
            (None, Some(tid)) => Entity::Thread { pid: 0, tid },
            (None, None) if has_pid => return Err(Miss::Other),
            (None, None) => of,
        })
    }
}

/// The number of a task; 0 is the idle task.
pub(super) fn task_number(cell: &str) -> Option<u32> {
    fd_text::pid(cell.as_bytes()).or((cell == "0").then_some(0))
}

/// What stands where there is no figure.
fn is_unknown(cell: &str) -> bool {
    matches!(cell, "-" | "--" | "?" | "nan" | "-nan" | "NaN" | "N/A" | "inf")
}

/// Takes a task's name or whole command line: `python`, `[kthreadd]`, `|__java`, `/usr/sbin/sshd -D`.
pub(super) fn say_task(row: &mut FigureRow, text: &str) {
    let text = text.trim_start_matches("|__").trim_start_matches("\\_").trim();
    let text = text.get(..text.floor_char_boundary(MOST_COMMAND_LINE)).unwrap_or("");
    if text.is_empty() || text == "-" {
        return;
    }
    if let Some(name) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        row.say(Trait::Name, name);
        return;
    }
    let program = text.split_ascii_whitespace().next().unwrap_or("");
    if program.contains('/') && !is_kernel_thread(program) {
        row.say(Trait::Name, program.rsplit('/').next().unwrap_or(program));
        row.say(Trait::Command, text);
    } else {
        row.say(Trait::Name, text);
    }
}

/// `kworker/0:1H`, `ksoftirqd/0`: a path in neither form.
fn is_kernel_thread(program: &str) -> bool {
    !program.starts_with(['/', '.', '~']) && program.split('/').count() == 2
}

/// Bytes of a command line that are kept.
const MOST_COMMAND_LINE: usize = 1024;
