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
    /// Of those without a decoder, which have no end that is seen, the ones that have an answer.
    resting: Vec<u32>,
    /// What it had waited for several descriptors when it last read something for one of them, ns.
    polled: u64,
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
            [] => self.latest.filter(|latest| self.resting.contains(latest)),
            _ => None,
        }
    }

    /// The request that it works on: the only one, else the one that it read something for last.
    pub(super) fn present(&self) -> Option<u32> {
        self.only().or(self.latest.filter(|latest| self.open.contains(latest)))
    }

    /// Requests that it read and that have no answer, as far as their ends are known.
    pub(super) fn open(&self) -> &[u32] {
        &self.open
    }

    /// What it read something for last, whatever became of it.
    pub(super) fn latest(&self) -> Option<u32> {
        self.latest
    }

    /// What it had waited for several descriptors then, ns.
    pub(super) fn polled(&self) -> u64 {
        self.polled
    }

    /// It read something that belongs to `place`; `None`: to nothing that it serves. `polled`: what it had waited for several
    /// descriptors by then, ns.
    pub(super) fn reads_for(&mut self, place: Option<u32>, polled: u64) {
        (self.latest, self.polled) = (place, polled);
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.resting.is_empty()
    }

    /// True where a request that it read has no answer.
    pub(super) fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// The request at `place` has an answer.
    pub(super) fn rests(&mut self, place: u32) {
        if let Some(at) = self.open.iter().position(|open| *open == place) {
            self.open.swap_remove(at);
            self.resting.push(place);
        }
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

    pub(super) fn begins(&mut self, place: u32, polled: u64) {
        self.open.push(place);
        self.reads_for(Some(place), polled);
    }

    pub(super) fn ends(&mut self, place: u32) {
        self.open.retain(|open| *open != place);
        self.resting.retain(|open| *open != place);
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
