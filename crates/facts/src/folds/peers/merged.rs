//! Peers of all processes together: what rules look at, for which a server is slow or silent whoever asks it.

use super::{PeerFacts, Role};
use hashbrown::HashMap;

/// One row for each role and name, in order of appearance.
pub(super) fn by_name(peers: &[PeerFacts]) -> Vec<PeerFacts> {
    let mut places: HashMap<(Role, &str), usize> = HashMap::new();
    let mut merged: Vec<PeerFacts> = Vec::new();
    for peer in peers {
        let at = *places.entry((peer.role, &peer.name)).or_insert(merged.len());
        match merged.get_mut(at) {
            Some(row) => row.merge(peer),
            None => merged.push(peer.clone()),
        }
    }
    merged
}

impl PeerFacts {
    /// A connection was closed on which there were so many requests, or several with so many.
    pub(super) fn closed_with(&mut self, least: u64, most: u64) {
        let (known_least, known_most) = self.requests_on_closed.unwrap_or((least, most));
        self.requests_on_closed = Some((known_least.min(least), known_most.max(most)));
    }

    /// Adds what another process knows of the same peer.
    fn merge(&mut self, other: &PeerFacts) {
        self.process = None;
        self.protocol = self.protocol.or(other.protocol);
        self.connects.merge(&other.connects);
        for (errno, count) in &other.failures {
            match self.failures.iter_mut().find(|(known, _)| known == errno) {
                Some((_, sum)) => *sum += count,
                None => self.failures.push((*errno, *count)),
            }
        }
        self.abandoned.merge(&other.abandoned);
        self.opened += other.opened;
        self.closed += other.closed;
        self.requests_of_closed += other.requests_of_closed;
        other.requests_on_closed.into_iter().for_each(|(least, most)| self.closed_with(least, most));
        self.requests += other.requests;
        self.setup.merge(&other.setup);
        self.answers.merge(&other.answers);
        self.unanswered.merge(&other.unanswered);
        self.paused.merge(&other.paused);
        self.handshakes.merge(&other.handshakes);
        self.syn_retries.merge(&other.syn_retries);
        self.sent = self.sent.saturating_add(other.sent);
        self.received = self.received.saturating_add(other.received);
        self.wait_ns = self.wait_ns.saturating_add(other.wait_ns);
        self.ended_by_peer += other.ended_by_peer;
        self.shared |= other.shared || other.tid != self.tid;
        if self.first.get().is_none_or(|first| other.first.get().is_some_and(|theirs| theirs < first)) {
            self.first = other.first;
        }
        if self.last.get().is_none_or(|last| other.last.get().is_some_and(|theirs| theirs > last)) {
            self.last = other.last;
        }
        self.failed_lines.merge(&other.failed_lines);
        self.connect_lines.merge(&other.connect_lines);
    }
}

impl super::Unanswered {
    fn merge(&mut self, other: &super::Unanswered) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        self.shared |= other.shared || other.tid != self.tid;
        let waited = |one: &super::Unanswered| one.longest.as_ref().map(|longest| longest.waited);
        if waited(other) > waited(self) {
            self.longest = other.longest.clone();
        }
    }
}
