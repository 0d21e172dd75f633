//! Requests and answers on connections that this program opened or accepted, as far as the order of reads and writes tells
//! them: two small writes before an answer (Nagle's algorithm and delayed ACKs), and requests that wait long for theirs.

use crate::Fold;
use crate::args::poll::polled_fd;
use crate::exemplar::Exemplar;
use crate::world::fds::Origin;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{CallFlags, FdKind, Nanos, Syscall, Timestamp, text};

/// What happened with one peer, over all connections to it.
#[derive(Debug)]
pub struct Exchanges {
    /// The process.
    pub process: ProcessId,
    /// The peer: its address, of a client only the host.
    pub peer: Box<str>,
    /// The thread of the first exchange.
    pub tid: Tid,
    /// Another thread had some too.
    pub shared: bool,
    /// Exchanges with one write before the read that brought data, and their time from the last write to that read.
    pub single: Delays,
    /// Exchanges with two or more small writes before it.
    pub split: Delays,
    /// A connection of these sends at once (TCP_NODELAY was set).
    pub no_delay: bool,
    /// The other end is known; else `peer` only says on which descriptor it is.
    pub is_named: bool,
    /// The two writes and the read of the first delayed exchange.
    pub lines: Vec<Exemplar>,
    /// Requests that no limit of time ends and that waited at least [`ExchangeFacts::LONG`]: for an answer, or for the
    /// capture's end.
    pub endless: Vec<Endless>,
}

/// Times of exchanges.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delays {
    /// Exchanges.
    pub count: u64,
    /// Of these, with a time that is the delay of an ACK (40 ms or 200 ms).
    pub delayed: u64,
    /// Time of those, ns.
    pub delayed_ns: u64,
    /// The longest other one, ns.
    pub longest_other_ns: u64,
}

/// A blocking wait without a limit.
#[derive(Clone, Debug)]
pub struct Endless {
    /// The line of the wait.
    pub line: Exemplar,
    /// How long; unknown where it lasted to the capture's end.
    pub waited: Nanos,
    /// How long it lasted at least as the capture ended, where it had begun before the capture and the recorder saw since when.
    pub asleep: Nanos,
    /// It is the attempt to connect.
    pub connects: bool,
}

#[derive(Debug, Default)]
struct Connection {
    /// Row of its peer, from 1.
    row: u32,
    writes: u32,
    small: bool,
    /// The thread of the first of these writes, and whether others made some of them.
    tid: Tid,
    mixed: bool,
    /// End of the last write.
    written: Timestamp,
    no_delay: bool,
    /// A limit of time was seen: SO_RCVTIMEO, or a poll of it that does not wait for ever.
    limited: bool,
    lines: Vec<Exemplar>,
}

/// Exchanges by peer.
#[derive(Debug, Default)]
pub struct ExchangeFacts {
    /// The rows.
    pub rows: Vec<Exchanges>,
    connections: HashMap<LifeId, Connection, foldhash::fast::RandomState>,
}

impl Delays {
    fn add(&mut self, ns: u64) -> bool {
        self.count += 1;
        let is_delay = ExchangeFacts::is_ack_delay(ns);
        if is_delay {
            self.delayed += 1;
            self.delayed_ns = self.delayed_ns.saturating_add(ns);
        } else {
            self.longest_other_ns = self.longest_other_ns.max(ns);
        }
        is_delay
    }
}

impl ExchangeFacts {
    /// Peers told apart.
    const MAX_ROWS: usize = 512;
    /// Connections followed at a time.
    const MAX_CONNECTIONS: usize = 4_096;
    /// Endless waits kept of a peer.
    const MAX_ENDLESS: usize = 8;
    /// A payload from which on a segment is full, and is sent without waiting for an ACK: TCP's payload in an
    /// Ethernet frame of 1,500 bytes with timestamps (RFC 1122, 4.2.3.4).
    const FULL_SEGMENT: u64 = 1_448;
    /// From here on a wait for an answer is long: most clients' limits are between 1 and 30 s.
    pub const LONG: Nanos = Nanos::from_secs(10);

