//! Peers: whom the program talks to, how often it connects, how long answers take, what fails.
//!
//! A server is known by its address, a client by its host (its port is another one for each connection).
//! Only sockets whose other end is known count: from connect, accept, lsof or `-yy`; and those that were accepted without asking for it.

mod connection;
mod counted;
mod handshake;
mod merged;
mod role;
mod syn_retries;
#[cfg(test)]
mod tests;

use crate::Fold;
use crate::exemplar::{Exemplar, Exemplars};
use crate::world::fds::{FdLife, Origin};
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use connection::{Connection, Found};
pub use counted::{CountedPeer, CountedPeers};
pub use handshake::Handshakes;
use hashbrown::HashMap;
pub(crate) use role::role_by_path;
pub use role::role_of;
pub use syn_retries::SynRetries;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Moves, Waits as Waiting};
use whyslow_model::{CallStats, Errno, FdKind, Nanos, Syscall, Timestamp};

/// The port of name servers (RFC 1035).
pub const DNS_PORT: u16 = 53;

/// What the other end is to this program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// It is asked by this program.
    Server,
    /// It asks this program.
    Client,
}

/// What is known of one peer.
#[derive(Clone, Debug)]
pub struct PeerFacts {
    /// Whose peer it is; `None` where it is that of several processes.
    pub process: Option<ProcessId>,
    /// The address of a server (`10.0.0.1:6379`, `/run/x.sock`); the host of a client.
    pub name: Box<str>,
    /// What it is to this program.
    pub role: Role,
    /// The kind of its sockets.
    pub kind: FdKind,
    /// What the first request to it looks like: `Redis`, `HTTP`, `TLS`, `DNS`.
    pub protocol: Option<&'static str>,
    /// The host that the first connection with TLS asked it for.
    pub host: Option<Box<str>>,
    /// Attempts to connect that were decided: their time reaches from connect to its result, also where that
    /// came later (EINPROGRESS).
    pub connects: CallStats,
    /// Attempts that failed, by error.
    pub failures: Vec<(Errno, u64)>,
    /// Attempts that were still undecided when their socket was closed: the program gave up, or another
    /// address was faster.
    pub abandoned: CallStats,
    /// Connections that were made or accepted within the capture.
    pub opened: u64,
    /// Of these, closed within the capture.
    pub closed: u64,
    /// Requests on those that were closed.
    pub requests_of_closed: u64,
    /// The fewest and the most of them on one connection; `None` where none was closed.
    pub requests_on_closed: Option<(u64, u64)>,
    /// Requests: one for each turn from reading to writing (server) or from writing to reading (client). The
    /// messages of a TLS handshake are none.
    pub requests: u64,
    /// From connect to the first request: what a new connection costs (server).
    pub setup: CallStats,
    /// From the first byte of a request sent to the first of its answer (server), or from the end of the
    /// request's first read to the first write of the answer (client).
    pub answers: CallStats,
    /// Requests that got no answer until a time limit passed or the program gave up (server).
    pub unanswered: Unanswered,
    /// Requests within which it waited for an answer until its own limit ended that, and then sent more.
    pub paused: Paused,
    /// Handshakes of TLS.
    pub handshakes: Handshakes,
    /// Connects for which a SYN had to be sent again.
    pub syn_retries: SynRetries,
    /// Bytes sent to it.
    pub sent: u64,
    /// Bytes received from it.
    pub received: u64,
    /// Time in waits for it alone, ns. Waits for several descriptors are not in it.
    pub wait_ns: u64,
    /// Connections that it closed (a read returned 0).
    pub ended_by_peer: u64,
    /// The first thread that used it.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// First use.
    pub first: Timestamp,
    /// Last use.
    pub last: Timestamp,
    /// Lines of attempts that failed.
    pub failed_lines: Exemplars,
    /// Lines of connects.
    pub connect_lines: Exemplars,
}

/// Requests without an answer.
#[derive(Clone, Debug, Default)]
pub struct Unanswered {
    /// How often.
    pub count: u64,
    /// Time waited for them, ns.
    pub waited_ns: u64,
    /// The longest.
    pub longest: Option<Box<NoAnswer>>,
    /// Threads other than that of the first one waited too.
    pub shared: bool,
    /// The thread of the first one.
    pub tid: Tid,
}

/// Pauses within requests.
#[derive(Clone, Debug, Default)]
pub struct Paused {
    /// How often.
    pub count: u64,
    /// Time in them, ns.
    pub waited_ns: u64,
    /// The first wait of a tenth of a second and more.
    pub line: Option<Exemplar>,
}

