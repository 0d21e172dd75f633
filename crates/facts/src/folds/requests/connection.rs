//! One connection: which end this program is, what is open on it, and turns where the bytes tell nothing.

use super::record::Side;
use super::turns::Turns;
use crate::folds::peers::{Role, port_of, role_by_path, role_of};
use crate::world::World;
use crate::world::fds::{FdLife, Origin};
use crate::world::ids::{LifeId, ProcessId};
use std::sync::Arc;
use whyslow_model::FdKind;
use whyslow_wire::{Connection as Wire, Direction, Key};

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) life: LifeId,
    pub(super) process: ProcessId,
    pub(super) side: Option<Side>,
    pub(super) peer: Option<Arc<str>>,
    pub(super) wire: Option<Box<Wire>>,
    port: Option<u16>,
    kind: FdKind,
    /// Chunks from which the side could not be told.
    strange: u8,
    /// Bytes sent and received as long as the side is not known.
    sent: u64,
    received: u64,
    /// Chunks, up to the number after which no protocol is expected.
    pub(super) chunks: u8,
    /// Requests under way with their place.
    pub(super) open: Vec<(Key, u32)>,
    /// Answered requests.
    pub(super) answered: u64,
    /// Where no protocol is known.
    pub(super) turns: Turns,
    /// Our end.
    pub(super) local: Option<Arc<str>>,
    /// The request in which this program made the connection, with its place: the first thing that is asked on it is asked for that one.
    pub(super) made_in: Option<(u32, u64)>,
    pub(super) is_tls: bool,
    /// Gaps of the recording before its last call ([`super::gaps`]).
    pub(super) gaps: u32,
    /// Rounds in which the program wrote to it of its own accord, and writes that followed from something ([`super::initiative`]).
    pub(super) begun: u8,
    pub(super) told: u8,
    /// That is how it is known who asks.
    pub(super) by_initiative: bool,
}

impl Connection {
    /// Chunks after which nothing is expected of a connection whose ends are unknown.
    const MAX_STRANGE: u8 = 16;

    pub(super) fn unknown() -> Connection {
        Connection {
            life: LifeId::NONE,
            process: ProcessId::NONE,
            side: None,
            peer: None,
            wire: None,
            port: None,
            kind: FdKind::Unknown,
            strange: Connection::MAX_STRANGE,
            sent: 0,
            received: 0,
            chunks: 0,
            open: Vec::new(),
            answered: 0,
            turns: Turns::default(),
            local: None,
            made_in: None,
            is_tls: false,
            gaps: 0,
            begun: 0,
            told: 0,
            by_initiative: false,
        }
    }

    pub(super) fn new(id: LifeId, world: &World) -> Connection {
        let mut connection = Connection { life: id, strange: 0, ..Connection::unknown() };
        let Some(life) = world.fds.get(id) else { return connection };
        (connection.kind, connection.process) = (life.kind, life.process);
        connection.side = side_of(life, world);
        connection.peer = life.peer().map(Arc::from);
        connection.local = life.local().map(Arc::from);
        connection.port = match connection.side {
            Some(Side::Server) => life.local().and_then(port_of),
            Some(Side::Client) => life.peer().and_then(port_of),
            None => None,
        };
        connection
    }

    /// Who is asked, where that came to be known only after the connection was first seen.
    pub(super) fn name_peer(&mut self, world: &World) {
        if self.kind == FdKind::Unknown {
            // What it is may have come to be known by its use.
            self.kind = world.fds.get(self.life).map_or(FdKind::Unknown, |life| life.kind);
        }
        if self.local.is_none() && self.side == Some(Side::Server) {
            self.local = world.fds.get(self.life).and_then(|life| life.local()).map(Arc::from);
        }
        if self.peer.is_none() {
            self.peer = world.fds.get(self.life).and_then(|life| life.peer()).map(Arc::from);
        }
    }

