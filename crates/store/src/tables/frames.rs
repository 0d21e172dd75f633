//! Table `frames`: frames of stacks.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{StackFrame, Stack};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "frames",
    about: "One frame of a stack.",
    columns: &[
        SEQ,
        ColumnSpec::always("stack_id", Kind::U32, "The stack."),
        ColumnSpec::always("level", Kind::U32, "0 for the innermost frame."),
        ColumnSpec::always("address", Kind::U64, "As sampled."),
        ColumnSpec::maybe("function", Kind::Word, "The function."),
        ColumnSpec::maybe("module", Kind::Word, "The file that holds the code."),
        ColumnSpec::maybe("place", Kind::Word, "Source file and line."),
    ],
    keep: Keep::All,
    replay,
};

/// Frames of one stack at most: more are no stack of ours.
const MOST: usize = 4096;

#[inline]
pub(super) fn put(stack: &Stack, seq: u64, rows: &mut Rows) {
    for (level, frame) in stack.frames.iter().enumerate() {
        let mut row = rows.row(seq);
        row.u32(Some(stack.id.0)).u32(Some(level as u32)).u64(Some(frame.address));
        row.string(frame.function.as_deref()).string(frame.module.as_deref());
        row.string(frame.place.as_deref()).end();
    }
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    row.skip();
    if row.u32()? == 0 {
        to.frames.clear();
    }
    let frame = StackFrame {
        address: row.u64()?,
        function: row.string(),
        module: row.string(),
        place: row.string(),
    };
    if to.frames.len() < MOST {
        to.frames.push(frame);
    }
    Some(())
}
