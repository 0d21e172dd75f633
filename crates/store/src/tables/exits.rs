//! Table `exits`: ends of threads.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Exit};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "exits",
    about: "The end of a thread.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("status", Kind::I32, "Exit status; null where a signal killed it."),
        ColumnSpec::maybe("signal", Kind::Word, "The signal that killed it."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(exit: &Exit<'_>, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.time(exit.ts).u32(Some(exit.tid)).i32(exit.status).bytes(exit.signal).end();
}

#[inline]
fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (ts, tid, status, signal) = (row.time(), row.u32()?, row.i32(), row.text());
    let signal = signal.map(str::as_bytes);
    to.sink.push(Event::Exit(Exit { source: to.source, line: seq, tid, ts, status, signal }));
    Some(())
}
