//! Requests to block devices, of everybody.

use super::{Program, at_end, by_section, kind, object};
use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use whyslow_model::{BlockIo, Tid, Timestamp};

pub(super) static BLOCK: Program = Program {
    name: "block",
    summary: "requests to block devices: when issued and completed, by whom",
    cost: "about 3 us a request, of everybody's",
    tables: &["block_io"],
    rare: &[("block_io", &[kind::BLOCK])],
    wanted: |options| options.block,
    needed: false,
    object: object!("block"),
    attach: &[
        &[by_section("block_queued"), by_section("block_inserted")],
        &[by_section("block_issued")],
        &[by_section("block_completed")],
        &[at_end("block_left")],
    ],
};

const UNFINISHED: u8 = 2;
/// Flags with their text behind the operation.
const MARKS: &[(u8, &str)] = &[(4, "+sync"), (8, "+fua"), (16, "+meta"), (32, "+ahead")];

/// `enum req_op` (include/linux/blk_types.h).
fn operation(number: u32) -> &'static str {
    match number {
        0 => "read",
        1 => "write",
        2 => "flush",
        3 => "discard",
        5 => "secure-erase",
        7 => "zone-append",
        9 => "write-zeroes",
        10..=19 => "zone",
        34 | 35 => "driver",
        _ => "other",
    }
}

/// One record, read; `None` where it is not whole.
pub(crate) fn decode(record: &SpoolRecord<'_>, clock: Clock) -> Option<BlockIo> {
    let mut fields = Fields(record.body());
    let queued = match fields.u64()? {
        0 => Timestamp::UNKNOWN,
        at => clock.epoch(at),
    };
    let issued = clock.epoch(fields.u64()?);
    let sector = fields.u64()?;
    let bytes = fields.u32()?.into();
    let device = format!("{}:{}", fields.u32()?, fields.u32()?);
    let mut op = operation(fields.u32()?).to_string();
    let flags = record.header.flags;
    op.extend(MARKS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, text)| *text));
    let unfinished = flags & UNFINISHED != 0;
    let completed = if unfinished { Timestamp::UNKNOWN } else { clock.epoch(record.header.ts) };
    // Process 0 is the idle task: nobody.
    let somebody = |id: u32| (id != 0).then_some(id as Tid);
    let (pid, tid) = (somebody(fields.u32()?), somebody(record.header.tid));
    fields.u32()?;
    let file = fields.inode()?;
    Some(BlockIo { queued, issued, completed, device, sector, bytes, op, pid, tid, file })
}
