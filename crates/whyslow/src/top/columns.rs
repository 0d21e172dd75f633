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
    /// A text, sorted by a figure, and where that is the same by CPU time.
    TextByRank(fn(&Task) -> String, fn(&Task) -> Option<f64>),
    /// Bars of the looks before; sorted by CPU time.
    Chart,
}

/// By what a task is sorted.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Key {
    /// The largest first; what is unknown goes last, whichever way round.
    Figure(Option<f64>),
    /// The same by the first, then by the second.
    Rank(Option<f64>, Option<f64>),
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

use Shows::{Chart, Figure, Text, TextBy, TextByRank};

/// Looks that a chart in the list shows.
pub(crate) const TREND: u16 = 10;

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
    column(
        "name",
        "NAME",
        15,
        0,
        Text(|t| t.name().to_string()),
        "script, jar or class that it runs, or its short name",
    ),
    column("state", "S", 1, 51, Text(|t| t.state().to_string()), "its state: see below"),
    column("cpu", "CPU %", 6, 51, Figure(Task::cpu, share), "CPU time; 100 is one CPU all the time"),
    column(
        "trend",
        "CPU BEFORE",
        TREND,
        120,
        Chart,
        "CPU time in the looks before; full height: one CPU, or most",
    ),
    column(
        "system",
        "SYS %",
        6,
        130,
        Figure(|t| t.row.get(Metric::TaskSystem), share),
        "the part of CPU time in the kernel",
    ),
    column(
        "waits",
        "WAITS FOR",
        18,
        0,
        TextByRank(waits, Task::rank),
        "its longest wait, % of the time, its threads added up",
    ),
    column("read", "READ/s", 8, 70, Figure(|t| t.row.get(Metric::ReadBytes), bytes), "bytes read from disks"),
    column(
        "write",
        "WRITE/s",
        8,
        70,
        Figure(|t| t.row.get(Metric::WriteBytes), bytes),
        "bytes written, which may reach a disk later",
    ),
    column(
        "rss",
        "RSS",
        8,
        80,
        Figure(|t| t.row.get(Metric::Rss), bytes),
        "memory that it has in RAM, shared pages too",
    ),
    column(
        "faults",
        "MAJFLT/s",
        9,
        160,
        Figure(|t| t.row.get(Metric::MajorFaults), number),
        "page faults that had to wait for a disk",
    ),
    column(
        "switches",
        "INVOL/s",
        8,
        160,
        Figure(|t| t.row.get(Metric::InvoluntarySwitches), number),
        "times that the CPU was taken away from it",
    ),
    column("threads", "THR", 5, 130, Figure(|t| t.row.get(Metric::Threads), number), "its threads"),
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
            Text(text) | TextBy(text, _) | TextByRank(text, _) => text(task),
            Chart => String::new(),
            Figure(figure, words) => figure(task).map_or(UNKNOWN.to_string(), words),
        }
    }

    /// By what the task is sorted.
    pub(crate) fn key(&self, task: &Task) -> Key {
        match self.shows {
            Text(text) => Key::Text(text(task)),
            TextBy(_, figure) | Figure(figure, _) => Key::Figure(figure(task)),
            TextByRank(_, figure) => Key::Rank(figure(task), task.cpu()),
            Chart => Key::Figure(task.cpu()),
        }
    }

    /// True where it shows the looks before.
    pub(crate) fn is_chart(&self) -> bool {
        matches!(self.shows, Chart)
    }

    /// How wide it is on a screen of that width; 0 for what is left.
    pub(crate) fn width_on(&self, screen: u16) -> u16 {
        match (self.name, screen) {
            // The waits stay whole.
            ("name", ..=50) => screen.saturating_sub(27).clamp(4, self.width),
            ("name", 160..) => 30,
            ("name", 120..) => 20,
            _ => self.width,
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
        let figures = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
            (Some(a), Some(b)) if reverse => a.total_cmp(b),
            (Some(a), Some(b)) => b.total_cmp(a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        match (self, other) {
            (Key::Figure(a), Key::Figure(b)) => figures(a, b),
            (Key::Rank(a, second), Key::Rank(b, other)) => figures(a, b).then(figures(second, other)),
            (Key::Text(a), Key::Text(b)) if reverse => b.cmp(a),
            (Key::Text(a), Key::Text(b)) => a.cmp(b),
            // Of one column all keys are of one kind.
            _ => Ordering::Equal,
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

/// What it waits for: a figure is of the time, what stands without one is of the moment of the look.
fn waits(task: &Task) -> String {
    match (task.about.holder, task.wait(), task.wchan()) {
        (Some(holder), ..) => format!("lock of {holder}"),
        (None, Some(wait), _) => format!("{} {} %", wait.what, share(wait.share)),
        (None, None, Some(wchan)) if task.state() == "D" => wchan.to_string(),
        _ if task.leaves_waiting() => format!("{} to accept", task.about.to_accept),
        _ => match (task.asleep, task.waits()) {
            (Some(asleep), _) => asleep.to_string(),
            (None, Some(_)) => String::new(),
            (None, None) => UNKNOWN.to_string(),
        },
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
        assert_eq!(COLUMNS[named("waits").expect("a column")].text(&waiting), "CPU 25.0 %");
    }

    #[test]
    fn what_it_waits_for_is_told_by_the_surest_sign() {
        let cell = |task: &Task| COLUMNS[named("waits").expect("a column")].text(task);
        let mut one = task(1, 0, "db", &[(Metric::RunDelay, 0.0)]);
        assert_eq!(cell(&one), "");
        one.asleep = Some("socket");
        assert_eq!(cell(&one), "socket");
        one.about.to_accept = 5;
        assert_eq!(cell(&one), "5 to accept");
        one.row.set(Metric::BlockDelay, 0.5);
        assert_eq!(cell(&one), "disk 50.0 %");
        one.about.holder = Some(42);
        assert_eq!(cell(&one), "lock of 42");
    }

    #[test]
    fn who_waits_comes_first_and_the_busy_behind() {
        let key = |waits: f64, cpu: f64| {
            let task = task(1, 0, "x", &[(Metric::RunDelay, waits), (Metric::TaskUser, cpu)]);
            COLUMNS[named("waits").expect("a column")].key(&task)
        };
        let (waits, busy, idle) = (key(0.5, 0.1), key(0.01, 3.9), key(0.02, 0.0));
        assert_eq!(waits.compare(&busy, false), Ordering::Less);
        // A hundredth of the time is noise: CPU time decides.
        assert_eq!(busy.compare(&idle, false), Ordering::Less);
        assert_eq!(busy.compare(&idle, true), Ordering::Greater);
        let unknown = COLUMNS[named("waits").expect("a column")].key(&task(1, 0, "x", &[]));
        assert_eq!(unknown.compare(&idle, true), Ordering::Greater);
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
