//! Requests that are asked again: ours at once after they failed, and those of clients that give up and ask the same anew.

use super::record::{EndpointId, RequestRecord, Side};
use crate::exemplar::Exemplar;
use crate::folds::peers::host_of;
use hashbrown::HashMap;
use std::hash::{BuildHasher, Hash};
use whyslow_model::event::Tid;
use whyslow_model::{Call, Nanos, Timestamp};
use whyslow_wire::text::CUT;

/// How often requests of one endpoint were asked again at once after the same one had failed, or (served) before it was answered.
#[derive(Debug, Default)]
pub struct Retries {
    /// Requests that were asked again.
    pub count: u64,
    /// Time of the tries that failed and were followed by another at once, with what passed between them, ns.
    pub ns: u64,
    /// Tries in the longest run, the first one too.
    pub longest: u64,
    /// Messages without a decoder that were sent by the last that was sent again; 0 where a decoder tells the requests.
    pub messages: u64,
    /// The first try of it, and the last.
    pub example: Option<Box<(Exemplar, Exemplar)>>,
}

/// A try in a run: which one it is, and how it began.
#[derive(Clone, Debug)]
pub(super) struct Try {
    /// From 1.
    number: u64,
    /// Time since the end of the one before.
    pub(super) gap: Nanos,
    /// What the failed try before it took, with the gap.
    wasted: Nanos,
    first: Exemplar,
}

/// A request that failed.
#[derive(Debug)]
struct Failed {
    end: Timestamp,
    parent: Option<u64>,
    dur: Nanos,
    own: Try,
}

/// Requests that failed lately, by what they asked and who asked it.
#[derive(Debug, Default)]
pub(super) struct FailedLately(HashMap<u64, Failed>);

impl FailedLately {
    /// Requests that failed and may be asked again. One is some hundred bytes.
    const MOST: usize = 512;
    /// Requests that come closer to each other were sent at once, before an answer could be expected.
    const PIPELINED: Nanos = Nanos::from_millis(5);
    /// A pause of this length gives the other end time: who tries again behind it does not storm.
    const PAUSE: Nanos = Nanos::from_millis(100);

    /// A request begins: which try it is, where the same one has just failed, and what the tries cost so far.
    pub(super) fn again(&mut self, record: &RequestRecord) -> Option<Try> {
        if self.0.is_empty() {
            return None;
        }
        let failed = self.0.remove(&key(record)?)?;
        let gap = record.begin.since(failed.end);
        let parent = record.parent.map(|(number, _)| number);
        // Two requests that we serve may need the same thing: only within one it is the same one again.
        let other = parent != failed.parent && parent.is_some() && failed.parent.is_some();
        if !gap.is_known() || gap >= Self::PAUSE || other || backs_off(failed.own.gap, gap) {
            return None;
        }
        let wasted = Nanos::new(failed.dur.or_zero().saturating_add(gap.or_zero()));
        Some(Try { number: failed.own.number + 1, gap, wasted, first: failed.own.first })
    }

    /// A client asks on the connection on which it asked the same `earlier`, without an answer so far: which try it is.
    pub(super) fn before_its_answer(
        earlier: &RequestRecord,
        own: Option<&Try>,
        record: &RequestRecord,
    ) -> Option<Try> {
        let gap = record.begin.since(earlier.begin);
        let is_same = key(record).is_some_and(|asked| key(earlier) == Some(asked));
        let before = own.map_or(Nanos::UNKNOWN, |own| own.gap);
        if !is_same || !gap.is_known() || gap < Self::PIPELINED || backs_off(before, gap) {
            return None;
        }
        Some(Try::behind(own.cloned(), &earlier.first_line, gap))
    }

    /// A request failed: one of ours, or one whose client left without an answer. `own` tells which try it was, where it was not the first.
    pub(super) fn failed(&mut self, record: &RequestRecord, end: Timestamp, own: Option<Try>) {
        let Some(key) = key(record).filter(|_| end.is_known() && may_heal(record)) else { return };
        if self.0.len() >= Self::MOST {
            self.0.retain(|_, failed| end.since(failed.end) < Self::PAUSE);
        }
        if self.0.len() < Self::MOST {
            let parent = record.parent.map(|(number, _)| number);
            let own = own.unwrap_or_else(|| Try {
                number: 1,
                gap: Nanos::UNKNOWN,
                wasted: Nanos::ZERO,
                first: record.first_line.clone(),
            });
            self.0.insert(key, Failed { end, parent, dur: end.since(record.begin), own });
        }
    }
}

impl Try {
    /// The try that was sent at `gap` behind one, which was itself one or the first of all.
    pub(super) fn behind(before: Option<Try>, first: &Exemplar, gap: Nanos) -> Try {
        let (number, first) = before.map_or((1, first.clone()), |before| (before.number, before.first));
        Try { number: number + 1, gap, wasted: gap, first }
    }
}

impl Retries {
    /// Takes a message in that was sent again.
    pub(super) fn sent_again(&mut self, own: &Try, messages: u64, call: &Call<'_>) {
        self.messages = messages;
        self.add(own, || Exemplar::of(call));
    }

    /// Takes a further try in, as it begins.
    pub(super) fn take(&mut self, own: &Try, record: &RequestRecord) {
        self.add(own, || record.first_line.clone());
    }

    fn add(&mut self, own: &Try, line: impl FnOnce() -> Exemplar) {
        self.count += 1;
        self.ns = self.ns.saturating_add(own.wasted.or_zero());
        if own.number > self.longest {
            self.longest = own.number;
            self.example = Some(Box::new((own.first.clone(), line())));
        }
    }
}

/// False for what no further try can change: an answer that the request itself is wrong (RFC 9110, 15.5), but for those
/// that ask to come again later (408, 425, 429).
fn may_heal(record: &RequestRecord) -> bool {
    let code = record.status.as_ref().map_or("", |status| &*status.text);
    !(code.len() == 3 && code.starts_with('4')) || matches!(code, "408" | "425" | "429")
}

/// True where the pause grows from try to try: half as long again, and more than what a clock tells apart.
pub(super) fn backs_off(before: Nanos, gap: Nanos) -> bool {
    const LEAST: Nanos = Nanos::from_millis(2);
    before.is_known()
        && gap >= LEAST
        && gap.or_zero() >= before.or_zero().saturating_add(before.or_zero() / 2)
}

/// What is asked, by which thread or (served) which host (queries and bodies are not kept); `None` where it is not known in full, so that another one may look alike.
fn key(record: &RequestRecord) -> Option<u64> {
    #[derive(Hash)]
    struct Asked<'a>(EndpointId, &'a str, Option<&'a str>, Tid, Option<&'a str>);
    let whole = !record.detail.is_empty() && !record.detail.contains([CUT, '*', '?']);
    let (tid, client) = match record.side {
        Side::Client => (record.tid, None),
        Side::Server => (0, record.peer.as_deref().map(host_of)),
    };
    let asked = Asked(record.endpoint, &record.detail, record.host.as_deref(), tid, client);
    whole.then(|| foldhash::fast::FixedState::default().hash_one(asked))
}