    /// Which way a chunk goes that was read or written; `None` where nothing tells.
    pub(super) fn direction(&mut self, read: bool, head: &[u8], len: u64) -> Option<Direction> {
        if self.side.is_none() {
            self.by_size(read, len);
        }
        if self.side.is_none() {
            if self.strange >= Self::MAX_STRANGE || head.is_empty() {
                return None;
            }
            let asks = whyslow_wire::sniff(head, Direction::Request, self.port).is_some();
            let answers = whyslow_wire::sniff(head, Direction::Response, self.port).is_some();
            self.side = match (asks, answers) {
                (true, false) => Some(if read { Side::Server } else { Side::Client }),
                (false, true) => Some(if read { Side::Client } else { Side::Server }),
                _ => None,
            };
            self.strange += u8::from(self.side.is_none());
        }
        Some(match (self.side?, read) {
            (Side::Server, true) | (Side::Client, false) => Direction::Request,
            (Side::Server, false) | (Side::Client, true) => Direction::Response,
        })
    }

    /// Where no protocol is recognised, the sizes of what went each way tell who asks, once enough did: a question is shorter than
    /// its answer.
    fn by_size(&mut self, read: bool, len: u64) {
        /// Chunks before anything is said.
        const ENOUGH: u8 = 8;
        /// The larger direction has so many times the bytes of the other.
        const FACTOR: u64 = 2;
        let moved = if read { &mut self.received } else { &mut self.sent };
        *moved = moved.saturating_add(len);
        if self.strange < ENOUGH || !self.takes_turns() || self.sent == 0 || self.received == 0 {
            return;
        }
        if self.received >= self.sent.saturating_mul(FACTOR) {
            self.side = Some(Side::Client);
        } else if self.sent >= self.received.saturating_mul(FACTOR) {
            self.side = Some(Side::Server);
        }
    }

    /// True for a stream of which no end is known yet.
    pub(super) fn is_unknown_stream(&self) -> bool {
        self.side.is_none() && self.takes_turns()
    }

    /// This program is known to ask on it: its writes are requests.
    pub(super) fn asks(&mut self) -> Direction {
        self.side = Some(Side::Client);
        Direction::Request
    }

    pub(super) fn wire(&mut self) -> &mut Wire {
        let port = self.port;
        self.wire.get_or_insert_with(|| Box::new(Wire::new(port)))
    }

    /// Characters of a payload that are worth a look: where no protocol is expected any more, only a record's head.
    pub(super) fn worth(&self) -> usize {
        if self.protocol().is_some() || self.chunks < Self::MAX_STRANGE {
            return usize::MAX;
        }
        // Five bytes of a TLS record, each up to four characters.
        if self.side.is_some() { 20 } else { 0 }
    }

    /// The protocol, once recognised as one whose requests can be seen.
    pub(super) fn protocol(&self) -> Option<&'static str> {
        let name = self.wire.as_ref()?.protocol()?.name;
        (name != whyslow_wire::protocols::TLS_NAME).then_some(name)
    }

    /// True where turns stand for requests: a stream socket whose ends are known.
    pub(super) fn takes_turns(&self) -> bool {
        matches!(self.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket)
    }

    /// True where a request without an answer is one that was waited for: others may be no requests at all.
    pub(super) fn expects_answers(&self) -> bool {
        match self.protocol() {
            Some(_) => self.answered > 0 || self.kind.is_socket(),
            None => self.turns.expects(),
        }
    }
}

/// Which end this program is, as far as the connection itself tells; else its bytes do.
fn side_of(life: &FdLife, world: &World) -> Option<Side> {
    match life.origin {
        Origin::Accept => return Some(Side::Server),
        Origin::Socket => return Some(Side::Client),
        _ => {}
    }
    if let Some(role) = role_by_path(life) {
        return Some(side_at(role));
    }
    // Where one end is not known, the role would be a guess.
    let known = life.peer().and_then(port_of).is_some() && life.local().and_then(port_of).is_some();
    known.then(|| side_at(role_of(life, world)))
}

/// The end that this program is, by what is at the other.
fn side_at(other: Role) -> Side {
    match other {
        Role::Client => Side::Server,
        Role::Server => Side::Client,
    }
}

/// What a record of TLS begins with (RFC 8446, 5.1): its kind, and version 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tls {
    /// Handshake, alert or change of cipher.
    Control,
    /// Application data.
    Data,
}

pub(super) fn tls_record(head: &[u8]) -> Option<Tls> {
    match head {
        [20..=22, 3, 0..=4, ..] => Some(Tls::Control),
        [23, 3, 0..=4, ..] => Some(Tls::Data),
        _ => None,
    }
}
