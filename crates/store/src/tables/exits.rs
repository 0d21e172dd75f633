//! Table `exits`: ends of threads.

use super::{Keep, Replay, SEQ, Table};
use crate::column::{Column, Kind, Rows, Take};
use whyslow_model::{Event, Exit};

pub(crate) static TABLE: Table = Table {
    name: "exits",
    about: "The end of a thread.",
    columns: &[
        SEQ,
        Column::maybe("ts", Kind::Time, "When."),
        Column::always("tid", Kind::U32, "The thread."),
        Column::maybe("status", Kind::I32, "Exit status; null where a signal killed it."),
        Column::maybe("signal", Kind::Word, "The signal that killed it."),
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
