//! Table `followed`: who was taken in because the target waits for it, or it for the target.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Followed, Via};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "followed",
    about: "A process that was taken in while recording, because the target was seen to wait for it, or it for the target: it is not what was asked about.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When; of what it did before nothing is recorded."),
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("comm", Kind::Text, "Its name."),
        ColumnSpec::always("waiter", Kind::U32, "The process that waits for it: of the target, or taken in before. Where hop is 0: the process of the target that it waits for."),
        ColumnSpec::always("via", Kind::Text, "What it is waited for at: an address, a pipe, a lock."),
        ColumnSpec::maybe("share", Kind::F64, "The part of the target's waiting that was for it, and its like at the same address, when it was taken in, 0 to 1. Where hop is 0: the part of the looks at it in which it waited for the target."),
        ColumnSpec::always("hop", Kind::U32, "Waits from the target to it; 0 where it waits for the target."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(followed: &Followed, seq: u64, rows: &mut Rows) {
    let Followed { ts, pid, comm, waiter, via, share, hop } = followed;
    let mut row = rows.row(seq);
    row.time(*ts).u32(Some(*pid)).string(Some(comm)).u32(Some(*waiter)).string(Some(&via.to_string()));
    row.f64(Some(*share)).u32(Some(*hop)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Followed(Box::new(Followed {
        ts: row.time(),
        pid: row.u32()?,
        comm: row.string()?,
        waiter: row.u32()?,
        via: Via::of_words(&row.string()?),
        share: row.f64().unwrap_or(0.0),
        hop: row.u32()?,
    })));
    Some(())
}
