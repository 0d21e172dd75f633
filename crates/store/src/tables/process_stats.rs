//! Table `process_stats`: figures kept a thread.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, ThreadTotals};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "process_stats",
    about: "Figures of a thread over the recording.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("page_faults", Kind::U64, "Page faults of its user code."),
        ColumnSpec::maybe("major_faults", Kind::U64, "Of these, with a read from disk."),
        ColumnSpec::maybe("voluntary_switches", Kind::U64, "Times it gave up the CPU by itself."),
        ColumnSpec::maybe("involuntary_switches", Kind::U64, "Times the CPU was taken from it."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(totals: &ThreadTotals, seq: u64, rows: &mut Rows) {
    let ThreadTotals { pid, tid, page_faults, major_faults, voluntary_switches, involuntary_switches } = *totals;
    let mut row = rows.row(seq);
    row.u32(Some(pid)).u32(Some(tid)).u64(page_faults).u64(major_faults);
    row.u64(voluntary_switches).u64(involuntary_switches).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::ThreadTotals(ThreadTotals {
        pid: row.u32()?,
        tid: row.u32()?,
        page_faults: row.u64(),
        major_faults: row.u64(),
        voluntary_switches: row.u64(),
        involuntary_switches: row.u64(),
    }));
    Some(())
}
