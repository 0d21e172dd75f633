//! Table `samples`: on-CPU samples.

use super::{Keep, Replay, SEQ, Table};
use crate::column::{Column, Kind, Rows, Take};
use whyslow_model::{Event, Sample, SampleKind, StackId};

pub(crate) static TABLE: Table = Table {
    name: "samples",
    about: "A stack of a thread while it ran.",
    columns: &columns("The time it stands for."),
    keep: Keep::Newest,
    replay: |row, _, to| replay(SampleKind::OnCpu, row, to),
};

pub(super) const fn columns(weight: &'static str) -> [Column; 8] {
    [
        SEQ,
        Column::maybe("ts", Kind::Time, "When."),
        Column::always("cpu", Kind::U32, "The CPU."),
        Column::always("pid", Kind::U32, "The process."),
        Column::always("tid", Kind::U32, "The thread."),
        Column::maybe("weight", Kind::Duration, weight),
        Column::maybe("user_stack", Kind::U32, "Its stack in user code: stack_id."),
        Column::maybe("kernel_stack", Kind::U32, "Its stack in the kernel."),
    ]
}

#[inline]
pub(super) fn put(sample: &Sample, seq: u64, rows: &mut Rows) {
    let Sample { kind: _, ts, cpu, pid, tid, weight, user, kernel } = *sample;
    let mut row = rows.row(seq);
    row.time(ts).u32(Some(cpu.into())).u32(Some(pid)).u32(Some(tid)).nanos(weight);
    row.u32(user.map(|id| id.0)).u32(kernel.map(|id| id.0)).end();
}

#[inline]
pub(super) fn replay(kind: SampleKind, row: &mut Take<'_>, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Sample(Sample {
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
