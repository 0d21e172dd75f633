//! Turns become requests, where no protocol is known, and connections that are no exchanges are counted as streams, by peer.

use super::connection::{Connection, Tls, tls_record};
use super::endpoints::UNKNOWN;
use super::record::{Ending, Side};
use super::turns::{OfAnswer, OfQuestion, Piece, Turns};
use super::{Requests, reads};
use crate::folds::peers::host_of;
use crate::world::ids::{LifeId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::{FdKind, Nanos, Timestamp};
use whyslow_wire::{Direction, Request};

/// Connections to one peer whose protocol is not known: how many are made of questions and answers, and how many are feeds,
/// logs, replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// Of questions and answers.
    pub exchanges: u64,
    /// Of something else.
    pub streams: u64,
}

impl StreamFacts {
    /// True where what goes over most of them are no requests.
    pub fn is_stream(&self) -> bool {
        self.streams > self.exchanges
    }
}

/// By process and peer: of a client its host, of a server its address.
pub(super) type Streams = HashMap<(Side, ProcessId, Box<str>), StreamFacts>;

/// A question that got no answer before its connection was closed was no farewell only where somebody had waited: so long (Miller 1968: a tenth
/// of a second seems instant).
const WAITED: Nanos = Nanos::from_millis(100);

impl Requests {
    /// What connections of `process` with that peer are whose protocol is not known; of all processes where it is `None`.
    pub fn streams(&self, side: Side, process: Option<ProcessId>, peer: &str) -> StreamFacts {
        let mut sum = StreamFacts::default();
        for ((of, by, name), facts) in &self.streams {
            if *of == side && **name == *peer && process.is_none_or(|process| process == *by) {
                sum.exchanges += facts.exchanges;
                sum.streams += facts.streams;
            }
        }
        sum
    }

    /// No protocol is known: a turn of the connection stands for a request.
    pub(super) fn turn(
        &mut self,
        at: usize,
        direction: Direction,
        head: &[u8],
        seen: &Seen<'_>,
        world: &World,
        len: u64,
    ) {
        let connection = &mut self.connections[at];
        if !connection.takes_turns() {
            return;
        }
        let record = tls_record(head);
        connection.is_tls |= record.is_some() && connection.answered == 0;
        let call = seen.call;
        let end = if call.end().is_known() { call.end() } else { call.ts };
        let (there, writer) = if reads(call.syscall) { (end, 0) } else { (call.ts, call.tid) };
        let piece = Piece { there, end, len, writer };
        let place = connection.turns.place();
        if direction == Direction::Response {
            let is_news = place.is_some_and(|place| self.is_news(at, place, seen));
            match (self.connections[at].turns.answers(piece, is_news), place) {
                (OfAnswer::Answers, Some(place)) => {
                    self.answer(place, seen, world, len);
                    self.rests(place);
                }
                (OfAnswer::IsNone, Some(place)) => {
                    self.connections[at].turns.take();
                    self.forget(at, place);
                }
                _ => {}
            }
            return;
        }
        let was_answered = connection.turns.is_answered();
        match (connection.turns.asks(piece), place) {
            (OfQuestion::GoesOn, Some(place)) => self.more_of_request(place, seen, world, len),
            (OfQuestion::IsNone, Some(place)) => {
                connection.turns.take();
                self.forget(at, place);
            }
            (_, place) => {
                match place {
                    Some(place) if was_answered => self.finish_turn(at, place),
                    Some(place) => self.forget(at, place),
                    None => {}
                }
                self.begin_turn(at, record, piece, seen, world);
            }
        }
    }

    fn begin_turn(&mut self, at: usize, record: Option<Tls>, piece: Piece, seen: &Seen<'_>, world: &World) {
        let connection = &mut self.connections[at];
        connection.turns.take();
        if connection.is_tls && record == Some(Tls::Control) {
            return;
        }
        let protocol = connection.is_tls.then_some(whyslow_wire::protocols::TLS_NAME);
        let host = connection.wire.as_ref().and_then(|wire| wire.server()).map(str::to_owned);
        let request = Request { endpoint: UNKNOWN.to_string(), host, ..Request::default() };
        if let Some(place) = self.begin(at, protocol, request, seen, world, piece.len) {
            self.connections[at].turns.begin(place, piece);
            self.more_of_request(place, seen, world, piece.len);
        }
    }

    /// The first bytes of what answers the question at `place` are another client's doing: that one said something long after
    /// the question was asked, and the thread that writes read it last.
    fn is_news(&mut self, at: usize, place: u32, seen: &Seen<'_>) -> bool {
        let turns = &self.connections[at].turns;
        let (since, asked) = (turns.asked_until(), self.open.get(place));
        let Some(asked) = asked.filter(|asked| asked.record.side == Side::Server && !turns.is_answered())
        else {
            return false;
        };
        if asked.has_asked() || seen.call.ts.since(since).or_zero() < Turns::HELD.or_zero() {
            return false;
        }
        let latest = self.serving.of(seen.thread.0, seen.call.tid).latest().filter(|latest| *latest != place);
        let other = latest.and_then(|latest| self.open.get(latest));
        other.is_some_and(|other| other.record.begin > since)
    }

