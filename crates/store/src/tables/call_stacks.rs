//! Table `call_stacks`: from where in their programs threads made short calls.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{CallStack, Event, StackId, Syscall};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "call_stacks",
    about: "The stack of a call too short for a row in offcpu: of each kind of call a few a second, one of many.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When it returned."),
        ColumnSpec::always("cpu", Kind::U32, "The CPU."),
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always("syscall", Kind::Word, "Which call."),
        ColumnSpec::maybe("took", Kind::Duration, "How long it took."),
        ColumnSpec::always("user_stack", Kind::U32, "Its stack in user code: stack_id."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(made: &CallStack, seq: u64, rows: &mut Rows) {
    let CallStack { ts, cpu, pid, tid, call, took, user } = *made;
    let mut row = rows.row(seq);
    row.time(ts).u32(Some(cpu.into())).u32(Some(pid)).u32(Some(tid)).string(Some(call.info().name));
    row.nanos(took).u32(Some(user.0)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (ts, cpu) = (row.time(), row.u32()?.try_into().ok()?);
    let (pid, tid) = (row.u32()?, row.u32()?);
    let call = Syscall::lookup(row.text()?.as_bytes())?;
    let (took, user) = (row.nanos(), StackId(row.u32()?));
    to.sink.push(Event::CallStack(CallStack { ts, cpu, pid, tid, call, took, user }));
    Some(())
}
