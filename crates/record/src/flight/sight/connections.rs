//! Connections and the requests on them, from the bytes that each call moved, by the decoders of `whyslow_wire`.

use super::opens::{Does, does};
use super::{Moved, SeenRequest, SeenSide, Sight, waits_for_work};
use crate::bpf::reduce::is_payload;
use crate::clock::Clock;
use crate::decode::table;
use crate::raw::{RawCall, pieces};
use std::collections::HashMap;
use std::time::Duration;
use whyslow_model::{FdEntry, FdKind, Nanos};
use whyslow_wire::{Chunk, Connection as Wire, Direction, Key, Status, Step};

/// Descriptors that are known at once, of all processes.
const MOST: usize = 16_384;
/// Requests that are open on one connection.
const MOST_OPEN: usize = 64;
/// Chunks from which the side of a connection could not be told; then it is looked at no more.
const MOST_STRANGE: u8 = 16;

/// A process's descriptor.
type Place = (u32, u32);

#[derive(Default)]
pub(super) struct Connections {
    known: HashMap<Place, Descriptor>,
    steps: Vec<Step>,
    head: Vec<u8>,
}

enum Descriptor {
    Connection(Box<Conversation>),
    /// No connection, of this kind.
    Other(FdKind),
}

/// One connection.
#[derive(Default)]
struct Conversation {
    side: Option<SeenSide>,
    /// Of the server.
    port: Option<u16>,
    wire: Option<Wire>,
    strange: u8,
    open: Vec<Open>,
    /// Answered so far: one that never was may not be what it is taken for.
    answered: u64,
}

/// A request under way.
struct Open {
    key: Key,
    began: u64,
    endpoint: String,
    status: Option<Status>,
    /// The last byte of its answer so far.
    answer: Option<u64>,
    one_way: bool,
    unclear: bool,
    /// It was told of as one that is open for long.
    told: bool,
}

impl Connections {
    /// What descriptors are now. Of those that are known already nothing changes.
    pub(super) fn learn(&mut self, entries: &[FdEntry]) {
        // Connections first: of what else is open there may be more than there is room for.
        let is_stream = |entry: &&FdEntry| matches!(entry.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket);
        let others = entries.iter().filter(|entry| !is_stream(entry));
        for entry in entries.iter().filter(is_stream).chain(others) {
            let (Some(pid), Some(fd)) = (entry.pid, entry.fd.and_then(|fd| u32::try_from(fd).ok())) else {
                continue;
            };
            let place = (pid, fd);
            if entry.tid.is_some_and(|tid| tid != pid) || self.known.len() >= MOST {
                continue;
            }
            self.known.entry(place).or_insert_with(|| {
                if !is_stream(&entry) {
                    return Descriptor::Other(entry.kind);
                }
                let port = |text: &str| text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
                let ends = entry.ends.as_ref();
                // Of a connection either end may be the server; of a listening socket there is but one.
                let peer = ends.and_then(|ends| ends.peer.as_deref()).and_then(port);
                let local = ends.and_then(|ends| ends.local.as_deref()).and_then(port);
                let port = match (local, peer) {
                    // The lower one, outside of the ports that clients are given (ip_local_port_range).
                    (Some(local), Some(peer)) => Some(local.min(peer)).filter(|port| *port < 32_768),
                    (local, peer) => local.or(peer),
                };
                Descriptor::Connection(Box::new(Conversation { port, ..Conversation::default() }))
            });
        }
    }

    /// A process ended: so did what it had open.
    pub(super) fn process_ended(&mut self, pid: u32) {
        self.known.retain(|(of, _), _| *of != pid);
    }

    /// A process has what its parent had: what is listening, for the ports.
    pub(super) fn forked(&mut self, parent: u32, child: u32) {
        let listening: Vec<(u32, u16)> = self
            .known
            .iter()
            .filter_map(|((pid, fd), descriptor)| match descriptor {
                Descriptor::Connection(of) if *pid == parent && of.wire.is_none() => Some((*fd, of.port?)),
                _ => None,
            })
            .collect();
        for (fd, port) in listening {
            self.insert((child, fd), Conversation { port: Some(port), ..Conversation::default() });
        }
    }

