//! Table `block_io`: block devices.

use super::{Keep, Replay, SEQ, TableSpec, inode};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{BlockIo, Event};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "block_io",
    about: "A request to a block device.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("queued", Kind::Time, "When it was made, and began to wait for the device's scheduler."),
        ColumnSpec::maybe("issued", Kind::Time, "When it was handed to the device."),
        ColumnSpec::maybe("completed", Kind::Time, "When it was completed."),
        ColumnSpec::always("device", Kind::Word, "The device, as major:minor."),
        ColumnSpec::always("sector", Kind::U64, "The first sector (512 bytes)."),
        ColumnSpec::always("bytes", Kind::U64, "Its size."),
        ColumnSpec::always("op", Kind::Word, "read, write, flush, discard; with +sync, +fua, +meta, +ahead where set."),
        ColumnSpec::maybe("pid", Kind::U32, "The process running when it was issued."),
        ColumnSpec::maybe("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("file_major", Kind::U32, "The file whose pages it carries (null for direct I/O and for a file system's own data): major number of its file system's device."),
        ColumnSpec::maybe("file_minor", Kind::U32, "Its minor number."),
        ColumnSpec::maybe("file_inode", Kind::U64, "The file's inode number."),
        ColumnSpec::maybe("file_generation", Kind::U32, "Its generation: the number of a file that is gone is given to another one."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(io: &BlockIo, seq: u64, rows: &mut Rows) {
    let BlockIo { queued, issued, completed, device, sector, bytes, op, pid, tid, file } = io;
    let mut row = rows.row(seq);
    row.time(*queued).time(*issued).time(*completed).string(Some(device)).u64(Some(*sector)).u64(Some(*bytes));
    row.string(Some(op)).u32(*pid).u32(*tid);
    inode::put(&mut row, *file);
    row.end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::BlockIo(Box::new(BlockIo {
        queued: row.time(),
        issued: row.time(),
        completed: row.time(),
        device: row.string()?,
        sector: row.u64()?,
        bytes: row.u64()?,
        op: row.string()?,
        pid: row.u32(),
        tid: row.u32(),
        file: inode::take(row),
    })));
    Some(())
}
