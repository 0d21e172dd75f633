//! Table `threads`: who ran.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, ProcessInfo};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "threads",
    about: "What was learnt of a thread or process at one time: at the start, when it began, changed or ended.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::maybe("tid", Kind::U32, "The thread; null for what is true of the whole process."),
        ColumnSpec::maybe("comm", Kind::Text, "Its name."),
        ColumnSpec::maybe("exe", Kind::Text, "The program's file."),
        ColumnSpec::maybe("cmdline", Kind::Text, "Its arguments, joined by spaces."),
        ColumnSpec::maybe("uid", Kind::U32, "User id."),
        ColumnSpec::maybe("user", Kind::Text, "User name or number."),
        ColumnSpec::maybe("cgroup", Kind::Text, "Control group."),
        ColumnSpec::maybe("container", Kind::Text, "Container id, first 12 digits."),
        ColumnSpec::maybe("parent", Kind::U32, "The parent process."),
        ColumnSpec::maybe("start", Kind::Time, "When it began; null where it ran before the recording."),
        ColumnSpec::maybe("end", Kind::Time, "When it ended; null where it did not."),
        ColumnSpec::maybe("fd_limit", Kind::U64, "Limit of open descriptors (soft)."),
        ColumnSpec::maybe("executed", Kind::Bool, "True where it has just begun to run another program."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(info: &ProcessInfo, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.u32(Some(info.pid)).u32(info.tid).string(info.comm.as_deref()).string(info.exe.as_deref());
    row.string(info.cmdline.as_deref()).u32(info.uid).string(info.user.as_deref());
    row.string(info.cgroup.as_deref()).string(info.container.as_deref()).u32(info.parent);
    row.time(info.start).time(info.end).u64(info.fd_limit);
    row.bool(info.executed.then_some(true)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Process(ProcessInfo {
        pid: row.u32()?,
        tid: row.u32(),
        comm: row.string(),
        exe: row.string(),
        cmdline: row.string(),
        uid: row.u32(),
        user: row.string(),
        cgroup: row.string(),
        container: row.string(),
        parent: row.u32(),
        start: row.time(),
        end: row.time(),
        fd_limit: row.u64(),
        executed: row.bool().unwrap_or(false),
    }));
    Some(())
}