    fn insert(&mut self, place: Place, conversation: Conversation) {
        if self.known.len() < MOST || self.known.contains_key(&place) {
            self.known.insert(place, Descriptor::Connection(Box::new(conversation)));
        }
    }

    /// True where the call reads from what tells of work, or from a connection on which nothing was asked: its client may send when it
    /// likes.
    pub(super) fn is_idle(&self, pid: u32, call: &RawCall<'_>) -> bool {
        if does(call) != Does::Reads {
            return false;
        }
        match self.known.get(&(pid, call.args[0] as u32)) {
            Some(Descriptor::Other(kind)) => waits_for_work(*kind),
            Some(Descriptor::Connection(of)) => of.side != Some(SeenSide::Client) || of.open.is_empty(),
            None => true,
        }
    }

    /// Takes a call. `requests`: they are asked for, and not only what descriptors are.
    pub(super) fn call(
        &mut self,
        moved: &Moved<'_>,
        requests: bool,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) {
        let call = moved.call;
        let fd = call.args[0] as u32;
        let place = (moved.pid, fd);
        let does = does(call);
        if call.ret < 0 {
            // EINPROGRESS: it goes on without waiting.
            let goes_on = does == Does::Connects && call.ret == -i64::from(libc::EINPROGRESS);
            if !goes_on {
                if matches!(does, Does::Reads | Does::Writes) && requests && is_gone(call.ret) {
                    self.gone(place, moved, clock, with);
                }
                return;
            }
        }
        match does {
            Does::Accepts => {
                let port = match self.known.get(&place) {
                    Some(Descriptor::Connection(listening)) => listening.port,
                    _ => None,
                };
                let side = Some(SeenSide::Server);
                self.insert(
                    (moved.pid, call.ret as u32),
                    Conversation { side, port, ..Conversation::default() },
                );
            }
            Does::Connects | Does::Binds => {
                let side = (does == Does::Connects).then_some(SeenSide::Client);
                self.insert(place, Conversation { side, port: port_of(call), ..Conversation::default() });
            }
            Does::Makes => {
                let kind = call.args[1] as i32 & 0xf;
                let place = (moved.pid, call.ret as u32);
                if kind == libc::SOCK_STREAM || kind == libc::SOCK_SEQPACKET {
                    self.insert(place, Conversation::default());
                } else if self.known.len() < MOST {
                    self.known.insert(place, Descriptor::Other(FdKind::Udp));
                }
            }
            Does::Copies | Does::CopiesTo => {
                let to = if does == Does::Copies { call.ret as u32 } else { call.args[1] as u32 };
                let like = match self.known.get(&place) {
                    Some(Descriptor::Connection(of)) => {
                        Some(Conversation { side: of.side, port: of.port, ..Conversation::default() })
                    }
                    _ => None,
                };
                match like {
                    Some(like) if to != fd => self.insert((moved.pid, to), like),
                    _ if to != fd => drop(self.known.remove(&(moved.pid, to))),
                    _ => {}
                }
            }
            Does::Closes => {
                if requests {
                    self.gone(place, moved, clock, with);
                }
                self.known.remove(&place);
            }
            Does::Reads | Does::Writes if requests => self.bytes(place, does, moved, clock, with),
            Does::Reads | Does::Writes | Does::Nothing => {}
        }
    }

