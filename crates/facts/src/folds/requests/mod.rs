//! Requests: what is asked on each connection, how long the answer takes, and what was asked of others meanwhile.
//!
//! The bytes that each read and write of a socket moved, as far as the capture has them, go to the decoder of the
//! connection's protocol ([`whyslow_wire`]). Where no protocol is recognised (the payload is not in the capture, it is
//! encrypted, or it is of a protocol that nobody knows) a turn from reading to writing stands for a request (server), or one from
//! writing to reading (client), and its endpoint is `unknown`; [`turns`] tells which connections have such turns.
//!
//! The time that a request lies in the accept queue or in the socket's buffer before the program reads it is not
//! visible here.

mod connection;
mod endpoints;
mod gaps;
mod initiative;
mod logged;
mod made_in;
mod open;
mod payload;
mod record;
mod resends;
mod retries;
mod serving;
mod streams;
#[cfg(test)]
mod tests;
mod turns;

pub use endpoints::{EndpointFacts, GroupFacts, RequestSizes, UNKNOWN_PROTOCOL};
pub use logged::{LOGGED, LogFacts};
pub use record::{Downstream, Ending, EndpointId, ParentBy, RequestRecord, Side, TimeSplit};
pub use retries::Retries;
pub use streams::StreamFacts;

use crate::Fold;
use crate::args::WaitKind;
use crate::exemplar::Exemplar;
use crate::moments::Moments;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use connection::Connection;
use endpoints::{Endpoints, PeerKey, PeerRows};
use gaps::Gaps;
use hashbrown::HashMap;
use initiative::Initiatives;
use open::OpenTable;
use resends::Resends;
use retries::FailedLately;
use serving::Threads;
use streams::Streams;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Errno, FdKind, RecordedSpan, SaturatingSum, Syscall, Timestamp};
use whyslow_wire::{Chunk, Direction, Step};

/// All requests. Bounded: rows by endpoint, records of the slowest and of the failed, requests under way.
#[derive(Debug, Default)]
pub struct Requests {
    endpoints: Endpoints,
    peers: PeerRows,
    /// Failed requests by process and peer.
    failed: HashMap<(Side, ProcessId, Box<str>), u64>,
    threads: HashMap<(Side, ProcessId, Tid), GroupFacts>,
    /// By the place of their life.
    connections: Vec<Connection>,
    gaps: Gaps,
    open: OpenTable,
    serving: Threads,
    failed_lately: FailedLately,
    resends: Resends,
    initiatives: Initiatives,
    /// There was a connection of which nothing told who asks.
    has_unknown_sides: bool,
    streams: Streams,
    log: LogFacts,
    /// Requests that began.
    count: u64,
    /// Requests that were not followed because too many were open.
    pub not_followed: u64,
    /// When requests that were decoded waited for their answer, by the process that serves them.
    waiting: HashMap<ProcessId, Moments>,
    /// Known once [`crate::Facts::finish`] was called.
    still_open: Vec<RequestRecord>,
    buffer: Vec<u8>,
    steps: Vec<Step>,
}

impl Requests {
    /// Requests of `process` to that peer, or from it, that failed or were given up.
    pub fn failed(&self, side: Side, process: ProcessId, peer: &str) -> u64 {
        self.failed.get(&(side, process, peer.into())).copied().unwrap_or(0)
    }

    /// Peers and threads told apart.
    const MAX_GROUPS: usize = 4_096;

