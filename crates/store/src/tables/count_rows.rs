//! Table `count_rows`: rows of the tables of counts of a converted capture.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::CountRow;

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "count_rows",
    about: "One row of a table of counts (strace -c, ltrace -c).",
    columns: &[
        SEQ,
        ColumnSpec::always("name", Kind::Text, "The syscall or function."),
        ColumnSpec::maybe("calls", Kind::U64, "Calls."),
        ColumnSpec::maybe("errors", Kind::U64, "Calls that failed."),
        ColumnSpec::maybe("total", Kind::Duration, "Time in all calls."),
        ColumnSpec::maybe("min", Kind::Duration, "The shortest."),
        ColumnSpec::maybe("max", Kind::Duration, "The longest."),
        ColumnSpec::maybe("mean", Kind::Duration, "The mean, as printed."),
        ColumnSpec::always("line", Kind::U64, "The line of the capture."),
        ColumnSpec::always("raw", Kind::Text, "The line as captured."),
    ],
    keep: Keep::All,
    replay,
};

/// Rows of one table at most: there are some hundreds of syscalls, and some thousands of library functions.
const MOST: usize = 65_536;

#[inline]
pub(super) fn put(row: &CountRow, seq: u64, rows: &mut Rows) {
    let CountRow { name, calls, errors, total, min, max, mean, line, raw } = row;
    let mut put = rows.row(seq);
    put.string(Some(name)).u64(*calls).u64(*errors).nanos(*total).nanos(*min).nanos(*max).nanos(*mean);
    put.u64(Some(*line)).string(Some(raw)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let row = CountRow {
        name: row.string()?,
        calls: row.u64(),
        errors: row.u64(),
        total: row.nanos(),
        min: row.nanos(),
        max: row.nanos(),
        mean: row.nanos(),
        line: row.u64()?,
        raw: row.string()?,
    };
    if to.count_rows.len() < MOST {
        to.count_rows.push(row);
    }
    Some(())
}
