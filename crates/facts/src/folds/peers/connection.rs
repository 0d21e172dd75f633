//! One connection: what was asked on it, and whether an answer came.

use super::handshake::Handshake;
use super::{NoAnswer, PeerFacts, Role};
use crate::args::payload;
use crate::exemplar::Exemplar;
use crate::world::Seen;
use crate::world::ids::{LifeId, ProcessId};
use whyslow_model::{Errno, FdKind, Nanos, Syscall, Timestamp, text};

/// A wait for an answer shorter than this was no time limit: programs poll in small steps.
const SHORTEST_LIMIT_NS: u64 = 100_000_000;
/// A datagram sent again after this time means that no answer came; resolvers wait 5 s (resolv.conf(5)),
/// others 1 s and more.
const RESEND_NS: u64 = 900_000_000;

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) life: LifeId,
    pub(super) peer: Option<u32>,
    pub(super) opened_here: bool,
    /// A read returned 0.
    pub(super) ended: bool,
    /// It was written to or shut down after that.
    pub(super) used_since_end: bool,
    counted_closed: bool,
    /// Connect is under way since then.
    connecting: Option<Timestamp>,
    /// The capture has more of it than the questions for the result of a connect.
    used: bool,
    /// The last connect, until the first request.
    setup_from: Timestamp,
    turn: Turn,
    requests: u64,
    /// When the request (server) or its first read (client) was.
    since: Timestamp,
    /// What the request begins with.
    head: Option<Box<Head>>,
    /// Waits for its answer whose time limit passed, ns.
    timed_out_ns: u64,
    timed_out_line: Option<Box<Exemplar>>,
    /// Of that time, what passed before more of the request was sent, ns.
    paused_ns: u64,
    /// It was read since its first request, and had nothing: who does that waits for an answer, in a loop whose limits do not show. Where
    /// something came before, what was sent last may have been no request (an acknowledgement, a farewell).
    looked: bool,
    heard: bool,
    handshake: Handshake,
}

/// A connect that was under way when the capture began.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) life: LifeId,
    pub(super) process: ProcessId,
    /// As much of it as was seen.
    pub(super) took: Nanos,
    /// What told of its end.
    pub(super) line: Exemplar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Nothing,
    Sent,
    Received,
}

/// The first bytes of a payload as strace prints them, from its quote on.
#[derive(Debug)]
struct Head {
    len: u8,
    bytes: [u8; Head::SIZE],
}

impl Head {
    /// Enough for a command with its key, or a DNS header (12 bytes, up to 4 characters each) with its name.
    const SIZE: usize = 160;

