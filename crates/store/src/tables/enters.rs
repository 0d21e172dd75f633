//! Table `enters`: first halves of calls, as a trace of text shows them. The whole call is in `syscalls`.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use super::syscalls::{flag_words, flags_of};
use whyslow_model::{Call, Event, Syscall};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "enters",
    about: "A call that had begun and not yet ended when a later event was recorded.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When it was entered."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("pid", Kind::U32, "Its process."),
        ColumnSpec::always("syscall", Kind::Word, "Which call."),
        ColumnSpec::always("args", Kind::Text, "The arguments as far as they were known then."),
        ColumnSpec::maybe("flags", Kind::Word, "As in syscalls."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(call: &Call<'_>, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.time(call.ts).u32(Some(call.tid)).u32(call.pid).bytes(Some(call.name)).bytes(Some(call.args));
    row.text(flag_words(call.flags, false)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (ts, tid, pid, name, args, flags) =
        (row.time(), row.u32()?, row.u32(), row.text()?, row.text()?, row.text());
    let mut call = Call::new("", args);
    (call.source, call.line, call.end_line) = (to.source, seq, seq);
    (call.ts, call.tid, call.pid) = (ts, tid, pid);
    call.name = name.as_bytes();
    call.syscall = Syscall::lookup(call.name).unwrap_or(Syscall::UNLISTED);
    call.flags = flags_of(flags);
    to.sink.push(Event::Enter(&call));
    Some(())
}
