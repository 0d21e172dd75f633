//! Table `meanwhile`: who had the CPU that threads waited for.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Meanwhile};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "meanwhile",
    about: "Who had the CPU that one thread waited for, added up in the kernel. Several rows of the same add up.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process that waited."),
        ColumnSpec::always("tid", Kind::U32, "Its thread."),
        ColumnSpec::always(
            "had",
            Kind::Word,
            "thread; idle (nobody), quota (its group had used it up), untold (before what the CPU remembered), recorder (this recording).",
        ),
        ColumnSpec::maybe("runner", Kind::U32, "The process that ran."),
        ColumnSpec::maybe("comm", Kind::Text, "The name of its thread where it is of the process that waited, else of its process."),
        ColumnSpec::always("turns", Kind::U64, "Turns."),
        ColumnSpec::maybe("total", Kind::Duration, "How much of the wait."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(HadCpu { Thread = "thread", Idle = "idle", Quota = "quota", Untold = "untold", Recorder = "recorder" });

#[inline]
pub(super) fn put(one: &Meanwhile, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.u32(Some(one.pid)).u32(Some(one.tid)).string(Some(word(one.had))).u32(one.runner);
    row.string(one.comm.as_deref()).u64(Some(one.turns)).nanos(one.total).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Meanwhile(Box::new(Meanwhile {
        pid: row.u32()?,
        tid: row.u32()?,
        had: of_word(row.text()?)?,
        runner: row.u32(),
        comm: row.string(),
        turns: row.u64()?,
        total: row.nanos(),
    })));
    Some(())
}
