//! Messages of protocols that nobody decodes, sent again word by word before anything came back: tries of one request, on the same connection, a new
//! one, or by datagrams.

use super::record::Side;
use super::retries::{Try, backs_off};
use super::{Requests, endpoints::UNKNOWN};
use crate::exemplar::Exemplar;
use crate::world::Seen;
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use std::hash::{BuildHasher, Hash};
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, Timestamp};
use whyslow_wire::Direction;

/// The last message of a thread to a peer.
#[derive(Debug)]
struct Sent {
    message: u64,
    at: Timestamp,
    own: Option<Try>,
    line: Exemplar,
    /// What had come from that peer by then.
    heard: u64,
}

/// What was sent to whom last.
#[derive(Debug, Default)]
pub(super) struct Resends {
    last: HashMap<(ProcessId, Tid, u64), Sent, foldhash::fast::RandomState>,
    peers: HashMap<(ProcessId, u64), Talk, foldhash::fast::RandomState>,
}

/// What one process and a peer say.
#[derive(Clone, Copy, Debug, Default)]
struct Talk {
    messages: u64,
    /// Reads of what the peer said. Who says nothing is told things (metrics, logs), and not asked.
    heard: u64,
}

impl Resends {
    /// Threads and peers told apart.
    const MOST: usize = 1_024;
    /// Messages that come closer to each other were sent at once.
    const PIPELINED: Nanos = Nanos::from_millis(2);
    /// Who sends again behind this pause gave the other end time.
    const PAUSE: Nanos = Nanos::from_millis(100);
    /// A shorter message may be a sign of life, which has no answer.
    const SHORTEST: usize = 4;
}

fn hash(of: impl Hash) -> u64 {
    foldhash::fast::FixedState::default().hash_one(of)
}

impl Requests {
    /// Bytes went over a connection to a server of which no protocol is known; `head`: the first of them, empty where the capture lacks them.
    pub(super) fn resent(&mut self, at: usize, direction: Direction, head: &[u8], len: u64, seen: &Seen<'_>) {
        let connection = &self.connections[at];
        let Some(peer) = connection.peer.as_ref().filter(|_| connection.side == Some(Side::Client)) else {
            return;
        };
        let (process, call, by_peer) = (seen.process, seen.call, hash(peer));
        let is_full = self.resends.peers.len() >= Resends::MOST;
        if is_full && !self.resends.peers.contains_key(&(process, by_peer)) {
            return;
        }
        let talk = self.resends.peers.entry((process, by_peer)).or_default();
        if direction == Direction::Response {
            talk.heard += 1;
            return;
        }
        if head.len() < Resends::SHORTEST || !call.ts.is_known() {
            return;
        }
        talk.messages += 1;
        let talk = *talk;
        let (message, key) = (hash((head, len)), (process, call.tid, by_peer));
        let last = self.resends.last.remove(&key);
        let again =
            last.filter(|last| last.message == message && last.heard == talk.heard).and_then(|last| {
                let gap = call.ts.since(last.at);
                let is_try = gap.is_known() && gap >= Resends::PIPELINED && gap < Resends::PAUSE;
                let before = last.own.as_ref().map_or(Nanos::UNKNOWN, |own| own.gap);
                (is_try && !backs_off(before, gap)).then(|| Try::behind(last.own, &last.line, gap))
            });
        if let Some(again) = again.as_ref().filter(|_| talk.heard > 0) {
            let address = connection.peer.clone();
            let endpoint = self.endpoints.id(Side::Client, None, UNKNOWN, address.as_ref(), None);
            if let Some(row) = self.endpoints.get_mut(endpoint) {
                row.retries.sent_again(again, talk.messages, call);
            }
        }
        if self.resends.last.len() < Resends::MOST {
            let sent = Sent { message, at: call.ts, own: again, line: Exemplar::of(call), heard: talk.heard };
            self.resends.last.insert(key, sent);
        }
    }
}
