//! In which request another one is made: what goes through a proxy is one request.

use super::Requests;
use super::record::{ParentBy, Side};
use crate::world::Seen;

/// The request in which another one is made.
pub(super) enum MadeIn {
    /// None is known.
    Nothing,
    /// The one at this place.
    One(u32, ParentBy),
    /// One of several, and nothing tells which.
    Ambiguous,
}

impl MadeIn {
    /// Its place, and how it is known.
    pub(super) fn known(&self) -> (Option<u32>, ParentBy) {
        match self {
            MadeIn::One(place, by) => (Some(*place), *by),
            MadeIn::Nothing | MadeIn::Ambiguous => (None, ParentBy::Turn),
        }
    }
}

impl Requests {
    /// For which of the requests that a thread serves it asks something of others, on a connection that it made for one of them or has in
    /// common for all.
    pub(super) fn made_in(&mut self, at: usize, seen: &Seen<'_>, polled: u64, len: u64) -> MadeIn {
        let is_open =
            |place: u32, number: u64| self.open.get(place).is_some_and(|open| open.record.number == number);
        if let Some((place, number)) = self.connections[at].made_in.take()
            && is_open(place, number)
        {
            let only = self.serving.of(seen.thread.0, seen.call.tid).only() == Some(place);
            return MadeIn::One(place, if only { ParentBy::Thread } else { ParentBy::Turn });
        }
        let serving = self.serving.of(seen.thread.0, seen.call.tid);
        if let Some(only) = serving.only() {
            return MadeIn::One(only, ParentBy::Thread);
        }
        // Nothing came since that was read: the thread still works on it.
        if let Some(latest) = serving.present().filter(|_| serving.polled() == polled) {
            return MadeIn::One(latest, ParentBy::Turn);
        }
        let in_hand = |place: &u32| self.open.get(*place).is_some_and(|open| open.is_in_hand());
        let waiting: Vec<u32> = serving.open().iter().copied().filter(in_hand).collect();
        let as_large =
            |place: &u32| self.open.get(*place).is_some_and(|open| open.record.request_bytes == len);
        // A proxy hands on what it got.
        let alike: Vec<u32> = waiting.iter().copied().filter(as_large).collect();
        match (&waiting[..], &alike[..]) {
            ([one], _) | (_, [one]) => MadeIn::One(*one, ParentBy::Turn),
            ([], _) => {
                serving.present().map_or(MadeIn::Nothing, |latest| MadeIn::One(latest, ParentBy::Turn))
            }
            _ => MadeIn::Ambiguous,
        }
    }

    /// It has an answer, or a part of one, and nobody knows whether more comes: its thread goes on with other things.
    pub(super) fn rests(&mut self, place: u32) {
        if let Some(open) = self.open.get(place).filter(|open| open.record.side == Side::Server) {
            self.serving.of(open.thread.0, open.record.tid).rests(place);
        }
    }
}
