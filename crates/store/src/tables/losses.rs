//! Table `losses`: what was lost.

use super::{Keep, Replay, SEQ, Table};
use crate::column::{Column, Kind, Rows, Take};
use whyslow_model::{Event, Loss};

pub(crate) static TABLE: Table = Table {
    name: "losses",
    about: "Rows of one table that were lost; a table that lost nothing has a row with zero for the whole recording.",
    columns: &[
        SEQ,
        Column::always("table", Kind::Word, "The table."),
        Column::maybe("from", Kind::Time, "The first loss, or the start of the recording."),
        Column::maybe("to", Kind::Time, "The last loss, or its end."),
        Column::always("lost", Kind::U64, "Rows lost."),
        Column::always("produced", Kind::U64, "Rows that were there to be told, lost ones included."),
        Column::maybe("refused", Kind::U64, "Left out to keep the cost within `--max-overhead`; not among those produced."),
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