impl Paused {
    fn merge(&mut self, other: &Paused) {
        self.count = self.count.saturating_add(other.count);
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        self.line = self.line.take().or_else(|| other.line.clone());
    }
}

/// A request that got no answer.
#[derive(Clone, Debug)]
pub struct NoAnswer {
    /// What was asked, named: `ZCARD relation:fans:7`, `example.com`; `None` where the payload tells nothing.
    pub asked: Option<String>,
    /// The thread.
    pub tid: Tid,
    /// The descriptor.
    pub fd: i32,
    /// When it was sent.
    pub sent: Timestamp,
    /// How long the program waited.
    pub waited: Nanos,
    /// The wait whose time limit passed.
    pub wait_line: Option<Exemplar>,
    /// What gave it up: the close, or the next attempt.
    pub end_line: Exemplar,
}

impl PeerFacts {
    /// A connect to it that was under way when the capture began. Of a far host nobody tells how long the way is.
    fn found(&mut self, found: Found) {
        if is_loopback_address(&self.name) {
            self.syn_retries.found(found.took, found.line);
        }
    }

    fn new(process: Option<ProcessId>, name: Box<str>, role: Role, kind: FdKind) -> PeerFacts {
        PeerFacts {
            process,
            name,
            role,
            kind,
            protocol: None,
            host: None,
            connects: CallStats::default(),
            failures: Vec::new(),
            abandoned: CallStats::default(),
            opened: 0,
            closed: 0,
            requests_of_closed: 0,
            requests_on_closed: None,
            requests: 0,
            setup: CallStats::default(),
            answers: CallStats::default(),
            unanswered: Unanswered::default(),
            paused: Paused::default(),
            handshakes: Handshakes::default(),
            syn_retries: SynRetries::default(),
            sent: 0,
            received: 0,
            wait_ns: 0,
            ended_by_peer: 0,
            tid: 0,
            shared: false,
            first: Timestamp::UNKNOWN,
            last: Timestamp::UNKNOWN,
            failed_lines: Exemplars::default(),
            connect_lines: Exemplars::default(),
        }
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        self.connects.errors
    }

    /// Attempts that succeeded.
    pub fn succeeded(&self) -> u64 {
        self.connects.count - self.connects.errors
    }

    /// The error that most attempts failed with.
    pub fn main_failure(&self) -> Option<Errno> {
        self.failures.iter().max_by_key(|(_, count)| *count).map(|(errno, _)| *errno)
    }

    /// The port of an internet address.
    pub fn port(&self) -> Option<u16> {
        port_of(&self.name)
    }

    /// The thread that used it, where it was a single one.
    pub fn only_thread(&self) -> Option<Tid> {
        Some(self.tid).filter(|_| !self.shared)
    }

    /// From first to last use; unknown without a clock.
    pub fn span(&self) -> Nanos {
        self.last.since(self.first)
    }

    fn see(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        if !self.first.is_known() {
            self.first = call.ts;
        }
        if call.ts.is_known() {
            self.last = call.ts;
        }
        if self.tid == 0 {
            self.tid = call.tid;
        }
        self.shared |= self.tid != call.tid;
    }

    fn failed_with(&mut self, errno: Errno) {
        /// There are fewer errors than this that connect returns (connect(2)).
        const MOST: usize = 16;
        match self.failures.iter().position(|(known, _)| *known == errno) {
            Some(at) => self.failures[at].1 += 1,
            None if self.failures.len() < MOST => self.failures.push((errno, 1)),
            None => {}
        }
    }
}

/// All peers, and the connections to them. Bounded: past the cap new peers share one row for each role.
#[derive(Debug, Default)]
pub struct Peers {
    /// A row a process and peer.
    peers: Vec<PeerFacts>,
    /// A row a peer; known once [`Peers::finish`] was called.
    merged: Vec<PeerFacts>,
    index: HashMap<(Role, Option<ProcessId>, Box<str>), u32>,
    /// By the place of their life.
    connections: Vec<Connection>,
    /// Connects that were under way when the capture began, until their peer is known.
    found: Vec<Found>,
    /// What the kernel added up.
    pub counted: CountedPeers,
}

impl Peers {
    /// Peers kept apart. A row is about 1 KiB.
    const MAX_PEERS: usize = 4096;
    /// Past this many rows the processes that still come share one for each peer.
    const MAX_BY_PROCESS: usize = 2048;

    /// Connects found under way that are kept until their peer is known.
    const MAX_FOUND: usize = 256;

