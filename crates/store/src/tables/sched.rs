//! Table `sched`: the scheduler.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Stretch};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "sched",
    about: "A stretch of a thread on a CPU, with the wait before it.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When it got the CPU."),
        ColumnSpec::always("cpu", Kind::U32, "The CPU."),
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always("left_as", Kind::Word, "How it left the CPU: runnable, sleeping, uninterruptible, stopped, dead, other."),
        ColumnSpec::maybe("on_cpu", Kind::Duration, "How long it ran."),
        ColumnSpec::maybe("runnable", Kind::Duration, "How long it waited for a CPU before."),
        ColumnSpec::maybe("blocked", Kind::Duration, "How long it was blocked before that."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(LeftAs {
    Runnable = "runnable",
    Sleeping = "sleeping",
    Uninterruptible = "uninterruptible",
    Stopped = "stopped",
    Dead = "dead",
    Other = "other",
});

#[inline]
pub(super) fn put(stretch: &Stretch, seq: u64, rows: &mut Rows) {
    let Stretch { ts, cpu, pid, tid, left_as, on_cpu, runnable, blocked } = *stretch;
    let mut row = rows.row(seq);
    row.time(ts).u32(Some(cpu.into())).u32(Some(pid)).u32(Some(tid)).text(Some(word(left_as)));
    row.nanos(on_cpu).nanos(runnable).nanos(blocked).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Stretch(Stretch {
        ts: row.time(),
        cpu: row.u32()?.try_into().ok()?,
        pid: row.u32()?,
        tid: row.u32()?,
        left_as: of_word(row.text()?)?,
        on_cpu: row.nanos(),
        runnable: row.nanos(),
        blocked: row.nanos(),
    }));
    Some(())
}