    /// The turn whose request is at `place` is over.
    fn finish_turn(&mut self, at: usize, place: u32) {
        let Connection { turns, is_tls, .. } = &mut self.connections[at];
        turns.take();
        let Some((end, bytes, is_cut)) = turns.ends(*is_tls) else {
            self.forget(at, place);
            if self.connections[at].turns.is_stream() {
                self.settle_turns(at, false);
            }
            return;
        };
        if let Some(open) = self.open.get_mut(place) {
            open.answer_was(bytes, is_cut);
        }
        let connection = &mut self.connections[at];
        connection.answered += 1;
        let Some(open) = self.close(place, end, Ending::Answered) else { return };
        let turns = &mut self.connections[at].turns;
        turns.unproven.push(open);
        if turns.is_proven() {
            self.settle_turns(at, true);
        } else if turns.is_stream() {
            self.settle_turns(at, false);
        }
    }

    /// What waits to be known as exchanges counts, or is forgotten.
    pub(super) fn settle_turns(&mut self, at: usize, are_exchanges: bool) {
        for open in std::mem::take(&mut self.connections[at].turns.unproven) {
            if are_exchanges {
                self.count_closed(open, None);
            } else {
                self.count = self.count.saturating_sub(1);
            }
        }
    }

    /// These turns were none.
    pub(super) fn forget_turns(&mut self, at: usize, mut turns: Turns) {
        if let Some(place) = turns.take() {
            self.forget(at, place);
        }
        self.count = self.count.saturating_sub(turns.unproven.len() as u64);
    }

    /// The connection was closed: what it has answered of the last question is all of it.
    pub(super) fn turns_closed(
        &mut self,
        at: usize,
        when: Timestamp,
        expects: bool,
        seen: Option<&Seen<'_>>,
    ) {
        let turns = &mut self.connections[at].turns;
        let (place, is_answered, asked) = (turns.place(), turns.is_answered(), turns.asked_until());
        if let Some(place) = place {
            turns.take();
            if is_answered {
                self.finish_turn(at, place);
            } else if expects && when.since(asked).or_zero() >= WAITED.or_zero() {
                self.end(place, when, Ending::Aborted, seen);
            } else {
                self.forget(at, place);
            }
        }
        let is_stream = self.connections[at].turns.is_stream();
        self.settle_turns(at, !is_stream);
        self.tell_stream(at);
    }

    /// The capture ended, and the connection is still open.
    pub(super) fn turns_left(&mut self, at: usize, end: Timestamp, expects: bool) {
        let turns = &mut self.connections[at].turns;
        let (place, is_answered) = (turns.place(), turns.is_answered());
        if let Some(place) = place {
            turns.take();
            if is_answered {
                self.finish_turn(at, place);
            } else if expects {
                self.leave_open(place, end);
            } else {
                self.forget(at, place);
            }
        }
        let turns = &self.connections[at].turns;
        let are_exchanges = !turns.is_stream() && !turns.may_subscribe();
        self.settle_turns(at, are_exchanges);
        self.tell_stream(at);
    }

    /// Counts what the connection was, by its peer.
    fn tell_stream(&mut self, at: usize) {
        let Connection { side, peer, turns, process, .. } = &mut self.connections[at];
        let turns = std::mem::take(turns);
        let (Some(side), Some(peer), true) = (*side, peer.as_deref(), turns.is_used()) else { return };
        let peer = if side == Side::Server { host_of(peer) } else { peer };
        let key = (side, *process, Box::from(peer));
        if self.streams.len() < Self::MAX_GROUPS || self.streams.contains_key(&key) {
            let facts = self.streams.entry(key).or_default();
            facts.exchanges += u64::from(!turns.is_stream());
            facts.streams += u64::from(turns.is_stream());
        }
    }

    /// A connection is being made: for the request that its thread works on.
    pub(super) fn connects(&mut self, id: LifeId, seen: &Seen<'_>, world: &World) {
        if !seen.kind.is_socket() || seen.kind == FdKind::Netlink {
            return;
        }
        let for_whom = self.serving.of(seen.thread.0, seen.call.tid).present();
        let number = |place| self.open.get(place).map(|open| (place, open.record.number));
        let made_in = for_whom.and_then(number);
        let at = self.connection(id, world);
        if self.connections[at].chunks == 0 {
            // Another attempt may go to another address.
            let gaps = self.connections[at].gaps;
            self.connections[at] = Connection::new(id, world);
            self.connections[at].gaps = gaps;
        }
        self.connections[at].made_in = made_in;
    }
}
