//! Sockets whose buffers the program made small: how much went through them, and how long it waited until there was room, or more.

use super::fold::Fold;
use crate::exemplar::Exemplar;
use crate::world::ids::{LifeId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Nanos, Syscall, Timestamp, text};

/// The direction that a buffer bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bounds {
    /// SO_SNDBUF: what may be under way.
    Sends,
    /// SO_RCVBUF: what the other end may send before it hears that it was read.
    Receives,
}

impl Bounds {
    /// The option of setsockopt.
    pub fn option(self) -> &'static str {
        match self {
            Bounds::Sends => "SO_SNDBUF",
            Bounds::Receives => "SO_RCVBUF",
        }
    }
}

/// What went through such sockets of a process to or from one peer.
#[derive(Debug)]
pub struct SmallBuffer {
    /// The process.
    pub process: ProcessId,
    /// The other end: an address, of a client its host.
    pub peer: Box<str>,
    /// Which buffer.
    pub bounds: Bounds,
    /// What was asked for, bytes; of several sizes the smallest. The kernel takes twice of that.
    pub size: u64,
    /// Sockets.
    pub sockets: u64,
    /// Bytes that went in that direction.
    pub bytes: u64,
    /// Waits for room (sends), or for more of the same (receives).
    pub waits: u64,
    /// Time in them, ns.
    pub waited_ns: u64,
    /// Bytes between two waits that filled at least a quarter of the buffer: of a sender all.
    pub full_rounds: u64,
    /// The first thread.
    pub tid: Tid,
    /// Another one did too.
    pub shared: bool,
    /// The call that made the buffer small.
    pub line: Exemplar,
    /// The longest wait.
    pub longest: Option<Exemplar>,
    longest_ns: u64,
}

/// One socket.
#[derive(Debug)]
struct Socket {
    bounds: Bounds,
    size: u64,
    line: Exemplar,
    row: Option<usize>,
    /// The end of its last read, where nothing was written since; or since when there is no room.
    since: Timestamp,
    round: u64,
}

/// All of them. Bounded.
#[derive(Debug, Default)]
pub struct SmallBuffers {
    /// By process, peer and direction, in order of appearance.
    pub rows: Vec<SmallBuffer>,
    sockets: HashMap<LifeId, Socket, foldhash::fast::RandomState>,
}

impl SmallBuffers {
    /// From this size on a buffer is as large as those that Linux begins with (net.ipv4.tcp_rmem: 128 KiB, before it grows to some MB).
    pub const LARGE: u64 = 128 * 1024;
    /// A wait that is shorter is the time of the call.
    const WAIT_NS: u64 = 300_000;
    const MAX_ROWS: usize = 512;
    const MAX_SOCKETS: usize = 8_192;

    fn made_small(&mut self, seen: &Seen<'_>) {
        let (Some(life), true) = (seen.life, seen.call.ok().is_some()) else { return };
        let args = seen.call.args;
        let bounds = match () {
            () if memchr::memmem::find(args, b"SO_SNDBUF").is_some() => Bounds::Sends,
            () if memchr::memmem::find(args, b"SO_RCVBUF").is_some() => Bounds::Receives,
            () => return,
        };
        let value = memchr::memmem::rfind(args, b", [").and_then(|at| text::decimal(&args[at + 3..]));
        let Some(size) = value.and_then(|(size, _)| u64::try_from(size).ok()) else { return };
        if size >= Self::LARGE {
            self.sockets.remove(&life);
        } else if self.sockets.len() < Self::MAX_SOCKETS || self.sockets.contains_key(&life) {
            let (line, since) = (Exemplar::of(seen.call), Timestamp::UNKNOWN);
            self.sockets.insert(life, Socket { bounds, size, line, row: None, since, round: 0 });
        }
    }

    /// A connection has the buffers of the socket that it was accepted from (tcp(7)).
    fn accepted(&mut self, seen: &Seen<'_>, world: &World) {
        let (Some(life), Some((listener, _))) = (seen.life, text::decimal(seen.call.args)) else { return };
        let Ok(listener) = i32::try_from(listener) else { return };
        let Some(from) = world.threads.process(seen.process).slots.get(listener) else { return };
        let Some(of) = self.sockets.get(&from).filter(|_| from != life) else { return };
        let inherited = Socket {
            line: of.line.clone(),
            row: None,
            since: Timestamp::UNKNOWN,
            round: 0,
            bounds: of.bounds,
            size: of.size,
        };
        if self.sockets.len() < Self::MAX_SOCKETS {
            self.sockets.insert(life, inherited);
        }
    }

