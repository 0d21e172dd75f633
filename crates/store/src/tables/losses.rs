//! Table `losses`: what was lost.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Loss};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "losses",
    about: "Rows of one table that were lost; a table that lost nothing has a row with zero for the whole recording.",
    columns: &[
        SEQ,
        ColumnSpec::always("table", Kind::Word, "The table; `copies` is of none: copies that samples and waits are unwound by."),
        ColumnSpec::maybe("from", Kind::Time, "The first loss, or the start of the recording."),
        ColumnSpec::maybe("to", Kind::Time, "The last loss, or its end."),
        ColumnSpec::always("lost", Kind::U64, "Rows lost."),
        ColumnSpec::always("produced", Kind::U64, "Rows that were there to be told, lost ones included."),
        ColumnSpec::maybe("refused", Kind::U64, "Left out to keep the cost within `--max-overhead`; not among those produced."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(loss: &Loss, seq: u64, rows: &mut Rows) {
    let Loss { table, from, to, lost, produced, refused } = loss;
    let mut row = rows.row(seq);
    row.string(Some(table)).time(*from).time(*to).u64(Some(*lost)).u64(Some(*produced)).u64(Some(*refused)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Loss(Loss {
        table: row.string()?,
        from: row.time(),
        to: row.time(),
        lost: row.u64()?,
        produced: row.u64()?,
        // Before this column was, they were counted as lost.
        refused: row.u64().unwrap_or(0),
    }));
    Some(())
}
