//! Table `stacks`: stacks.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Stack, StackId};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "stacks",
    about: "A stack by its number; its frames are in frames.",
    columns: &[
        SEQ,
        ColumnSpec::always("stack_id", Kind::U32, "Its number."),
        ColumnSpec::always("depth", Kind::U32, "How many frames it has."),
        ColumnSpec::always("cut", Kind::Bool, "True where more frames were there than are kept."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(stack: &Stack, seq: u64, rows: &mut Rows) {
    rows.row(seq).u32(Some(stack.id.0)).u32(Some(stack.frames.len() as u32)).bool(Some(stack.cut)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let (id, depth, cut) = (row.u32()?, row.u32()?, row.bool()?);
    let frames = std::mem::take(&mut to.frames);
    // Frames are missing where their part of the table is: then the stack is not the whole one.
    let cut = cut || frames.len() != depth as usize;
    to.sink.push(Event::Stack(Stack { id: StackId(id), frames, cut }));
    Some(())
}