    /// The delay of an ACK: TCP_DELACK_MIN is 40 ms, TCP_DELACK_MAX 200 ms (Linux, include/net/tcp.h), plus the
    /// timer's tick, the way there and back and the tracer.
    fn is_ack_delay(ns: u64) -> bool {
        (38_000_000..=50_000_000).contains(&ns) || (195_000_000..=212_000_000).contains(&ns)
    }

    /// True where a limit of time was seen for what is waited for on that connection.
    pub fn is_limited(&self, connection: LifeId) -> bool {
        self.connections.get(&connection).is_some_and(|connection| connection.limited)
    }

    /// The row of the peer, from 1; 0 where it is unknown or there are too many.
    fn row_of(&mut self, seen: &Seen<'_>, world: &World) -> u32 {
        let (peer, origin) = peer_of(seen, world);
        let unnamed = match (peer, origin, seen.fd) {
            // Older than the capture: the order of reads and writes tells all the same.
            ("", Some(Origin::BeforeCapture | Origin::Accept), Some(fd)) => {
                format!("the other end of fd {fd}")
            }
            ("", ..) => return 0,
            _ => String::new(),
        };
        let peer = if peer.is_empty() { &*unnamed } else { peer };
        let fits = |row: &Exchanges| row.process == seen.process && *row.peer == *peer;
        if let Some(at) = self.rows.iter().position(fits) {
            return at as u32 + 1;
        }
        if self.rows.len() >= Self::MAX_ROWS {
            return 0;
        }
        self.rows.push(Exchanges {
            process: seen.process,
            peer: peer.into(),
            tid: seen.call.tid,
            shared: false,
            single: Delays::default(),
            split: Delays::default(),
            no_delay: false,
            is_named: unnamed.is_empty(),
            lines: Vec::new(),
            endless: Vec::new(),
        });
        self.rows.len() as u32
    }

    fn known(&mut self, id: LifeId) -> &mut Connection {
        if self.connections.len() >= Self::MAX_CONNECTIONS && !self.connections.contains_key(&id) {
            // Closes may not be in the capture: forget the connections, not the peers.
            self.connections.clear();
        }
        self.connections.entry(id).or_default()
    }

    fn wrote(&mut self, seen: &Seen<'_>, id: LifeId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.writes == 0 {
            connection.small = true;
            (connection.tid, connection.mixed) = (seen.call.tid, false);
            connection.lines.clear();
        }
        connection.mixed |= connection.tid != seen.call.tid;
        connection.writes = connection.writes.saturating_add(1);
        connection.small &= seen.bytes < Self::FULL_SEGMENT;
        connection.written = seen.call.end();
        // Lines cost memory: only where a delay was seen before.
        let row = self.rows.get((connection.row as usize).wrapping_sub(1));
        let wanted = row.is_some_and(|row| row.split.delayed > 0 && row.lines.is_empty());
        if wanted && connection.lines.len() < 2 {
            connection.lines.push(Exemplar::of(seen.call));
        }
    }

    fn read(&mut self, seen: &Seen<'_>, world: &World, id: LifeId) {
        let call = seen.call;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if (connection.writes > 0 || is_all_along(call)) && !connection.limited && is_endless(seen) {
            let (_, origin) = peer_of(seen, world);
            if origin != Some(Origin::Accept) {
                self.endless(seen, world, false);
            }
            return;
        }
        if seen.bytes == 0 {
            return;
        }
        let writes = std::mem::take(&mut connection.writes);
        let Some(row) = self.rows.get_mut((connection.row as usize).wrapping_sub(1)) else { return };
        row.shared |= row.tid != call.tid;
        let Some(ns) = call.end().since(connection.written).get().filter(|_| writes > 0) else { return };
        // Threads of which nothing tells that they share a process may each have a descriptor of that number.
        if !row.is_named && (connection.mixed || connection.tid != call.tid) {
            return;
        }
        if writes == 1 {
            row.single.add(ns);
        } else if connection.small && matches!(seen.kind, FdKind::Tcp | FdKind::Socket) {
            row.no_delay |= connection.no_delay;
            if row.split.add(ns) && row.lines.is_empty() && !connection.lines.is_empty() {
                row.lines.append(&mut connection.lines);
                row.lines.push(Exemplar::of(call));
            }
        }
    }

    /// A wait for one descriptor without a limit is that of a client library; one for several is a loop's, which has
    /// its own means.
    fn polled(&mut self, seen: &Seen<'_>, world: &World) {
        let args = seen.call.args;
        // A limit of zero is a look.
        let is_limited = !has_no_limit(args) && text::argument(args, 2) != Some(b"0");
        if !(is_limited || is_endless(seen) && has_no_limit(args)) {
            return;
        }
        let Some(id) = polled_fd(args).and_then(|fd| world.threads.process(seen.process).slots.get(fd))
        else {
            return;
        };
        if is_limited {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.limited = true;
            }
            return;
        }
        let asked = is_all_along(seen.call)
            || self.connections.get(&id).is_some_and(|connection| connection.writes > 0);
        let answers = memchr::memmem::find(args, b"POLLIN").is_some();
        let accepted = world.fds.get(id).is_none_or(|life| life.origin == Origin::Accept);
        if asked && answers && !accepted {
            self.endless(&Seen { life: Some(id), ..*seen }, world, false);
        }
    }

    /// A wait for the answer, or for the connection, without a limit.
    fn endless(&mut self, seen: &Seen<'_>, world: &World, connects: bool) {
        let at = self.row_of(seen, world) as usize;
        let Some(row) = self.rows.get_mut(at.wrapping_sub(1)) else { return };
        if row.endless.len() < Self::MAX_ENDLESS {
            row.endless.push(Endless {
                line: Exemplar::of(seen.call),
                waited: seen.call.dur,
                asleep: seen.call.asleep(),
                connects,
            });
        }
    }
}

