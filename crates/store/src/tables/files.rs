//! Table `files`: what was done with files by calls that were only added up.

use super::{Keep, Replay, SEQ, Table, inode};
use crate::column::{Column, Kind, Rows, Take};
use whyslow_model::{Event, FdKind, FileIo};

pub(crate) static TABLE: Table = Table {
    name: "files",
    about: "What one thread did with one file in one way, added up in the kernel. Several rows of the same add up.",
    columns: &[
        SEQ,
        Column::always("pid", Kind::U32, "The process."),
        Column::always("tid", Kind::U32, "The thread."),
        Column::always(
            "op",
            Kind::Word,
            "read, write, sync, open; sendfile, splice and copy_file_range count for both files.",
        ),
        Column::always("kind", Kind::Word, "What kind of file: file, device, pipe, socket and others."),
        Column::maybe("path", Kind::Text, "Its path as the process saw it; begins with …/ where it is cut."),
        Column::maybe("major", Kind::U32, "Major number of its file system's device."),
        Column::maybe("minor", Kind::U32, "Minor number."),
        Column::maybe("inode", Kind::U64, "Its inode number."),
        Column::maybe("generation", Kind::U32, "Its generation."),
        Column::maybe("first", Kind::Time, "When the first of the calls returned."),
        Column::maybe("last", Kind::Time, "When the last did."),
        Column::always("count", Kind::U64, "Calls."),
        Column::always("errors", Kind::U64, "Calls that failed; opens are only those that succeeded."),
        Column::always("timed", Kind::U64, "Calls whose duration is known."),
        Column::always("bytes", Kind::U64, "Bytes read or written."),
        Column::maybe("total", Kind::Duration, "Sum of the known durations."),
        Column::maybe("max", Kind::Duration, "The longest."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(FileOp { Read = "read", Write = "write", Sync = "sync", Open = "open" });

#[inline]
pub(super) fn put(io: &FileIo, seq: u64, rows: &mut Rows) {
    let mut row = rows.row(seq);
    row.u32(Some(io.pid)).u32(Some(io.tid)).string(Some(word(io.op))).string(Some(io.kind.word()));
    row.string(io.path.as_deref());
    inode::put(&mut row, io.file);
    row.time(io.first).time(io.last).u64(Some(io.calls)).u64(Some(io.errors)).u64(Some(io.timed));
    row.u64(Some(io.bytes)).nanos(io.total).nanos(io.longest).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::FileIo(Box::new(FileIo {
        pid: row.u32()?,
        tid: row.u32()?,
        op: of_word(row.text()?)?,
        kind: row.text().and_then(FdKind::of_word).unwrap_or(FdKind::Unknown),
        path: row.string(),
        file: inode::take(row),
        first: row.time(),
        last: row.time(),
        calls: row.u64()?,
        errors: row.u64()?,
        timed: row.u64()?,
        bytes: row.u64()?,
        total: row.nanos(),
        longest: row.nanos(),
    })));
    Some(())
}
