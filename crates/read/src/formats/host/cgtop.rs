//! systemd-cgtop: control groups with their tasks, CPU, memory and disk traffic; its batches (`-b`) have no header.
//!
//! ```text
//! CGroup                        Tasks   %CPU   Memory  Input/s Output/s
//! /system.slice/api.service         5   12.4    15.0M        -        -
//! ```

use super::columns::{Column, Header, Is};
use super::line::{Line, size};
use super::{Block, Out, Step, Tool};
use whyslow_model::{Entity, FigureTable, Metric, Nanos, Over};

pub(super) static CGTOP: Tool =
    Tool { begins: |line| header(line), row: is_row, open: || Box::<Cgtop>::default() };

const NAMES: [&str; 6] = ["Path", "Tasks", "%CPU", "Memory", "Input/s", "Output/s"];

/// 100 % is one CPU. Figures of traffic are a second.
static COLUMNS: &[Column] = &[
    ("Path", Is::Named(Entity::Cgroup)),
    ("Tasks", Is::Figure(Metric::Threads, 1.0)),
    ("%CPU", Is::Figure(Metric::TaskCpu, 0.01)),
    ("Memory", Is::Size(Metric::MemUsed, 1.0)),
    ("Input/s", Is::Size(Metric::ReadBytes, 1.0)),
    ("Output/s", Is::Size(Metric::WriteBytes, 1.0)),
];

fn header(line: &Line<'_>) -> bool {
    (line.word(0) == "CGroup" || line.starts(&["Control", "Group"]))
        && line.has("Tasks")
        && line.has("Input/s")
}

/// A path and five cells, one of them a size: without a header nothing else looks like it.
fn is_row(line: &Line<'_>) -> bool {
    let [path, cells @ ..] = &line.words[..] else { return false };
    let is_cell = |cell: &&str| *cell == "-" || size(cell, 1.0).is_some();
    path.starts_with('/')
        && cells.len() == 5
        && cells.iter().all(is_cell)
        && cells.iter().any(|cell| *cell != "-")
}

#[derive(Default)]
struct Cgtop {
    table: Option<FigureTable>,
}

/// Groups of one table.
const MOST: usize = 16_384;

impl Block for Cgtop {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if header(line) {
            self.end(out);
            return Step::Used;
        }
        if !line.word(0).starts_with('/') || line.words.len() != NAMES.len() {
            return Step::Other;
        }
        let Ok(row) = Header::new(&NAMES, COLUMNS).row(line, 0) else {
            return Step::Damaged("a control group with its tasks, CPU, memory and traffic");
        };
        // The list begins anew with the group that stood first.
        let again =
            self.table.as_ref().and_then(|table| table.rows.first()).is_some_and(|first| first.of == row.of);
        if again {
            self.end(out);
        }
        let table = self.table.get_or_insert_with(|| out.table("systemd-cgtop"));
        if table.rows.len() < MOST {
            table.rows.push(row);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if let Some(table) = self.table.take() {
            // Between two lists; how long that is only `-d` tells.
            out.push_apart(table, Over::Interval(Nanos::UNKNOWN), |metric| !metric.is_level());
        }
    }
}