impl Fold for ExchangeFacts {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || matches!(syscall, Syscall::CONNECT | Syscall::CLOSE | Syscall::POLL | Syscall::PPOLL)
            || syscall.info().name == "setsockopt"
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if matches!(seen.call.syscall, Syscall::POLL | Syscall::PPOLL) {
            return self.polled(seen, world);
        }
        let Some(id) = seen.life.filter(|_| seen.kind.is_socket()) else { return };
        let call = seen.call;
        let has = |word: &[u8]| memchr::memmem::find(call.args, word).is_some();
        match (call.syscall, call.syscall.info().moves) {
            (Syscall::CLOSE, _) => {
                self.connections.remove(&id);
            }
            (Syscall::CONNECT, _) if is_endless(seen) && seen.kind != FdKind::Udp => {
                self.endless(seen, world, true);
            }
            (_, Moves::None) => {
                let (no_delay, limits) = (has(b"TCP_NODELAY, [1]"), has(b"SO_RCVTIMEO"));
                if no_delay || limits {
                    let connection = self.known(id);
                    connection.no_delay |= no_delay;
                    // A time of zero takes the limit away (socket(7)).
                    connection.limited = if limits { is_time(call.args) } else { connection.limited };
                }
            }
            (_, moves) if matches!(seen.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket) => {
                let row = match self.connections.get(&id) {
                    Some(connection) if connection.row > 0 => connection.row,
                    _ => self.row_of(seen, world),
                };
                self.known(id).row = row;
                if moves == Moves::Read {
                    self.read(seen, world, id);
                } else if call.ok().is_some() {
                    self.wrote(seen, id);
                }
            }
            _ => {}
        }
    }
}

/// True for a wait that took long, or that was still under way when the capture ended.
fn is_endless(seen: &Seen<'_>) -> bool {
    let call = seen.call;
    call.flags.contains(CallFlags::END_NOT_SEEN) || call.dur.is_known() && call.dur >= ExchangeFacts::LONG
}

/// True for a wait that the recording neither saw begin nor end. What was asked before it nobody saw: who waits for one peer alone, without a
/// limit, has asked it, or listens to it.
fn is_all_along(call: &whyslow_model::Call<'_>) -> bool {
    call.asleep().is_known()
}

/// `…, 1, -1` of poll and `…, 1, NULL, NULL, 8` of ppoll: they wait as long as it takes.
fn has_no_limit(args: &[u8]) -> bool {
    text::argument(args, 2).is_some_and(|limit| limit == b"-1" || limit == b"NULL")
}

/// True where the time that a setsockopt sets is more than nothing: `{tv_sec=0, tv_usec=0}`, or its bytes; what is not shown may be.
fn is_time(args: &[u8]) -> bool {
    let Some(value) = text::argument(args, 3) else { return true };
    match text::quoted(value) {
        Some((bytes, _)) => text::unescape(bytes).iter().any(|byte| *byte != 0),
        None if value.starts_with(b"{") => value.iter().any(|byte| (b'1'..=b'9').contains(byte)),
        None => true,
    }
}

