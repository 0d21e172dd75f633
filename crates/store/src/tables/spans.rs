//! Table `spans`: what was written down when.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Coverage, Event, RecordedSpan};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "spans",
    about: "A span of time, and what was written down of the calls in it.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("from", Kind::Time, "Its start."),
        ColumnSpec::maybe("to", Kind::Time, "Its end."),
        ColumnSpec::always("calls", Kind::Word, "full: each call. counts: their counts. none: no calls."),
    ],
    keep: Keep::All,
    replay,
};

words!(Coverage { Full = "full", Counts = "counts", None = "none" });

#[inline]
pub(super) fn put(span: &RecordedSpan, seq: u64, rows: &mut Rows) {
    let RecordedSpan { from, to, calls } = *span;
    rows.row(seq).time(from).time(to).text(Some(word(calls))).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let mut span = RecordedSpan { from: row.time(), to: row.time(), calls: of_word(row.text()?)? };
    // What was removed later is not covered any more.
    if let Some(removed) = to.calls_removed_until.get().map(whyslow_model::Timestamp::new)
        && span.calls == Coverage::Full
        && span.from < removed
    {
        if span.to <= removed {
            return Some(());
        }
        span.from = removed;
    }
    to.sink.push(Event::Span(span));
    Some(())
}
