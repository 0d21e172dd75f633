//! Table `call_frames`: stacks of calls in a trace of text (`strace -k`).

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Tid};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "call_frames",
    about: "One frame of the stack of the last call of the thread, as strace -k prints it.",
    columns: &[
        SEQ,
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always("text", Kind::Text, "The frame as printed; innermost first."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(tid: Tid, text: &[u8], seq: u64, rows: &mut Rows) {
    rows.row(seq).u32(Some(tid)).bytes(Some(text)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (tid, text) = (row.u32()?, row.text()?);
    to.sink.push(Event::Frame { tid, text: text.as_bytes() });
    Some(())
}