/// The other end, of a client only its host; empty where it is unknown.
fn peer_of<'a>(seen: &Seen<'_>, world: &'a World) -> (&'a str, Option<Origin>) {
    let Some(life) = seen.life.and_then(|life| world.fds.get(life)) else { return ("", None) };
    let peer = life.peer().unwrap_or("");
    let peer = match life.origin {
        Origin::Accept => peer.rsplit_once(':').map_or(peer, |(host, _)| host),
        _ => peer,
    };
    (peer, Some(life.origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use proptest::prelude::*;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn push(facts: &mut Facts, name: &str, at_ms: u64, dur_ms: u64, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        call.tid = 7;
        call.ts = Timestamp::new(1 + at_ms * 1_000_000);
        call.dur = Nanos::from_millis(dur_ms);
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    #[test]
    fn two_writes_and_a_late_answer() {
        let mut facts = Facts::default();
        for i in 0..10 {
            let at = i * 100;
            push(&mut facts, "write", at, 0, "5<TCP:[10.0.0.1:50000->10.0.0.2:80]>, \"head\", 4", 4);
            push(&mut facts, "write", at + 1, 0, "5<TCP:[10.0.0.1:50000->10.0.0.2:80]>, \"body\", 4", 4);
            push(&mut facts, "read", at + 1, 41, "5<TCP:[10.0.0.1:50000->10.0.0.2:80]>, \"ok\", 4096", 2);
            push(&mut facts, "write", at + 50, 0, "5<TCP:[10.0.0.1:50000->10.0.0.2:80]>, \"ping\", 4", 4);
            push(&mut facts, "read", at + 50, 2, "5<TCP:[10.0.0.1:50000->10.0.0.2:80]>, \"ok\", 4096", 2);
        }
        let row = &facts.exchanges.rows[0];
        assert_eq!((&*row.peer, row.split.count, row.split.delayed), ("10.0.0.2:80", 10, 10));
        assert_eq!((row.single.count, row.single.delayed, row.lines.len()), (10, 0, 3));
    }

    #[test]
    fn on_a_connection_without_a_name_one_thread_makes_the_exchange() {
        let delayed = |second: u32| {
            let mut facts = Facts::default();
            for i in 0..10 {
                for (tid, at, name, args, dur_ms) in [
                    (7, 0, "sendto", "5, \"26\n\", 3, 0, NULL, 0", 0),
                    (second, 1, "sendto", "5, \"body\", 4, 0, NULL, 0", 0),
                    (7, 2, "recvfrom", "5, \"card 7\n\", 8192, 0, NULL, NULL", 43),
                ] {
                    let mut call = Call::new(name, args);
                    (call.tid, call.ret) = (tid, Ret::Value(4));
                    call.ts = Timestamp::new(1 + (i * 100 + at) * 1_000_000);
                    call.dur = Nanos::from_millis(dur_ms);
                    facts.push(Event::Call(&call));
                }
            }
            let row = &facts.exchanges.rows[0];
            (row.is_named, row.split.delayed)
        };
        assert_eq!(delayed(7), (false, 10));
        assert_eq!(delayed(8), (false, 0));
    }

    proptest! {
        #[test]
        fn any_order_of_calls_is_bounded(calls in prop::collection::vec((0usize..5, 0i64..3_000, 0u64..30_000), 1..200)) {
            let mut facts = Facts::default();
            let names = ["write", "read", "close", "connect", "setsockopt"];
            for (at, (name, ret, dur)) in calls.iter().enumerate() {
                let args = format!("{}<TCP:[10.0.0.1:5->10.0.{ret}.2:80]>, \"x\", 4", ret % 50);
                push(&mut facts, names[*name], at as u64, *dur, &args, *ret);
            }
            for row in &facts.exchanges.rows {
                prop_assert!(row.endless.len() <= ExchangeFacts::MAX_ENDLESS && row.lines.len() <= 3);
                prop_assert!(row.split.delayed <= row.split.count && row.single.delayed <= row.single.count);
            }
        }
    }
}