    /// When requests of decoded protocols waited for the answer of each process.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (ProcessId, &Moments)> {
        self.waiting.iter().map(|(process, moments)| (*process, moments))
    }

    /// What the threads of requests that are served waited within them, ns.
    pub fn served_waits(&self, kind: WaitKind) -> u64 {
        let served = self.endpoints().iter().filter(|row| row.side == Side::Server);
        served.map(|row| row.split.waiting_ns[kind as usize]).saturating_sum()
    }

    /// The time of all requests that were served, ns, and how many have one.
    pub fn served_time(&self) -> (u64, u64) {
        let served = || self.endpoints().iter().filter(|row| row.side == Side::Server);
        (
            served().map(|row| row.stats.total_ns).saturating_sum(),
            served().map(|row| row.stats.timed).saturating_sum(),
        )
    }

    /// Requests that were served and answered.
    pub(crate) fn answered(&self) -> u64 {
        let served = self.endpoints().iter().filter(|row| row.side == Side::Server);
        served.map(|row| row.stats.count).saturating_sum()
    }

    /// Requests that began, as far as they were recognised.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The rows by endpoint, in order of appearance.
    pub fn endpoints(&self) -> &[EndpointFacts] {
        self.endpoints.rows()
    }

    /// The row of a request.
    pub fn endpoint(&self, id: EndpointId) -> Option<&EndpointFacts> {
        self.endpoints.get(id)
    }

    /// By peer: of a client its host, of a server its address.
    pub fn peers(&self) -> impl Iterator<Item = (Side, &str, &GroupFacts)> {
        self.peers.iter().map(|(PeerKey(side, name), group)| (*side, &**name, group))
    }

    /// By thread: that which read it (server) or sent it (client). Thread 0 stands for those past the bound.
    pub fn threads(&self) -> impl Iterator<Item = (Side, ProcessId, Tid, &GroupFacts)> {
        self.threads.iter().map(|((side, process, tid), group)| (*side, *process, *tid, group))
    }

    /// The requests that are kept: of each endpoint the slowest and the failed, and all that are open at the end.
    pub fn records(&self) -> impl Iterator<Item = &RequestRecord> {
        self.endpoints.rows().iter().flat_map(|row| row.kept()).chain(&self.still_open)
    }

    /// Those that were open at the end of the capture.
    pub fn open(&self) -> &[RequestRecord] {
        &self.still_open
    }

    /// The request of that number, if it was kept.
    pub fn find(&self, number: u64) -> Option<&RequestRecord> {
        self.records().find(|record| record.number == number)
    }

    /// The request whose answer that call could not deliver, if it was kept.
    pub fn lost_by(&self, call: &Exemplar) -> Option<&RequestRecord> {
        let mut lost = self.records().filter(|record| record.ending == Ending::Aborted);
        lost.find(|record| {
            record.last_line.as_ref().is_some_and(|last| (last.source, last.line) == (call.source, call.line))
        })
    }

    /// The connection of `id`.
    fn connection(&mut self, id: LifeId, world: &World) -> usize {
        let at = id.place();
        if at >= self.connections.len() {
            self.connections.resize_with(at + 1, Connection::unknown);
        }
        if self.connections[at].life != id {
            // The life that was here is gone, without a close that was seen.
            self.closed(at, Timestamp::UNKNOWN, None);
            self.connections[at] = Connection::new(id, world);
        }
        self.connections[at].name_peer(world);
        at
    }

    /// Calls were only counted for a while: what was open then is not known any more, nor where messages begin.
    fn resume(&mut self, at: usize, gaps: u32) {
        let connection = &mut self.connections[at];
        connection.gaps = gaps;
        connection.wire = None;
        let turn = connection.turns.take();
        for place in std::mem::take(&mut connection.open).into_iter().map(|(_, place)| place).chain(turn) {
            self.forget(at, place);
        }
    }

    /// What was written down when, before the calls of that time.
    pub(crate) fn span(&mut self, span: &RecordedSpan) {
        self.gaps.see(span);
    }

    /// Bytes went over a connection.
    fn chunk(&mut self, at: usize, seen: &Seen<'_>, world: &World, head: &[u8], len: u64) {
        let read = reads(seen.call.syscall);
        let connection = &mut self.connections[at];
        connection.chunks = connection.chunks.saturating_add(1);
        let direction = connection.direction(read, head, len).or_else(|| {
            // What a thread sends elsewhere while it serves a request, it asks there.
            let serves = !read
                && connection.is_unknown_stream()
                && !self.serving.of(seen.thread.0, seen.call.tid).is_idle();
            serves.then(|| connection.asks())
        });
        let Some(direction) = direction else { return };
        let mut steps = std::mem::take(&mut self.steps);
        connection.wire().take(direction, Chunk { head, len }, &mut |step| steps.push(step));
        match connection.protocol() {
            Some(protocol) => {
                // What was taken for turns before was the end of something that began before the capture.
                let turns = std::mem::take(&mut connection.turns);
                self.forget_turns(at, turns);
                self.take_steps(at, protocol, direction, &mut steps, seen, world, len);
            }
            None => {
                self.resent(at, direction, head, len, seen);
                self.turn(at, direction, head, seen, world, len);
            }
        }
        steps.clear();
        self.steps = steps;
    }

    #[allow(clippy::too_many_arguments)]
    fn take_steps(
        &mut self,
        at: usize,
        protocol: &'static str,
        direction: Direction,
        steps: &mut Vec<Step>,
        seen: &Seen<'_>,
        world: &World,
        len: u64,
    ) {
        // The bytes of a chunk that holds several requests count for the first.
        let mut bytes = len;
        let mut touched = None;
        let mut begin = steps.iter().filter(|step| matches!(step, Step::Answered(..))).count();
        for step in steps.drain(..) {
            match step {
                Step::Asked(key, request) => {
                    let one_way = request.one_way;
                    let Some(place) = self.begin(at, Some(protocol), request, seen, world, bytes) else {
                        continue;
                    };
                    self.connections[at].open.push((key, place));
                    self.more_of_request(place, seen, world, std::mem::take(&mut bytes));
                    if one_way {
                        self.finish_answered(at, place, seen.call.end());
                    }
                }
                Step::Asks(key) => {
                    if let Some(place) = self.place_of(at, key) {
                        self.more_of_request(place, seen, world, std::mem::take(&mut bytes));
                    }
                }
                Step::Answered(key, status) => {
                    begin -= 1;
                    if let Some(place) = self.place_of(at, key) {
                        if let Some(open) = self.open.get_mut(place) {
                            open.record.status = status.or(open.record.status.take());
                        }
                        self.answer(place, seen, world, std::mem::take(&mut bytes));
                        touched = Some(key);
                    }
                }
                Step::Answers(key) => {
                    if let Some(place) = self.place_of(at, key) {
                        self.answer(place, seen, world, std::mem::take(&mut bytes));
                        touched = Some(key);
                    }
                }
                Step::Unclear(key) => {
                    if let Some(place) = self.place_of(at, key) {
                        self.unclear(place);
                    }
                }
                Step::Done(key) => {
                    let Some(place) = self.place_of(at, key) else { continue };
                    // It may be said only with the first chunk of what comes next.
                    let begun = self.open.get(place).is_some_and(|open| open.is_answered());
                    if direction == Direction::Response && touched != Some(key) && !(begun && begin > 0) {
                        self.answer(place, seen, world, std::mem::take(&mut bytes));
                    }
                    let end = self.open.get(place).map_or(Timestamp::UNKNOWN, |open| open.record.end);
                    self.finish_answered(at, place, end);
                }
            }
        }
    }

    /// The connection ended at `when`, by the call `seen` where it is known.
    fn closed(&mut self, at: usize, when: Timestamp, seen: Option<&Seen<'_>>) {
        let connection = &mut self.connections[at];
        let expects = connection.expects_answers();
        let open = std::mem::take(&mut connection.open);
        self.turns_closed(at, when, expects, seen);
        for (_, place) in open {
            match self.open.get(place) {
                Some(open) if open.is_answered() => {
                    let end = open.record.end;
                    self.end(place, end, Ending::Answered, None);
                }
                Some(open) if open.is_unclear() => {
                    self.end(place, Timestamp::UNKNOWN, Ending::Answered, None)
                }
                Some(_) if expects => self.end(place, when, Ending::Aborted, seen),
                _ => self.forget(at, place),
            }
        }
    }

    /// The client closed its end, or at least will send no more.
    fn client_left(&mut self, at: usize, when: Timestamp) {
        let Requests { connections, open, failed_lately, .. } = self;
        let connection = &connections[at];
        for place in connection.open.iter().map(|(_, place)| *place).chain(connection.turns.place()) {
            let Some(open) = open.get_mut(place) else { continue };
            open.client_left(when, failed_lately);
        }
    }

    /// A write or read failed because the other end is gone.
    fn broken(&mut self, at: usize, seen: &Seen<'_>) {
        let connection = &mut self.connections[at];
        let turn = connection.turns.take();
        for place in std::mem::take(&mut connection.open).into_iter().map(|(_, place)| place).chain(turn) {
            self.end(place, seen.call.end(), Ending::Aborted, Some(seen));
        }
        let is_stream = self.connections[at].turns.is_stream();
        self.settle_turns(at, !is_stream);
    }

    /// Settles what was open when the capture ended.
    pub(crate) fn finish(&mut self, world: &World, end: Timestamp) {
        for at in 0..self.connections.len() {
            if self.connections[at].gaps != self.gaps.count() {
                self.resume(at, self.gaps.count());
            }
            let connection = &mut self.connections[at];
            let life = world.fds.get(connection.life);
            let ended = life.filter(|life| !life.is_open());
            if life.is_none() || ended.is_some() && connection.side != Some(Side::Client) {
                self.closed(at, Timestamp::UNKNOWN, None);
                continue;
            }
            // What a program asked, and never closed before it ended, was open until then.
            let end = ended.map(|life| life.closed).filter(|closed| closed.is_known()).unwrap_or(end);
            let expects = connection.expects_answers();
            self.turns_left(at, end, expects);
            for (_, place) in std::mem::take(&mut self.connections[at].open) {
                match self.open.get(place) {
                    Some(open) if open.is_answered() => {
                        let end = open.record.end;
                        self.end(place, end, Ending::Answered, None);
                    }
                    Some(open) if open.is_unclear() => {
                        self.end(place, Timestamp::UNKNOWN, Ending::Answered, None);
                    }
                    Some(_) if expects => self.leave_open(place, end),
                    _ => self.forget(at, place),
                }
            }
        }
    }
}

