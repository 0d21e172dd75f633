//! Table `net`: TCP connections.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, NetEvent};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "net",
    about: "An event of a TCP connection.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When."),
        ColumnSpec::always("kind", Kind::Word, "connected, accepted, retransmit, reset, listen-overflow, closed."),
        ColumnSpec::maybe("pid", Kind::U32, "The process, where it ran in one's context."),
        ColumnSpec::always("local", Kind::Word, "Our end."),
        ColumnSpec::always("peer", Kind::Word, "The other end."),
        ColumnSpec::maybe("took", Kind::Duration, "Connected: time of the handshake. Closed: how long it lived."),
        ColumnSpec::maybe("rtt", Kind::Duration, "Smoothed round-trip time."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(NetKind {
    Connected = "connected",
    Accepted = "accepted",
    Retransmit = "retransmit",
    Reset = "reset",
    ListenOverflow = "listen-overflow",
    Closed = "closed",
});

#[inline]
pub(super) fn put(event: &NetEvent, seq: u64, rows: &mut Rows) {
    let NetEvent { ts, kind, pid, local, peer, took, rtt } = event;
    let mut row = rows.row(seq);
    row.time(*ts).text(Some(word(*kind))).u32(*pid).string(Some(local)).string(Some(peer));
    row.nanos(*took).nanos(*rtt).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Net(Box::new(NetEvent {
        ts: row.time(),
        kind: of_word(row.text()?)?,
        pid: row.u32(),
        local: row.string()?,
        peer: row.string()?,
        took: row.nanos(),
        rtt: row.nanos(),
    })));
    Some(())
}
