//! What each thread serves, and the requests it made of others: who is whose parent.

use super::record::EndpointId;
use whyslow_model::Timestamp;
use whyslow_model::event::Tid;

/// A request that a thread made of others, of which the parent is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) number: u64,
    pub(super) endpoint: EndpointId,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Serving {
    tid: Tid,
    /// Requests that it read and that are open, by their place.
    open: Vec<u32>,
    /// What it asked of others lately, the oldest first.
    made: Vec<Made>,
    /// Of several, the one whose bytes it read last, or for which it read an answer last: what an event loop asks of others before its
    /// next read, it asks for that one.
    latest: Option<u32>,
}

impl Serving {
    /// Requests that a thread asked of others, kept until it is known for whom.
    const MAX_MADE: usize = 64;

    /// The one request that it serves; `None` where there is none or more than one.
    pub(super) fn only(&self) -> Option<u32> {
        match self.open[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The request that it works on: the only one, else the one that it read something for last.
    pub(super) fn present(&self) -> Option<u32> {
        self.only().or(self.latest.filter(|latest| self.open.contains(latest)))
    }

    /// It read something that belongs to `place`; `None`: to nothing that it serves.
    pub(super) fn reads_for(&mut self, place: Option<u32>) {
        self.latest = place;
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn made(&mut self, made: Made) {
        if self.made.len() >= Self::MAX_MADE {
            self.made.remove(0);
        }
        self.made.push(made);
    }

    /// What it asked of others since then; what it asked before is forgotten.
    pub(super) fn take_made(&mut self, since: Timestamp) -> Vec<Made> {
        let mut made = std::mem::take(&mut self.made);
        made.retain(|made| since.is_known() && made.begin.is_known() && made.begin >= since);
        made
    }

    pub(super) fn begins(&mut self, place: u32) {
        self.open.push(place);
        self.latest = Some(place);
    }

    pub(super) fn ends(&mut self, place: u32) {
        self.open.retain(|open| *open != place);
    }
}

/// All threads, by their place.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<Serving>);

impl Threads {
    pub(super) fn of(&mut self, at: u32, tid: Tid) -> &mut Serving {
        let at = at as usize;
        if at >= self.0.len() {
            self.0.resize_with(at + 1, Serving::default);
        }
        let serving = &mut self.0[at];
        if serving.tid != tid {
            // The place of a thread that ended was given to another one.
            *serving = Serving { tid, ..Serving::default() };
        }
        serving
    }
}
