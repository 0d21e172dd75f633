//! Table `samples`: on-CPU samples.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, SampledStack, SampleKind, StackId};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "samples",
    about: "A stack of a thread while it ran.",
    columns: &columns("The time it stands for."),
    keep: Keep::Newest,
    replay: |row, _, to| replay(SampleKind::OnCpu, row, to),
};

pub(super) const fn columns(weight: &'static str) -> [ColumnSpec; 8] {
    [
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When."),
        ColumnSpec::always("cpu", Kind::U32, "The CPU."),
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("weight", Kind::Duration, weight),
        ColumnSpec::maybe("user_stack", Kind::U32, "Its stack in user code: stack_id."),
        ColumnSpec::maybe("kernel_stack", Kind::U32, "Its stack in the kernel."),
    ]
}

#[inline]
pub(super) fn put(sample: &SampledStack, seq: u64, rows: &mut Rows) {
    let SampledStack { kind: _, ts, cpu, pid, tid, weight, user, kernel } = *sample;
    let mut row = rows.row(seq);
    row.time(ts).u32(Some(cpu.into())).u32(Some(pid)).u32(Some(tid)).nanos(weight);
    row.u32(user.map(|id| id.0)).u32(kernel.map(|id| id.0)).end();
}

#[inline]
pub(super) fn replay(kind: SampleKind, row: &mut Take<'_>, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Sample(SampledStack {
        kind,
        ts: row.time(),
        cpu: row.u32()?.try_into().ok()?,
        pid: row.u32()?,
        tid: row.u32()?,
        weight: row.nanos(),
        user: row.u32().map(StackId),
        kernel: row.u32().map(StackId),
    }));
    Some(())
}
