//! Table `fds`: descriptors that were open.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, FdEntry, FdKind, SocketEnds};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "fds",
    about: "An open descriptor, as a look at the process showed it (when recording began, or in a snapshot of another tool).",
    columns: &[
        SEQ,
        ColumnSpec::maybe("pid", Kind::U32, "The process."),
        ColumnSpec::maybe("tid", Kind::U32, "The thread, where the snapshot has a row for each."),
        ColumnSpec::maybe("fd", Kind::I32, "The number; null for what is open without one."),
        ColumnSpec::maybe("role", Kind::Word, "What stands in place of a number: cwd, txt, mem."),
        ColumnSpec::always("kind", Kind::Word, "file, pipe, tcp, unix, epoll and others."),
        ColumnSpec::maybe("path", Kind::Text, "Path of a file, or the text for anything else."),
        ColumnSpec::always("deleted", Kind::Bool, "True where the file was removed while open."),
        ColumnSpec::always("is_socket", Kind::Bool, "True where the two ends were looked for."),
        ColumnSpec::maybe("local", Kind::Text, "Our end of a socket."),
        ColumnSpec::maybe("peer", Kind::Text, "The other end."),
        ColumnSpec::maybe("state", Kind::Word, "State of a TCP socket."),
        ColumnSpec::maybe("inode", Kind::U64, "Inode number."),
        ColumnSpec::maybe("device", Kind::Word, "Device."),
        ColumnSpec::maybe("size", Kind::U64, "Size of a file, bytes."),
        ColumnSpec::maybe("offset", Kind::U64, "Offset, bytes."),
        ColumnSpec::maybe("readable", Kind::Bool, "Open for reading."),
        ColumnSpec::maybe("writable", Kind::Bool, "Open for writing."),
        ColumnSpec::maybe("queue_send", Kind::U64, "Bytes waiting to be sent."),
        ColumnSpec::maybe("queue_receive", Kind::U64, "Bytes waiting to be read; of a listening socket, connections waiting to be accepted."),
        ColumnSpec::maybe("mount", Kind::Text, "Server and export of a network file system."),
        ColumnSpec::maybe("comm", Kind::Text, "Name of the process."),
        ColumnSpec::maybe("user", Kind::Text, "User name or number."),
    ],
    keep: Keep::All,
    replay,
};

#[inline]
pub(super) fn put(entry: &FdEntry, seq: u64, rows: &mut Rows) {
    let ends = entry.ends.as_ref();
    let (send, receive) = entry.queues.unzip();
    let mut row = rows.row(seq);
    row.u32(entry.pid).u32(entry.tid).i32(entry.fd).string(entry.role.as_deref());
    row.text(Some(entry.kind.word())).string(entry.name.as_deref()).bool(Some(entry.deleted));
    row.bool(Some(ends.is_some())).string(ends.and_then(|ends| ends.local.as_deref()));
    row.string(ends.and_then(|ends| ends.peer.as_deref())).string(entry.state.as_deref());
    row.u64(entry.inode).string(entry.device.as_deref()).u64(entry.size).u64(entry.offset);
    row.bool(entry.readable).bool(entry.writable).u64(send).u64(receive);
    row.string(entry.mount.as_deref()).string(entry.comm.as_deref()).string(entry.user.as_deref()).end();
}

#[inline]
fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let mut entry = FdEntry { source: to.source, line: seq, ..FdEntry::default() };
    entry.pid = row.u32();
    entry.tid = row.u32();
    entry.fd = row.i32();
    entry.role = row.string();
    // A kind of a later version is unknown to this one.
    entry.kind = row.text().and_then(FdKind::of_word).unwrap_or(FdKind::Unknown);
    entry.name = row.string();
    entry.deleted = row.bool().unwrap_or(false);
    let is_socket = row.bool().unwrap_or(false);
    let ends = SocketEnds { local: row.string(), peer: row.string() };
    entry.ends = is_socket.then_some(ends);
    entry.state = row.string();
    entry.inode = row.u64();
    entry.device = row.string();
    entry.size = row.u64();
    entry.offset = row.u64();
    entry.readable = row.bool();
    entry.writable = row.bool();
    entry.queues = row.u64().zip(row.u64());
    entry.mount = row.string();
    entry.comm = row.string();
    entry.user = row.string();
    to.sink.push(Event::Fd(Box::new(entry)));
    Some(())
}
