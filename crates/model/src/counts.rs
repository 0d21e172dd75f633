//! Tables of counts: `strace -c`, `ltrace -c`.

use crate::ids::SourceId;
use crate::time::Nanos;
use serde::Serialize;

/// What the time column of a table measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// System CPU time: `strace -c` without `-w`. Waiting is not in it (strace#95).
    SystemCpu,
    /// Wall-clock time: `strace -c -w`, `ltrace -c`.
    Wall,
    /// The table does not tell.
    Unknown,
}

/// One row: one syscall or function.
#[derive(Clone, Debug, Serialize)]
pub struct CountRow {
    /// The name.
    pub name: String,
    /// Calls; `None` where the column is not in the table (`-U`).
    pub calls: Option<u64>,
    /// Calls that failed; `None` where the column is not in the table.
    pub errors: Option<u64>,
    /// Time in all calls.
    pub total: Nanos,
    /// Shortest, longest, where the table has the columns.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// The mean, as printed.
    pub mean: Nanos,
    /// The line, from 1.
    pub line: u64,
    /// The line as captured.
    pub raw: String,
}

/// One table.
#[derive(Clone, Debug, Serialize)]
pub struct CountTable {
    /// Where it was read.
    pub source: SourceId,
    /// What its time column measures.
    pub time: TimeKind,
    /// True for library calls (ltrace).
    pub library: bool,
    /// The rows, in the table's order.
    pub rows: Vec<CountRow>,
    /// Calls on the table's own total line, to check against.
    pub stated_calls: Option<u64>,
    /// Time on the table's own total line.
    pub stated_total: Nanos,
}

impl CountTable {
    /// Calls of all rows; `None` where the table has no such column.
    pub fn calls(&self) -> Option<u64> {
        self.rows.iter().map(|row| row.calls).sum()
    }

    /// Time of all rows; unknown where the table has no such column.
    pub fn total(&self) -> Nanos {
        let sum: Option<u64> = self.rows.iter().map(|row| row.total.get()).sum();
        sum.map_or(Nanos::UNKNOWN, Nanos::new)
    }
}