    /// Bytes went over what may be a connection.
    fn bytes(
        &mut self,
        place: Place,
        does: Does,
        moved: &Moved<'_>,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) {
        let Some(Descriptor::Connection(of)) = self.known.get_mut(&place) else { return };
        if of.strange >= MOST_STRANGE {
            return;
        }
        let call = moved.call;
        if call.ret == 0 {
            // The other end has sent all: who asked it gets no answer any more.
            if does == Does::Reads && of.side == Some(SeenSide::Client) {
                self.gone(place, moved, clock, with);
            }
            return;
        }
        let mut head = std::mem::take(&mut self.head);
        let mut steps = std::mem::take(&mut self.steps);
        head.clear();
        payload(call, &mut head);
        if let Some(direction) = of.direction(does == Does::Reads, &head) {
            let chunk = Chunk { head: &head, len: call.ret as u64 };
            let wire = of.wire.get_or_insert_with(|| Wire::new(of.port));
            wire.take(direction, chunk, &mut |step| steps.push(step));
            if wire.protocol().is_none() {
                of.strange += 1;
            }
            of.take(direction, &mut steps, moved, clock, with);
        }
        steps.clear();
        (self.head, self.steps) = (head, steps);
    }

    /// The connection ended, or is of no use any more.
    fn gone(&mut self, place: Place, moved: &Moved<'_>, clock: Clock, with: &mut dyn FnMut(Sight<'_>)) {
        let Some(Descriptor::Connection(of)) = self.known.get_mut(&place) else { return };
        for open in std::mem::take(&mut of.open) {
            if open.one_way || open.unclear {
                continue;
            }
            match open.answer {
                Some(end) => of.tell(&open, end, false, moved.pid, clock, with),
                // A server that closes without an answer may not have been asked at all.
                None if of.answered > 0 || of.side == Some(SeenSide::Client) => {
                    of.tell(&open, moved.at, true, moved.pid, clock, with);
                }
                None => {}
            }
        }
    }

    /// Tells the requests that have been open for longer than `bound`, once each.
    pub(super) fn open(&mut self, now: u64, bound: Duration, clock: Clock, with: &mut dyn FnMut(Sight<'_>)) {
        for ((pid, _), descriptor) in &mut self.known {
            let Descriptor::Connection(of) = descriptor else { continue };
            let Some(side) = of.side.filter(|_| of.answered > 0) else { continue };
            let Some(protocol) = of.wire.as_ref().and_then(Wire::protocol) else { continue };
            for open in of.open.iter_mut().filter(|open| !open.told && !open.one_way && !open.unclear) {
                let took = now.saturating_sub(open.began);
                if open.answer.is_some() || u128::from(took) < bound.as_nanos() {
                    continue;
                }
                open.told = true;
                with(Sight::Request(SeenRequest {
                    at: clock.epoch(now),
                    took: Nanos::new(took),
                    pid: *pid,
                    side,
                    protocol: protocol.name,
                    endpoint: &open.endpoint,
                    status: None,
                    failed: false,
                    open: true,
                }));
            }
        }
    }
}

impl Conversation {
    /// Which way a chunk goes; `None` where nothing tells.
    fn direction(&mut self, reads: bool, head: &[u8]) -> Option<Direction> {
        if self.side.is_none() {
            if head.is_empty() {
                return None;
            }
            let asks = whyslow_wire::sniff(head, Direction::Request, self.port).is_some();
            let answers = whyslow_wire::sniff(head, Direction::Response, self.port).is_some();
            self.side = match (asks, answers) {
                (true, false) => Some(if reads { SeenSide::Server } else { SeenSide::Client }),
                (false, true) => Some(if reads { SeenSide::Client } else { SeenSide::Server }),
                _ => None,
            };
            self.strange += u8::from(self.side.is_none());
        }
        Some(match (self.side?, reads) {
            (SeenSide::Server, true) | (SeenSide::Client, false) => Direction::Request,
            (SeenSide::Server, false) | (SeenSide::Client, true) => Direction::Response,
        })
    }

