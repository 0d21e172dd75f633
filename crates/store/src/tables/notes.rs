//! Table `notes`: remarks.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{CaptureNote, Event};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "notes",
    about: "A remark of the recorder, or of the reader of a converted capture.",
    columns: &[
        SEQ,
        ColumnSpec::always("kind", Kind::Word, "reject, skipped, truncated, tracer, assumed, read, kept."),
        ColumnSpec::maybe("line", Kind::U64, "The line of the capture."),
        ColumnSpec::maybe("tid", Kind::U32, "The thread concerned."),
        ColumnSpec::always("text", Kind::Text, "What happened."),
    ],
    keep: Keep::All,
    replay,
};

words!(NoteKind {
    Reject = "reject",
    Skipped = "skipped",
    Truncated = "truncated",
    Tracer = "tracer",
    Assumed = "assumed",
    Read = "read",
    Kept = "kept",
});

#[inline]
pub(super) fn put(note: &CaptureNote, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.text(Some(word(note.kind))).u64(note.line).u32(note.tid).string(Some(&note.text)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Note(CaptureNote {
        kind: of_word(row.text()?)?,
        line: row.u64(),
        tid: row.u32(),
        text: row.string()?,
        source: to.source,
    }));
    Some(())
}
