//! Table `count_tables`: the tables of counts of a converted capture.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{CountTable, Event};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "count_tables",
    about: "A table of counts (strace -c, ltrace -c); its rows are in count_rows under the same seq.",
    columns: &[
        SEQ,
        ColumnSpec::always("time", Kind::Word, "What its times measure: system-cpu, wall, unknown."),
        ColumnSpec::always("library", Kind::Bool, "True for library calls."),
        ColumnSpec::maybe("stated_calls", Kind::U64, "Calls on the table's own total line."),
        ColumnSpec::maybe("stated_total", Kind::Duration, "Time on that line."),
    ],
    keep: Keep::All,
    replay,
};

words!(TimeKind { SystemCpu = "system-cpu", Wall = "wall", Unknown = "unknown" });

#[inline]
pub(super) fn put(table: &CountTable, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.text(Some(word(table.time))).bool(Some(table.library));
    row.u64(table.stated_calls).nanos(table.stated_total).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let rows = std::mem::take(&mut to.count_rows);
    to.sink.push(Event::Counts(CountTable {
        source: to.source,
        time: of_word(row.text()?)?,
        library: row.bool()?,
        rows,
        stated_calls: row.u64(),
        stated_total: row.nanos(),
    }));
    Some(())
}
