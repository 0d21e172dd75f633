//! Table `frames`: frames of stacks.

use super::{Keep, Replay, SEQ, Table};
use crate::column::{Column, Kind, Rows, Take};
use whyslow_model::{Frame, Stack};

pub(crate) static TABLE: Table = Table {
    name: "frames",
    about: "One frame of a stack.",
    columns: &[
        SEQ,
        Column::always("stack_id", Kind::U32, "The stack."),
        Column::always("level", Kind::U32, "0 for the innermost frame."),
        Column::always("address", Kind::U64, "As sampled."),
        Column::maybe("function", Kind::Word, "The function."),
        Column::maybe("module", Kind::Word, "The file that holds the code."),
        Column::maybe("place", Kind::Word, "Source file and line."),
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
    let frame = Frame {
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