    fn moved(&mut self, seen: &Seen<'_>, life: LifeId, reads: bool, world: &World) {
        let call = seen.call;
        let Some(socket) = self.sockets.get_mut(&life) else { return };
        let is_its = reads == (socket.bounds == Bounds::Receives);
        if !is_its {
            // Who writes a request waits for the answer: that is no wait for more of the same.
            if socket.bounds == Bounds::Receives && call.ok().is_some() {
                (socket.since, socket.round) = (Timestamp::UNKNOWN, 0);
            }
            return;
        }
        let at = match socket.row {
            Some(at) => at,
            None => {
                let Some(name) = world.fds.get(life).and_then(|known| known.peer()) else { return };
                let peer = if matches!(socket.bounds, Bounds::Sends) {
                    crate::folds::peers::host_of(name)
                } else {
                    name
                };
                let of = |row: &SmallBuffer| {
                    row.process == seen.process && *row.peer == *peer && row.bounds == socket.bounds
                };
                let known = self.rows.iter().position(of);
                let at = match known {
                    Some(at) => at,
                    None if self.rows.len() >= Self::MAX_ROWS => return,
                    None => {
                        self.rows.push(SmallBuffer {
                            process: seen.process,
                            peer: peer.into(),
                            bounds: socket.bounds,
                            size: socket.size,
                            sockets: 0,
                            bytes: 0,
                            waits: 0,
                            waited_ns: 0,
                            full_rounds: 0,
                            tid: call.tid,
                            shared: false,
                            line: socket.line.clone(),
                            longest: None,
                            longest_ns: 0,
                        });
                        self.rows.len() - 1
                    }
                };
                socket.row = Some(at);
                let row = &mut self.rows[at];
                row.sockets += 1;
                row.size = row.size.min(socket.size);
                at
            }
        };
        let Some(row) = self.rows.get_mut(at) else { return };
        row.shared |= row.tid != call.tid;
        if call.ok().is_none() {
            // No room: from here to the write that goes.
            if !reads && !socket.since.is_known() {
                socket.since = call.end();
            }
            return;
        }
        let waited = match (reads, socket.since.is_known()) {
            (true, false) => Nanos::ZERO,
            (true, true) => call.end().since(socket.since),
            (false, true) => call.ts.since(socket.since),
            (false, false) => call.dur,
        };
        if waited.or_zero() >= Self::WAIT_NS && seen.bytes > 0 {
            let ns = waited.or_zero();
            row.waits += 1;
            row.waited_ns = row.waited_ns.saturating_add(ns);
            let is_full = !reads || (socket.size / 4..=socket.size.saturating_mul(4)).contains(&socket.round);
            row.full_rounds += u64::from(is_full);
            socket.round = 0;
            if ns > row.longest_ns {
                (row.longest_ns, row.longest) = (ns, Some(Exemplar::of(call)));
            }
        }
        row.bytes = row.bytes.saturating_add(seen.bytes);
        socket.round = socket.round.saturating_add(seen.bytes);
        socket.since = if reads { call.end() } else { Timestamp::UNKNOWN };
    }
}

impl Fold for SmallBuffers {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || matches!(syscall, Syscall::SETSOCKOPT | Syscall::ACCEPT | Syscall::ACCEPT4)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if !matches!(seen.kind, FdKind::Tcp | FdKind::Socket) {
            return;
        }
        match seen.call.syscall {
            Syscall::SETSOCKOPT => self.made_small(seen),
            _ if self.sockets.is_empty() => {}
            Syscall::ACCEPT | Syscall::ACCEPT4 => self.accepted(seen, world),
            syscall => {
                if let Some(life) = seen.life {
                    self.moved(seen, life, syscall.info().moves == Moves::Read, world);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    #[test]
    fn a_sender_waits_for_room_and_a_receiver_for_more() {
        let to = r#"3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16"#;
        let from = r#"4, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("10.0.0.2")}, 16"#;
        let calls = [
            (0, 0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3),
            (0, 0, "setsockopt", "3, SOL_SOCKET, SO_SNDBUF, [4096], 4", 0),
            (1, 0, "connect", to, 0),
            (2, 40, "write", r#"3, "x"..., 65536"#, 65_536),
            (50, 0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 4),
            (50, 0, "setsockopt", "4, SOL_SOCKET, SO_RCVBUF, [8192], 4", 0),
            (51, 0, "connect", from, 0),
            (52, 0, "write", r#"4, "get", 3"#, 3),
            (53, 20, "read", r#"4, "x"..., 65536"#, 9_000),
            (73, 20, "read", r#"4, "x"..., 65536"#, 9_000),
            (93, 20, "read", r#"4, "x"..., 65536"#, 9_000),
        ];
        let mut facts = Facts::default();
        for (ms, took, name, args, ret) in calls {
            let ts = Timestamp::new(1_000_000_000 + ms * 1_000_000);
            let call = Call {
                tid: 9,
                ts,
                dur: Nanos::from_millis(took),
                ret: Ret::Value(ret),
                ..Call::new(name, args)
            };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let [send, receive] = &facts.small_buffers.rows[..] else { panic!("{:?}", facts.small_buffers.rows) };
        assert_eq!(
            (send.bounds, send.size, send.waits, send.waited_ns),
            (Bounds::Sends, 4_096, 1, 40_000_000)
        );
        assert_eq!((receive.bounds, receive.waits, receive.waited_ns), (Bounds::Receives, 2, 40_000_000));
        assert_eq!((receive.full_rounds, receive.bytes), (2, 27_000));
    }
}
