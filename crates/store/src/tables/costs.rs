//! Table `costs`: the cost of recording.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Cost, Event};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "costs",
    about: "What the recording cost, as the recorder measured it.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("target_share", Kind::F64, "Share of its own CPU time that the target spent in our probes, 0 to 1."),
        ColumnSpec::maybe("recorder_cpu", Kind::Duration, "CPU time of the recorder."),
        ColumnSpec::maybe("per_call", Kind::Duration, "Added to one recorded call."),
        ColumnSpec::maybe("added", Kind::Duration, "Time that was spent in our probes."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(cost: &Cost, seq: u64, rows: &mut Rows) {
    let Cost { target_share, added, recorder_cpu, per_call } = *cost;
    rows.row(seq).f64(target_share).nanos(recorder_cpu).nanos(per_call).nanos(added).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Cost(Cost {
        target_share: row.f64(),
        recorder_cpu: row.nanos(),
        per_call: row.nanos(),
        added: row.nanos(),
    }));
    Some(())
}