    fn take(
        &mut self,
        direction: Direction,
        steps: &mut Vec<Step>,
        moved: &Moved<'_>,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) {
        let mut touched = None;
        let mut answers = steps.iter().filter(|step| matches!(step, Step::Answered(..))).count();
        for step in steps.drain(..) {
            match step {
                Step::Asked(key, request) => {
                    if self.open.len() >= MOST_OPEN {
                        // Too many for this connection: the oldest is not followed.
                        self.open.remove(0);
                    }
                    // Who serves has it when the read returns; who asks began when it wrote.
                    let took = moved.call.dur.unwrap_or(0);
                    let began = match self.side {
                        Some(SeenSide::Client) => moved.at.saturating_sub(took),
                        _ => moved.at,
                    };
                    self.open.push(Open {
                        key,
                        began,
                        endpoint: request.endpoint,
                        status: None,
                        answer: None,
                        one_way: request.one_way,
                        unclear: false,
                        told: false,
                    });
                }
                Step::Asks(_) => {}
                Step::Answered(key, status) => {
                    answers -= 1;
                    touched = Some(key);
                    if let Some(open) = self.find(key) {
                        open.answer = Some(moved.at);
                        open.status = status.or(open.status.take());
                    }
                }
                Step::Answers(key) => {
                    touched = Some(key);
                    if let Some(open) = self.find(key) {
                        open.answer = Some(moved.at);
                    }
                }
                Step::Unclear(key) => {
                    if let Some(open) = self.find(key) {
                        open.unclear = true;
                    }
                }
                Step::Done(key) => {
                    let Some(at) = self.open.iter().position(|open| open.key == key) else { continue };
                    let open = self.open.remove(at);
                    // It may be said only with the first chunk of what comes next.
                    let is_before = open.answer.is_some() && answers > 0;
                    let now = direction == Direction::Response && touched != Some(key) && !is_before;
                    let end = if now { moved.at } else { open.answer.unwrap_or(moved.at) };
                    if !open.unclear && !open.one_way {
                        self.answered += 1;
                        self.tell(&open, end, false, moved.pid, clock, with);
                    }
                }
            }
        }
    }

    fn find(&mut self, key: Key) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.key == key)
    }

    fn tell(
        &self,
        open: &Open,
        end: u64,
        lost: bool,
        pid: u32,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) {
        let (Some(side), Some(protocol)) = (self.side, self.wire.as_ref().and_then(Wire::protocol)) else {
            return;
        };
        with(Sight::Request(SeenRequest {
            at: clock.epoch(end),
            took: Nanos::new(end.saturating_sub(open.began)),
            pid,
            side,
            protocol: protocol.name,
            endpoint: &open.endpoint,
            status: open.status.as_ref().map(|status| &*status.text),
            failed: lost || open.status.as_ref().is_some_and(is_failure),
            open: false,
        }));
    }
}

/// A status of HTTP says a failure of the server from 500 on; below, the client asked for what it does not get.
fn is_failure(status: &Status) -> bool {
    match status.text.parse::<u16>() {
        Ok(number @ 100..=599) => number >= 500,
        _ => status.is_error,
    }
}

/// Errors that tell that the other end is gone (send(2), tcp(7)).
fn is_gone(ret: i64) -> bool {
    [libc::EPIPE, libc::ECONNRESET, libc::ETIMEDOUT].iter().any(|errno| ret == -i64::from(*errno))
}

/// Appends the first bytes that the call moved, as far as the record has them.
fn payload(call: &RawCall<'_>, head: &mut Vec<u8>) {
    let Some(spec) = table::spec(call.nr) else { return };
    for piece in pieces(call.memory).filter(|piece| is_payload(spec, piece)) {
        head.extend_from_slice(piece.bytes);
        // What follows a piece that is cut, or reduced, is not the next byte.
        if piece.cut || piece.reduced || head.len() as u64 >= call.ret as u64 {
            break;
        }
    }
    if !pieces(call.memory).any(|piece| piece.reduced) {
        head.truncate(usize::try_from(call.ret).unwrap_or(usize::MAX));
    }
}

/// The port in the address that the call was given: `struct sockaddr_in` and `sockaddr_in6` have it at the same place.
fn port_of(call: &RawCall<'_>) -> Option<u16> {
    let address = pieces(call.memory).find(|piece| piece.arg == 1)?.bytes;
    let family = u16::from_ne_bytes(*address.first_chunk()?);
    let is_internet = [libc::AF_INET, libc::AF_INET6].contains(&i32::from(family));
    let port = u16::from_be_bytes(*address.get(2..)?.first_chunk()?);
    (is_internet && port > 0).then_some(port)
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
