//! pidstat, in all its forms: `-u -d -r -w -t -v`, one table each or joined by `-h`; with `UID`, `USER` or neither.

use super::columns::{Column, Is};
use super::sysstat::{Kind, Section, Tables, header_of};
use super::{Tool, line::Line};
use whyslow_model::{Entity, FigureRow, Metric, Trait};

pub(super) static PIDSTAT: Tool = Tool { begins, row: |_| false, open: || Tables::open(&KIND) };

static KIND: Kind = Kind { tool, mend };

fn begins(line: &Line<'_>) -> bool {
    header_of(&KIND, line).is_some()
}

/// kB of sysstat are 1,024 bytes.
const KB: f64 = 1024.0;
const PERCENT: f64 = 0.01;

/// `usr-ms` and its like (`-T CHILD`) count children that ended, too: they are passed over.
static COLUMNS: &[Column] = &[
    ("UID", Is::Skip),
    ("USER", Is::Word(Trait::User)),
    ("PID", Is::Pid),
    ("TGID", Is::Pid),
    ("TID", Is::Tid),
    ("%usr", Is::Figure(Metric::TaskUser, PERCENT)),
    ("%user", Is::Figure(Metric::TaskUser, PERCENT)),
    ("%system", Is::Figure(Metric::TaskSystem, PERCENT)),
    ("%wait", Is::Figure(Metric::RunDelay, PERCENT)),
    ("%CPU", Is::Figure(Metric::TaskCpu, PERCENT)),
    ("minflt/s", Is::Figure(Metric::MinorFaults, 1.0)),
    ("majflt/s", Is::Figure(Metric::MajorFaults, 1.0)),
    ("VSZ", Is::Size(Metric::Vsz, KB)),
    ("RSS", Is::Size(Metric::Rss, KB)),
    ("kB_rd/s", Is::Size(Metric::ReadBytes, KB)),
    ("kB_wr/s", Is::Size(Metric::WriteBytes, KB)),
    ("kB_ccwr/s", Is::Size(Metric::CancelledWriteBytes, KB)),
    ("iodelay", Is::Figure(Metric::BlockDelay, TICK)),
    ("cswch/s", Is::Figure(Metric::VoluntarySwitches, 1.0)),
    ("nvcswch/s", Is::Figure(Metric::InvoluntarySwitches, 1.0)),
    ("threads", Is::Figure(Metric::Threads, 1.0)),
    ("fd-nr", Is::Figure(Metric::Fds, 1.0)),
    ("Command", Is::Task),
];

/// `iodelay` counts clock ticks, of which there are 100 a second on all that sysstat is built for (USER_HZ).
const TICK: f64 = 0.01;

/// The delay is over the interval: without its length there is no rate.
fn mend(row: &mut FigureRow, seconds: Option<f64>) {
    // Where the kernel did not tell, the sizes are -1.
    row.figures.retain(|(_, value)| *value >= 0.0);
    match seconds {
        Some(length) if length > 0.0 => {
            for (metric, value) in &mut row.figures {
                if *metric == Metric::BlockDelay {
                    *value /= length;
                }
            }
        }
        _ => row.figures.retain(|(metric, value)| *metric != Metric::BlockDelay || *value == 0.0),
    }
    if matches!(row.of, Entity::Thread { .. }) {
        // The memory is the process'.
        row.figures.retain(|(metric, _)| !matches!(metric, Metric::Rss | Metric::Vsz));
    }
}

fn tool(names: &[&str]) -> Option<Section> {
    let has = |name: &str| names.contains(&name);
    if !has("Command") || !(has("PID") || has("TGID") || has("TID")) {
        return None;
    }
    let parts: &[(&str, &'static str)] = &[
        ("%CPU", "pidstat -u"),
        ("kB_rd/s", "pidstat -d"),
        ("VSZ", "pidstat -r"),
        ("cswch/s", "pidstat -w"),
        ("fd-nr", "pidstat -v"),
    ];
    let mut shown = parts.iter().filter(|(name, _)| has(name)).map(|(_, tool)| *tool);
    let first = shown.next();
    Some((first.filter(|_| shown.next().is_none()).unwrap_or("pidstat"), COLUMNS))
}
