//! Table `files`: what was done with files by calls that were only added up.

use super::{Keep, Replay, SEQ, TableSpec, inode};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, FdKind, FileIo, SocketEnds};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "files",
    about: "What one thread did with one file in one way, added up in the kernel. Several rows of the same add up.",
    columns: &[
        SEQ,
        ColumnSpec::always("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::always(
            "op",
            Kind::Word,
            "read, write, sync, open; sendfile, splice and copy_file_range count for both files.",
        ),
        ColumnSpec::always("kind", Kind::Word, "What kind of file: file, device, pipe, socket and others."),
        ColumnSpec::maybe("path", Kind::Text, "Its path as the process saw it; begins with …/ where it is cut."),
        ColumnSpec::maybe("major", Kind::U32, "Major number of its file system's device."),
        ColumnSpec::maybe("minor", Kind::U32, "Minor number."),
        ColumnSpec::maybe("inode", Kind::U64, "Its inode number."),
        ColumnSpec::maybe("generation", Kind::U32, "Its generation."),
        ColumnSpec::maybe("first", Kind::Time, "When the first of the calls returned."),
        ColumnSpec::maybe("last", Kind::Time, "When the last did."),
        ColumnSpec::always("count", Kind::U64, "Calls."),
        ColumnSpec::always("errors", Kind::U64, "Calls that failed; opens are only those that succeeded."),
        ColumnSpec::always("timed", Kind::U64, "Calls whose duration is known."),
        ColumnSpec::always("bytes", Kind::U64, "Bytes read or written."),
        ColumnSpec::maybe("total", Kind::Duration, "Sum of the known durations."),
        ColumnSpec::maybe("max", Kind::Duration, "The longest."),
        ColumnSpec::maybe(
            "local",
            Kind::Text,
            "The service whose connections the process accepted: its own address.",
        ),
        ColumnSpec::maybe("peer", Kind::Text, "The service that the process connected to."),
        ColumnSpec::maybe("size", Kind::U64, "Size of the file when it was first used, bytes."),
        ColumnSpec::maybe(
            "in_order",
            Kind::U64,
            "Reads or writes that began where the thread's one before ended.",
        ),
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
    row.u64(Some(io.bytes)).nanos(io.total).nanos(io.longest);
    row.string(io.ends.local.as_deref()).string(io.ends.peer.as_deref()).u64(io.size).u64(io.in_order).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let io = FileIo {
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
        ends: SocketEnds { local: row.string(), peer: row.string() },
        size: row.u64(),
        in_order: row.u64(),
    };
    to.sink.push(Event::FileIo(Box::new(io)));
    Some(())
}