fn reads(syscall: Syscall) -> bool {
    syscall == Syscall::RECVMMSG || syscall.info().moves == Moves::Read
}

/// Errors that tell that the other end is gone (send(2), tcp(7)).
fn is_gone(errno: Errno) -> bool {
    matches!(errno, Errno::EPIPE | Errno::ECONNRESET | Errno::ETIMEDOUT)
}

impl Fold for Requests {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || matches!(syscall, Syscall::CLOSE | Syscall::SENDMMSG | Syscall::RECVMMSG | Syscall::CONNECT)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let Some(id) = seen.life else { return };
        if seen.call.syscall == Syscall::CLOSE {
            let known = self.connections.get(id.place()).is_some_and(|connection| connection.life == id);
            if known && world.fds.get(id).is_none_or(|life| !life.is_open()) {
                // What was open before a gap may have been answered in it.
                let gaps = self.gaps.before(seen.call);
                if gaps != Some(self.connections[id.place()].gaps) {
                    self.resume(id.place(), gaps.unwrap_or_else(|| self.gaps.count()));
                }
                self.closed(id.place(), seen.call.ts, Some(seen));
            }
            return;
        }
        if seen.call.syscall == Syscall::CONNECT {
            return self.connects(id, seen, world);
        }
        // A descriptor that was open before the capture may be a socket: its bytes tell.
        if seen.kind == FdKind::Netlink || !(seen.kind.is_socket() || seen.kind == FdKind::Unknown) {
            return self.heard(seen, world);
        }
        let Some(gaps) = self.gaps.before(seen.call) else { return };
        let at = self.connection(id, world);
        if self.connections[at].gaps != gaps {
            self.resume(at, gaps);
        }
        if seen.call.failed() {
            if is_gone(seen.call.errno) {
                self.broken(at, seen);
            }
            return;
        }
        let many = matches!(seen.call.syscall, Syscall::SENDMMSG | Syscall::RECVMMSG);
        if seen.bytes == 0 && !many {
            let over = seen.call.ok() == Some(0) && reads(seen.call.syscall) && seen.kind != FdKind::Udp;
            // A client that has sent all may still wait for the answer.
            match self.connections[at].side {
                Some(Side::Client) if over => self.closed(at, seen.call.end(), Some(seen)),
                Some(Side::Server) if over => self.client_left(at, seen.call.end()),
                _ => {}
            }
            return;
        }
        self.takes_initiative(at, seen, world);
        let worth = self.connections[at].worth();
        let mut buffer = std::mem::take(&mut self.buffer);
        payload::chunks(seen.call, seen.bytes, worth, &mut buffer, |head, len| {
            self.chunk(at, seen, world, head, len);
        });
        self.buffer = buffer;
    }
}
