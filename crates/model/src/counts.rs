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
    /// Calls of all rows; `None` where the table has no such column, or damage made figures of it that have no sum.
    pub fn calls(&self) -> Option<u64> {
        self.rows.iter().try_fold(0u64, |sum, row| sum.checked_add(row.calls?))
    }

    /// Time of all rows; unknown where the table has no such column, or damage made figures of it that have no sum.
    pub fn total(&self) -> Nanos {
        let sum = self.rows.iter().try_fold(0u64, |sum, row| sum.checked_add(row.total.get()?));
        sum.map_or(Nanos::UNKNOWN, Nanos::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_have_no_sum_are_unknown() {
        let row = |calls, total| CountRow {
            name: "read".to_string(),
            calls,
            errors: None,
            total,
            min: Nanos::UNKNOWN,
            max: Nanos::UNKNOWN,
            mean: Nanos::UNKNOWN,
            line: 1,
            raw: String::new(),
        };
        let table = |rows| CountTable {
            source: SourceId(0),
            time: TimeKind::Unknown,
            library: false,
            rows,
            stated_calls: None,
            stated_total: Nanos::UNKNOWN,
        };
        let two = table(vec![row(Some(3), Nanos::new(5)), row(Some(4), Nanos::new(6))]);
        assert_eq!((two.calls(), two.total()), (Some(7), Nanos::new(11)));
        let most = u64::MAX - 1;
        let damaged = table(vec![row(Some(most), Nanos::new(most)), row(Some(4), Nanos::new(6))]);
        assert_eq!((damaged.calls(), damaged.total()), (None, Nanos::UNKNOWN));
        let without = table(vec![row(None, Nanos::UNKNOWN), row(Some(4), Nanos::new(6))]);
        assert_eq!((without.calls(), without.total()), (None, Nanos::UNKNOWN));
    }
}