    fn take(&mut self, args: &[u8]) {
        let from = memchr::memchr(b'"', args).unwrap_or(args.len());
        let payload = &args[from..args.len().min(from + Head::SIZE)];
        self.bytes[..payload.len()].copy_from_slice(payload);
        self.len = payload.len() as u8;
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

impl Default for Connection {
    fn default() -> Self {
        Connection {
            life: LifeId::NONE,
            peer: None,
            opened_here: false,
            ended: false,
            used_since_end: false,
            counted_closed: false,
            connecting: None,
            used: false,
            setup_from: Timestamp::UNKNOWN,
            turn: Turn::Nothing,
            requests: 0,
            since: Timestamp::UNKNOWN,
            head: None,
            timed_out_ns: 0,
            timed_out_line: None,
            paused_ns: 0,
            looked: false,
            heard: false,
            handshake: Handshake::default(),
        }
    }
}

impl Connection {
    pub(super) fn new(life: LifeId) -> Connection {
        Connection { life, ..Connection::default() }
    }

    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    pub(super) fn is_connecting(&self) -> bool {
        self.connecting.is_some()
    }

    pub(super) fn connect(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        let call = seen.call;
        // A datagram socket's connect only sets an address.
        if seen.kind == FdKind::Udp {
            return;
        }
        peer.connect_lines.see(call);
        match call.errno {
            Errno::EINPROGRESS => {
                self.connecting = Some(call.ts);
                self.setup_from = call.ts;
            }
            EALREADY => {}
            EISCONN => self.connected(seen, call.end(), Nanos::ZERO, peer),
            Errno::NONE if self.is_connecting() => self.connected(seen, call.end(), Nanos::ZERO, peer),
            Errno::NONE => {
                self.setup_from = call.ts;
                self.connected(seen, call.ts, call.dur, peer);
            }
            errno if errno.is_restart() || errno == Errno::EINTR => self.connecting = Some(call.ts),
            errno => self.connect_failed(seen, errno, peer),
        }
    }

    /// Takes the first that the capture has of a connection. Where that asks for the result of a connect, one was under way when the capture
    /// began: since `first`, of its thread, at least.
    pub(super) fn begins_with(&mut self, seen: &Seen<'_>, first: Timestamp) -> Option<Found> {
        self.used = true;
        let call = seen.call;
        let is_end = call.syscall == Syscall::GETSOCKOPT && socket_error(call.args) == Some(Errno::NONE);
        let took = call.ts.since(first);
        let found = || Found { life: self.life, process: seen.process, took, line: Exemplar::of(call) };
        (is_end && !self.is_connecting() && took.is_known()).then(found)
    }

    /// `getsockopt(3, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4])`: the result of a connect under way.
    pub(super) fn asked_result(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        if !self.is_connecting() {
            return;
        }
        match socket_error(seen.call.args) {
            Some(Errno::NONE) => self.connected(seen, seen.call.ts, Nanos::ZERO, peer),
            Some(errno) => self.connect_failed(seen, errno, peer),
            None => {}
        }
    }

    fn connected(&mut self, seen: &Seen<'_>, at: Timestamp, dur: Nanos, peer: &mut PeerFacts) {
        let took = self.connecting.take().map_or(dur, |since| at.since(since));
        if seen.kind != FdKind::Unix {
            peer.syn_retries.made(took, seen.call);
        }
        peer.connects.record(took, false, 0);
        peer.opened += 1;
        self.opened_here = true;
    }

    fn connect_failed(&mut self, seen: &Seen<'_>, errno: Errno, peer: &mut PeerFacts) {
        let took = self.connecting.take().map_or(seen.call.dur, |since| seen.call.ts.since(since));
        if errno == Errno::ETIMEDOUT {
            peer.syn_retries.in_vain(took, seen.call);
        }
        peer.connects.record(took, true, 0);
        peer.failed_with(errno);
        peer.failed_lines.see(seen.call);
    }

    pub(super) fn read(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        let call = seen.call;
        if self.is_connecting() && is_connect_error(call.errno) {
            return self.connect_failed(seen, call.errno, peer);
        }
        if call.failed() {
            self.looked |= call.errno == Errno::EAGAIN && self.turn == Turn::Sent && !self.heard;
            // SO_RCVTIMEO: a read that waited and found nothing.
            if call.errno == Errno::EAGAIN && call.dur.or_zero() >= SHORTEST_LIMIT_NS {
                self.timed_out(seen);
            }
            return;
        }
        peer.received = peer.received.saturating_add(seen.bytes);
        self.heard |= seen.bytes > 0;
        if seen.bytes == 0 && (call.syscall != Syscall::RECVMMSG || call.ok() == Some(0)) {
            if call.ok() == Some(0) && !self.ended {
                self.ended = true;
                peer.ended_by_peer += 1;
            }
            return;
        }
        match peer.role {
            Role::Server => {
                self.handshake.answer(seen);
                if self.turn == Turn::Sent {
                    peer.answers.record(call.end().since(self.since), false, 0);
                }
                (self.timed_out_ns, self.timed_out_line, self.paused_ns) = (0, None, 0);
            }
            Role::Client => {
                self.handshake.is_asked(seen, &mut peer.handshakes);
                if self.turn != Turn::Received {
                    self.requests += 1;
                    peer.requests += 1;
                    self.since = call.end();
                }
            }
        }
        self.turn = Turn::Received;
    }

    pub(super) fn write(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        let call = seen.call;
        self.used_since_end |= self.ended;
        if self.is_connecting() && is_connect_error(call.errno) {
            return self.connect_failed(seen, call.errno, peer);
        }
        if call.failed() {
            return;
        }
        if self.is_connecting() {
            self.connected(seen, call.ts, Nanos::ZERO, peer);
        }
        peer.sent = peer.sent.saturating_add(seen.bytes);
        match peer.role {
            Role::Server => {
                self.handshake.asks(seen, &mut peer.handshakes);
                self.ask(seen, peer)
            }
            Role::Client => {
                self.handshake.answer(seen);
                if self.turn == Turn::Received {
                    peer.answers.record(call.ts.since(self.since), false, 0);
                }
                self.turn = Turn::Sent;
            }
        }
    }

    /// Something is sent to a server: the beginning of a request, or more of it.
    fn ask(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        let call = seen.call;
        if self.turn == Turn::Sent {
            let silent_ns = call.ts.since(self.since).or_zero();
            let again = self.is_awaited_datagram(seen, peer) && silent_ns >= resend_ns(peer);
            if !again {
                return self.paused(peer);
            }
            self.give_up(seen, peer);
        }
        self.turn = Turn::Sent;
        self.since = call.ts;
        self.looked = false;
        (self.timed_out_ns, self.timed_out_line, self.paused_ns) = (0, None, 0);
        let head = self.head.get_or_insert_with(|| Box::new(Head { len: 0, bytes: [0; Head::SIZE] }));
        head.take(call.args);
        let handshake = is_tls_handshake(head.text());
        if peer.protocol.is_none() && peer.requests == 0 {
            peer.protocol = if handshake {
                Some("TLS")
            } else if seen.kind == FdKind::Udp && peer.port() == Some(53) {
                Some("DNS")
            } else {
                payload::protocol(head.text())
            };
        }
        if handshake {
            if peer.host.is_none() {
                peer.host = payload::tls_server_name(call.args).map(Into::into);
            }
            return;
        }
        self.requests += 1;
        peer.requests += 1;
        if self.opened_here && self.requests == 1 {
            peer.setup.record(call.ts.since(self.setup_from), false, 0);
        }
    }

    /// A wait for this connection alone ended by its time limit.
    pub(super) fn timed_out(&mut self, seen: &Seen<'_>) {
        if self.turn != Turn::Sent {
            return;
        }
        self.timed_out_ns = self.timed_out_ns.saturating_add(seen.call.dur.or_zero());
        if self.timed_out_line.is_none() && seen.call.dur.or_zero() >= SHORTEST_LIMIT_NS {
            self.timed_out_line = Some(Box::new(Exemplar::of(seen.call)));
        }
    }

    pub(super) fn close(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        if let Some(since) = self.connecting.take() {
            let took = seen.call.ts.since(since);
            if seen.kind != FdKind::Unix {
                peer.syn_retries.in_vain(took, seen.call);
            }
            peer.abandoned.record(took, false, 0);
            peer.failed_lines.see(seen.call);
            return;
        }
        let unanswered_ns = seen.call.ts.since(self.since).or_zero();
        let lone_datagram = self.is_awaited_datagram(seen, peer) && unanswered_ns >= resend_ns(peer);
        let in_a_loop = self.looked && !self.heard && !self.ended && unanswered_ns >= SHORTEST_LIMIT_NS;
        let timed_out = self.timed_out_ns >= SHORTEST_LIMIT_NS;
        if self.turn == Turn::Sent && (timed_out || in_a_loop || lone_datagram) {
            self.give_up(seen, peer);
        }
    }

    /// True for a datagram whose answer was asked for. Figures, logs and frames are sent by datagrams that nobody answers; a query of names always
    /// has an answer.
    fn is_awaited_datagram(&self, seen: &Seen<'_>, peer: &PeerFacts) -> bool {
        let was_asked_for = || self.looked || self.timed_out_ns > 0;
        is_datagram(seen.kind, peer) && (peer.port() == Some(super::DNS_PORT) || was_asked_for())
    }

    /// More of the request is sent. Where it waited for an answer before that, the request was held back.
    fn paused(&mut self, peer: &mut PeerFacts) {
        /// Shorter limits are those of a loop that looks at something else meanwhile.
        const SHORTEST_NS: u64 = 20_000_000;
        let waited = self.timed_out_ns.saturating_sub(self.paused_ns);
        if waited >= SHORTEST_NS && self.requests > 0 {
            peer.paused.count += 1;
            peer.paused.waited_ns = peer.paused.waited_ns.saturating_add(waited);
            let line = self.timed_out_line.as_deref().cloned();
            peer.paused.line = peer.paused.line.take().or(line);
            self.paused_ns = self.timed_out_ns;
        }
    }

    /// The program no longer waits for an answer to what it sent.
    fn give_up(&mut self, seen: &Seen<'_>, peer: &mut PeerFacts) {
        if peer.role != Role::Server {
            return;
        }
        let waited = match self.timed_out_ns {
            0 => seen.call.ts.since(self.since),
            ns => Nanos::new(ns),
        };
        let unanswered = &mut peer.unanswered;
        unanswered.count += 1;
        unanswered.waited_ns += waited.or_zero();
        if unanswered.tid == 0 {
            unanswered.tid = seen.call.tid;
        }
        unanswered.shared |= unanswered.tid != seen.call.tid;
        if unanswered.longest.as_ref().is_none_or(|longest| waited > longest.waited) {
            let head = self.head.as_ref().map_or(&b""[..], |head| head.text());
            unanswered.longest = Some(Box::new(NoAnswer {
                asked: payload::label(head).or_else(|| {
                    (peer.protocol == Some("DNS")).then(|| payload::dns_question(head)).flatten()
                }),
                tid: seen.call.tid,
                fd: seen.fd.unwrap_or(-1),
                sent: self.since,
                waited,
                wait_line: self.timed_out_line.take().map(|line| *line),
                end_line: Exemplar::of(seen.call),
            }));
        }
        (self.timed_out_ns, self.timed_out_line, self.paused_ns) = (0, None, 0);
        self.turn = Turn::Nothing;
    }

    pub(super) fn count_closed(&mut self, peers: &mut [PeerFacts]) {
        if !self.opened_here || self.counted_closed {
            return;
        }
        self.counted_closed = true;
        if let Some(peer) = self.peer.and_then(|peer| peers.get_mut(peer as usize)) {
            peer.closed += 1;
            peer.requests_of_closed += self.requests;
            peer.closed_with(self.requests, self.requests);
        }
    }
}

/// True for datagrams; a name server is asked by them unless its socket is known to be a stream.
fn is_datagram(kind: FdKind, peer: &PeerFacts) -> bool {
    kind == FdKind::Udp || kind == FdKind::Socket && peer.port() == Some(super::DNS_PORT)
}

/// After this time a datagram without an answer has got none, ns. A query of names always has an answer: resolvers give each server as
/// long as they are told to, which may be less than the usual second.
fn resend_ns(peer: &PeerFacts) -> u64 {
    if peer.port() == Some(super::DNS_PORT) { SHORTEST_LIMIT_NS } else { RESEND_NS }
}

const EALREADY: Errno = Errno(114);
const EISCONN: Errno = Errno(106);

/// Errors that tell that a connect under way has failed.
fn is_connect_error(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::ECONNREFUSED
            | Errno::EHOSTUNREACH
            | Errno::ENETUNREACH
            | Errno::ETIMEDOUT
            | Errno::ECONNRESET
            | Errno::EPIPE
    )
}

/// The error in `3, SOL_SOCKET, SO_ERROR, [111], [4]`: a number (strace before 4.16) or a name.
fn socket_error(args: &[u8]) -> Option<Errno> {
    let from = memchr::memmem::find(args, b"SO_ERROR, [")? + b"SO_ERROR, [".len();
    let rest = &args[from..];
    let value = &rest[..memchr::memchr(b']', rest)?];
    match text::decimal(value) {
        Some((number, _)) => u16::try_from(number).ok().map(Errno),
        None => Some(Errno::lookup(value)),
    }
}

/// A TLS record of the handshake kind (22) and version 3, as strace escapes it.
fn is_tls_handshake(head: &[u8]) -> bool {
    head.starts_with(br#""\26\3"#) || head.starts_with(br#""\x16\x03"#)
}
