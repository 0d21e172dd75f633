//! Table `signals`: signals.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Signal};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "signals",
    about: "A signal delivered to a thread.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always("signal", Kind::Word, "Its name."),
        ColumnSpec::always("info", Kind::Text, "The siginfo text."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(signal: &Signal<'_>, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.time(signal.ts).u32(Some(signal.tid)).bytes(Some(signal.name)).bytes(Some(signal.info)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (ts, tid, name, info) = (row.time(), row.u32()?, row.text()?, row.text()?);
    to.sink.push(Event::Signal(Signal {
        source: to.source,
        line: seq,
        tid,
        ts,
        name: name.as_bytes(),
        info: info.as_bytes(),
        raw: b"",
    }));
    Some(())
}
