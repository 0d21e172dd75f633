//! The columns of tasks: what they show, how wide, and how they sort.

use super::look::Task;
use whyslow_model::{Metric, figures};

/// One column.
pub(crate) struct Column {
    /// As `--sort` takes it.
    pub(crate) name: &'static str,
    /// What stands above it.
    pub(crate) heading: &'static str,
    /// Columns of the screen; 0 for what is left.
    pub(crate) width: u16,
    /// The text of a task's cell.
    pub(crate) text: fn(&Task) -> String,
    /// By what it sorts, the largest first; unknown goes last. `None` sorts by the text.
    pub(crate) figure: Option<fn(&Task) -> Option<f64>>,
    /// On a screen narrower than this it is left out.
    pub(crate) from: u16,
}

/// All columns, from the left.
pub(crate) static COLUMNS: &[Column] = &[
    Column {
        name: "pid",
        heading: "PID",
        width: 8,
        text: |task| task.tid.unwrap_or(task.pid).to_string(),
        figure: Some(|task| Some(-f64::from(task.tid.unwrap_or(task.pid)))),
        from: 0,
    },
    Column {
        name: "name",
        heading: "NAME",
        width: 18,
        text: |task| task.name().to_string(),
        figure: None,
        from: 0,
    },
    Column {
        name: "state",
        heading: "S",
        width: 1,
        text: |task| task.state().to_string(),
        figure: None,
        from: 0,
    },
    Column {
        name: "cpu",
        heading: "CPU %",
        width: 6,
        text: |task| percent(task.cpu()),
        figure: Some(Task::cpu),
        from: 0,
    },
    Column {
        name: "system",
        heading: "SYS %",
        width: 6,
        text: |task| percent(task.row.get(Metric::TaskSystem)),
        figure: Some(|task| task.row.get(Metric::TaskSystem)),
        from: 90,
    },
    Column {
        name: "waits",
        heading: "WAITS FOR",
        width: 18,
        text: waits,
        figure: Some(Task::waits),
        from: 0,
    },
    Column {
        name: "read",
        heading: "READ/s",
        width: 9,
        text: |task| bytes(task.row.get(Metric::ReadBytes)),
        figure: Some(|task| task.row.get(Metric::ReadBytes)),
        from: 0,
    },
    Column {
        name: "write",
        heading: "WRITE/s",
        width: 9,
        text: |task| bytes(task.row.get(Metric::WriteBytes)),
        figure: Some(|task| task.row.get(Metric::WriteBytes)),
        from: 0,
    },
    Column {
        name: "rss",
        heading: "RSS",
        width: 9,
        text: |task| bytes(task.row.get(Metric::Rss)),
        figure: Some(|task| task.row.get(Metric::Rss)),
        from: 100,
    },
    Column {
        name: "faults",
        heading: "MAJFLT/s",
        width: 8,
        text: |task| number(task.row.get(Metric::MajorFaults)),
        figure: Some(|task| task.row.get(Metric::MajorFaults)),
        from: 120,
    },
    Column {
        name: "switches",
        heading: "INVOL/s",
        width: 8,
        text: |task| number(task.row.get(Metric::InvoluntarySwitches)),
        figure: Some(|task| task.row.get(Metric::InvoluntarySwitches)),
        from: 130,
    },
    Column {
        name: "threads",
        heading: "THR",
        width: 5,
        text: |task| number(task.row.get(Metric::Threads)),
        figure: Some(|task| task.row.get(Metric::Threads)),
        from: 110,
    },
    Column {
        name: "command",
        heading: "COMMAND",
        width: 0,
        text: |task| task.command().to_string(),
        figure: None,
        from: 100,
    },
];

/// The column of that name.
pub(crate) fn named(name: &str) -> Option<usize> {
    COLUMNS.iter().position(|column| column.name == name)
}

fn waits(task: &Task) -> String {
    match (task.wait(), task.wchan()) {
        (Some(wait), _) => format!("{} {}", wait.what, percent(Some(wait.share))),
        (None, Some(wchan)) if task.state() == "D" => wchan.to_string(),
        (None, _) if task.waits().is_some() => String::new(),
        _ => UNKNOWN.to_string(),
    }
}

/// What stands for a figure that is not known.
const UNKNOWN: &str = "-";

fn percent(share: Option<f64>) -> String {
    share.map_or(UNKNOWN.to_string(), |share| format!("{:.1}", share * 100.0))
}

fn bytes(value: Option<f64>) -> String {
    match value {
        None => UNKNOWN.to_string(),
        Some(value) if value < 1.0 => String::new(),
        Some(value) => figures::bytes(value as u64),
    }
}

fn number(value: Option<f64>) -> String {
    match value {
        None => UNKNOWN.to_string(),
        Some(0.0) => String::new(),
        Some(value) => figures::quantity(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::task;

    #[test]
    fn cells_tell_nothing_from_unknown() {
        let known = task(1, 0, "db", &[(Metric::ReadBytes, 0.0), (Metric::WriteBytes, 2_500_000.0)]);
        let cell = |name: &str| (COLUMNS[named(name).expect("a column")].text)(&known);
        assert_eq!(
            (cell("read").as_str(), cell("write").as_str(), cell("rss").as_str()),
            ("", "2.5 MB", "-")
        );
        assert_eq!(cell("waits"), "-");
        let waiting = task(1, 0, "db", &[(Metric::RunDelay, 0.25)]);
        assert_eq!((COLUMNS[named("waits").expect("a column")].text)(&waiting), "CPU 25.0");
    }

    #[test]
    fn names_are_unique() {
        for (at, column) in COLUMNS.iter().enumerate() {
            assert_eq!(named(column.name), Some(at));
        }
    }
}
