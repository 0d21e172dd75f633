//! The columns of tasks: what they show and mean, how wide they are, and how they sort.

use super::look::Task;
use std::cmp::Ordering;
use whyslow_model::{Metric, figures};

/// One column.
pub(crate) struct Column {
    /// As `--sort` takes it.
    pub(crate) name: &'static str,
    /// What stands above it.
    pub(crate) heading: &'static str,
    /// Columns of the screen; 0 for what is left.
    pub(crate) width: u16,
    /// On a screen narrower than this it is left out, unless the list is sorted by it.
    pub(crate) from: u16,
    /// For the help page.
    pub(crate) means: &'static str,
    shows: Shows,
}

/// What a cell shows, and by what the column sorts.
enum Shows {
    /// A text; sorted by it.
    Text(fn(&Task) -> String),
    /// A figure and its words; the largest first.
    Figure(fn(&Task) -> Option<f64>, fn(f64) -> String),
    /// A text, sorted by a figure.
    TextBy(fn(&Task) -> String, fn(&Task) -> Option<f64>),
}

/// By what a task is sorted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Key {
    /// The largest first; what is unknown goes last, whichever way round.
    Figure(Option<f64>),
    /// In the order of the alphabet.
    Text(String),
}

const fn column(
    name: &'static str,
    heading: &'static str,
    width: u16,
    from: u16,
    shows: Shows,
    means: &'static str,
) -> Column {
    Column { name, heading, width, from, means, shows }
}

use Shows::{Figure, Text, TextBy};

/// All columns, from the left.
pub(crate) static COLUMNS: &[Column] = &[
    column(
        "pid",
        "PID",
        7,
        0,
        TextBy(number_of, |t| number_of(t).parse().ok().map(|pid: f64| -pid)),
        "the process; on a page of threads the thread (TID)",
    ),
    column("name", "NAME", 15, 0, Text(|t| t.name().to_string()), "its short name (comm), of 15 letters"),
    column("state", "S", 1, 0, Text(|t| t.state().to_string()), "its state: see below"),
    column("cpu", "CPU %", 6, 0, Figure(Task::cpu, share), "CPU time; 100 is one CPU all the time"),
    column(
        "system",
        "SYS %",
        6,
        100,
        Figure(|t| t.row.get(Metric::TaskSystem), share),
        "the part of it in the kernel",
    ),
    column(
        "waits",
        "WAITS FOR",
        16,
        0,
        TextBy(waits, Task::waits),
        "its longest wait, % of the time, its threads added up",
    ),
    column("read", "READ/s", 9, 0, Figure(|t| t.row.get(Metric::ReadBytes), bytes), "bytes read from disks"),
    column(
        "write",
        "WRITE/s",
        9,
        0,
        Figure(|t| t.row.get(Metric::WriteBytes), bytes),
        "bytes written, which may reach a disk later",
    ),
    column(
        "rss",
        "RSS",
        9,
        80,
        Figure(|t| t.row.get(Metric::Rss), bytes),
        "memory that it has in RAM, shared pages too",
    ),
    column(
        "faults",
        "MAJFLT/s",
        9,
        130,
        Figure(|t| t.row.get(Metric::MajorFaults), number),
        "page faults that had to wait for a disk",
    ),
    column(
        "switches",
        "INVOL/s",
        8,
        140,
        Figure(|t| t.row.get(Metric::InvoluntarySwitches), number),
        "times that the CPU was taken away from it",
    ),
    column("threads", "THR", 5, 110, Figure(|t| t.row.get(Metric::Threads), number), "its threads"),
    column(
        "command",
        "COMMAND",
        0,
        100,
        Text(|t| t.command().to_string()),
        "its command line; [name] where it has none",
    ),
];

impl Column {
    /// The text of a task's cell.
    pub(crate) fn text(&self, task: &Task) -> String {
        match self.shows {
            Text(text) | TextBy(text, _) => text(task),
            Figure(figure, words) => figure(task).map_or(UNKNOWN.to_string(), words),
        }
    }

    /// By what the task is sorted.
    pub(crate) fn key(&self, task: &Task) -> Key {
        match self.shows {
            Text(text) => Key::Text(text(task)),
            TextBy(_, figure) | Figure(figure, _) => Key::Figure(figure(task)),
        }
    }

    /// True for numbers, which stand at the right.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.shows, Figure(..))
    }
}

impl Key {
    /// The order of a list: `reverse` puts the smallest first.
    pub(crate) fn compare(&self, other: &Key, reverse: bool) -> Ordering {
        match (self, other) {
            (Key::Figure(Some(a)), Key::Figure(Some(b))) if reverse => a.total_cmp(b),
            (Key::Figure(Some(a)), Key::Figure(Some(b))) => b.total_cmp(a),
            (Key::Figure(a), Key::Figure(b)) => b.is_some().cmp(&a.is_some()),
            (Key::Text(a), Key::Text(b)) if reverse => b.cmp(a),
            (Key::Text(a), Key::Text(b)) => a.cmp(b),
            // Of one column all keys are of one kind.
            (Key::Figure(_), Key::Text(_)) | (Key::Text(_), Key::Figure(_)) => Ordering::Equal,
        }
    }
}

/// The column of that name.
pub(crate) fn named(name: &str) -> Option<usize> {
    COLUMNS.iter().position(|column| column.name == name)
}

fn number_of(task: &Task) -> String {
    task.tid.unwrap_or(task.pid).to_string()
}

fn waits(task: &Task) -> String {
    match (task.wait(), task.wchan()) {
        (Some(wait), _) => format!("{} {}", wait.what, share(wait.share)),
        (None, Some(wchan)) if task.state() == "D" => wchan.to_string(),
        (None, _) if task.waits().is_some() => String::new(),
        _ => UNKNOWN.to_string(),
    }
}

/// What stands for a figure that is not known.
pub(crate) const UNKNOWN: &str = "-";

fn share(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn bytes(value: f64) -> String {
    if value < 1.0 { String::new() } else { figures::bytes(value as u64) }
}

fn number(value: f64) -> String {
    if value == 0.0 { String::new() } else { figures::quantity(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::task;

    #[test]
    fn cells_tell_nothing_from_unknown() {
        let known = task(1, 0, "db", &[(Metric::ReadBytes, 0.0), (Metric::WriteBytes, 2_500_000.0)]);
        let cell = |name: &str| COLUMNS[named(name).expect("a column")].text(&known);
        assert_eq!(
            (cell("read").as_str(), cell("write").as_str(), cell("rss").as_str()),
            ("", "2.5 MB", "-")
        );
        assert_eq!(cell("waits"), "-");
        let waiting = task(1, 0, "db", &[(Metric::RunDelay, 0.25)]);
        assert_eq!(COLUMNS[named("waits").expect("a column")].text(&waiting), "CPU 25.0");
    }

    #[test]
    fn names_are_unique_and_help_lists_them() {
        let help = <crate::top::Top as clap::Args>::augment_args(clap::Command::new("top"));
        let sort = help.get_arguments().find(|argument| argument.get_id() == "sort").expect("--sort");
        let told = sort.get_help().expect("its help").to_string();
        for (at, column) in COLUMNS.iter().enumerate() {
            assert_eq!(named(column.name), Some(at));
            assert!(told.contains(column.name), "--sort's help does not name {}", column.name);
        }
    }
}