    /// All peers, of all processes together, in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = &PeerFacts> {
        self.merged.iter()
    }

    /// All peers of each process, in order of appearance.
    pub fn by_process(&self) -> impl Iterator<Item = &PeerFacts> {
        self.peers.iter()
    }

    /// The servers that the program asks.
    pub fn servers(&self) -> impl Iterator<Item = &PeerFacts> {
        self.merged.iter().filter(|peer| peer.role == Role::Server)
    }

    /// Connections whose peer closed its end (a read returned 0) and that the program did not use since, each
    /// with the descriptor's life and the time of that read.
    pub fn left_open<'a>(&'a self, world: &'a World) -> impl Iterator<Item = (&'a FdLife, Timestamp)> {
        let kept =
            self.connections.iter().filter(|connection| connection.ended && !connection.used_since_end);
        kept.filter_map(|connection| world.fds.get(connection.life))
            .filter(|life| life.was_left_open() && life.end_seen)
            .map(|life| (life, life.end_seen_at))
    }

    /// Settles what was not: connections that ended by an exit, an exec or a close in two halves.
    pub(crate) fn finish(&mut self, world: &World) {
        for connection in &mut self.connections {
            if world.fds.get(connection.life).is_none_or(|life| !life.is_open()) {
                connection.count_closed(&mut self.peers);
            }
        }
        for found in std::mem::take(&mut self.found) {
            // Nothing tells where it leads: to the one server, where its process connects to no other.
            let asks = |peer: &&mut PeerFacts| {
                peer.role == Role::Server
                    && peer.process == Some(found.process)
                    && peer.connect_lines.iter().next().is_some()
            };
            let mut servers = self.peers.iter_mut().filter(asks);
            if let (Some(server), None) = (servers.next(), servers.next()) {
                server.found(found);
            }
        }
        self.merged = merged::by_name(&self.peers);
    }

    fn peer_at(&mut self, process: ProcessId, role: Role, name: &str, kind: FdKind) -> u32 {
        let name = match role {
            Role::Client => host_of(name),
            Role::Server => name,
        };
        let mut key = (role, Some(process), Box::from(name));
        if let Some(at) = self.index.get(&key) {
            return *at;
        }
        if self.peers.len() >= Self::MAX_BY_PROCESS {
            key.1 = None;
            if let Some(at) = self.index.get(&key) {
                return *at;
            }
        }
        if self.peers.len() >= Self::MAX_PEERS {
            key.2 = "(other peers)".into();
            if let Some(at) = self.index.get(&key) {
                return *at;
            }
        }
        let at = self.peers.len() as u32;
        self.peers.push(PeerFacts::new(key.1, key.2.clone(), role, kind));
        self.index.insert(key, at);
        at
    }

    /// The connection of `seen`, with its peer looked up; `None` where there is no socket.
    fn connection(&mut self, seen: &Seen<'_>, world: &World) -> Option<usize> {
        let id = seen.life?;
        let at = id.place();
        if at >= self.connections.len() {
            self.connections.resize_with(at + 1, Connection::default);
        }
        if self.connections[at].life != id {
            // The life that was here is gone: what is still to be said of it is its end.
            self.connections[at].count_closed(&mut self.peers);
            self.connections[at] = Connection::new(id);
        }
        if self.connections[at].peer.is_none() {
            self.connections[at].peer = self.find_peer(seen, id, world);
        }
        Some(at)
    }

    #[cold]
    fn find_peer(&mut self, seen: &Seen<'_>, id: LifeId, world: &World) -> Option<u32> {
        let life = world.fds.get(id)?;
        let role = role_of(life, world);
        if let Some(name) = life.peer() {
            return Some(self.peer_at(seen.process, role, name, life.kind));
        }
        if life.kind == FdKind::Udp {
            // Not connected: each datagram names where it goes.
            let (_, name) = crate::args::sockets::address(seen.call.args)?;
            return Some(self.peer_at(seen.process, Role::Server, &name, life.kind));
        }
        if matches!(life.kind, FdKind::Tcp | FdKind::Socket) && life.origin == Origin::Accept {
            // Accepted without asking who it is (accept(2): a null pointer), as libuv does. On the loopback it is this host.
            let local = life.local().map(host_of).filter(|host| is_loopback(host));
            return Some(self.peer_at(seen.process, role, local.unwrap_or(UNKNOWN_CLIENT), life.kind));
        }
        None
    }
}

/// The name of clients whose address nobody asked for.
const UNKNOWN_CLIENT: &str = "an unknown address";

impl Fold for Peers {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || is_poll(syscall)
            || matches!(
                syscall,
                Syscall::CONNECT
                    | Syscall::GETSOCKOPT
                    | Syscall::CLOSE
                    | Syscall::ACCEPT
                    | Syscall::ACCEPT4
                    | Syscall::SENDMMSG
                    | Syscall::RECVMMSG
            )
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if is_poll(seen.call.syscall) {
            return self.polled(seen, world);
        }
        if !seen.kind.is_socket() || seen.kind == FdKind::Netlink {
            return;
        }
        if seen.call.syscall == Syscall::CONNECT
            && let Some(id) = seen.life
            && let Some(connection) = self.connections.get_mut(id.place()).filter(|known| known.life == id)
            && !connection.is_connecting()
        {
            // Another attempt may go to another address.
            connection.peer = None;
        }
        let Some(at) = self.connection(seen, world) else { return };
        let connection = &mut self.connections[at];
        if !connection.is_used() {
            let first = began_before(seen, world);
            self.found
                .extend(connection.begins_with(seen, first).filter(|_| self.found.len() < Self::MAX_FOUND));
        }
        let Some(peer) = connection.peer.and_then(|peer| self.peers.get_mut(peer as usize)) else { return };
        peer.see(seen);
        if let Some(at) = self.found.iter().position(|found| found.life == connection.life) {
            peer.found(self.found.swap_remove(at));
        }
        if seen.call.syscall.info().waits != Waiting::Never && seen.waits.is_some() {
            peer.wait_ns = peer.wait_ns.saturating_add(seen.call.dur.or_zero());
        }
        match seen.call.syscall {
            Syscall::CONNECT => connection.connect(seen, peer),
            // They return a number of datagrams, not of bytes.
            Syscall::SENDMMSG => connection.write(seen, peer),
            Syscall::RECVMMSG => connection.read(seen, peer),
            Syscall::GETSOCKOPT => connection.asked_result(seen, peer),
            Syscall::ACCEPT | Syscall::ACCEPT4 if seen.call.ok().is_some() => {
                connection.opened_here = true;
                peer.opened += 1;
            }
            Syscall::CLOSE => {
                if world.fds.get(connection.life).is_none_or(|life| !life.is_open()) {
                    connection.close(seen, peer);
                    connection.count_closed(&mut self.peers);
                }
            }
            syscall => match syscall.info().moves {
                Moves::Read => connection.read(seen, peer),
                Moves::Write | Moves::Move => connection.write(seen, peer),
                Moves::None => {}
            },
        }
    }
}

/// Since when at least a connect lasts whose result is asked for: since the first call of its thread, where that has made few since, and its
/// process was there before. Later on the connect may be one that was not recorded.
#[cold]
fn began_before(seen: &Seen<'_>, world: &World) -> Timestamp {
    /// A loop asks for the results of all its connects after the one wait for them.
    const FEW: u64 = 64;
    let is_new = world.threads.known_process(seen.process).is_none_or(|process| process.started);
    let thread = world.threads.thread_of(seen.call.tid).filter(|thread| thread.calls <= FEW && !is_new);
    thread.map_or(Timestamp::UNKNOWN, |thread| thread.first)
}

impl Peers {
    /// A wait for a single descriptor belongs to its peer.
    fn polled(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let Some(fd) = crate::args::poll::polled_fd(call.args) else { return };
        let slots = &world.threads.process(seen.process).slots;
        let Some(id) = slots.get(fd) else { return };
        let Some(connection) = self.connections.get_mut(id.place()).filter(|known| known.life == id) else {
            return;
        };
        let Some(peer) = connection.peer.and_then(|peer| self.peers.get_mut(peer as usize)) else { return };
        peer.wait_ns = peer.wait_ns.saturating_add(call.dur.or_zero());
        if call.ret_note.starts_with(b"(Timeout)") {
            connection.timed_out(seen);
        }
    }
}

fn is_poll(syscall: Syscall) -> bool {
    matches!(
        syscall,
        Syscall::POLL | Syscall::PPOLL | Syscall::SELECT | Syscall::NEWSELECT | Syscall::PSELECT6
    )
}

/// The port behind the last colon of an internet address.
pub fn port_of(address: &str) -> Option<u16> {
    if address.starts_with('/') || address.starts_with('@') {
        return None;
    }
    address.rsplit_once(':')?.1.parse().ok()
}

/// True for an address and port that lead to nobody but the own host.
pub fn is_loopback_address(address: &str) -> bool {
    is_loopback(host_of(address))
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let host = plain(host);
    host.starts_with("127.") || host == "::1" || host == "localhost"
}

/// Without brackets, and an IPv4 address without its wrapping in an IPv6 one (RFC 4291, 2.5.5.2).
pub(crate) fn plain(host: &str) -> &str {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.strip_prefix("::ffff:").unwrap_or(host)
}

/// An address without its port.
pub fn host_of(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((host, _)) if port_of(address).is_some() => host,
        _ => address,
    }
}
