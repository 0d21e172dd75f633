//! The ends of connections at one address, and when they were open.

use hashbrown::HashMap;
use whyslow_model::Timestamp;

/// Times of one connection in two traces may lie so far apart: a tracer stamps a call when it gets a CPU to look at it, and with as many tracers as
/// processes that takes some turns of the scheduler (base_slice_ns, some milliseconds).
const TOLERANCE_NS: u64 = 10_000_000;

/// From when to when, as far as both are known.
pub(super) type Span = (Timestamp, Timestamp);

/// The ends of connections at one address, by party.
#[derive(Default)]
pub(super) struct Served<'a> {
    pub(super) by_peer: HashMap<&'a str, Vec<(usize, Span)>>,
    /// Those of which the other end is not known, as one that listens.
    pub(super) peerless: HashMap<usize, Span>,
    pub(super) all: HashMap<usize, Span>,
}

impl<'a> Served<'a> {
    pub(super) fn add(&mut self, party: usize, peer: Option<&'a str>, span: Span) {
        let both = |known: &mut Span| {
            let unless_unknown =
                |a: Timestamp, b: Timestamp, of: fn(u64, u64) -> u64| match (a.get(), b.get()) {
                    (Some(a), Some(b)) => Timestamp::new(of(a, b)),
                    _ => Timestamp::UNKNOWN,
                };
            let opened = unless_unknown(known.0, span.0, u64::min);
            *known = (opened, unless_unknown(known.1, span.1, u64::max));
        };
        self.all.entry(party).and_modify(both).or_insert(span);
        match peer {
            Some(peer) => self.by_peer.entry(peer).or_default().push((party, span)),
            None => {
                self.peerless.entry(party).and_modify(both).or_insert(span);
            }
        }
    }
}

/// True where two spans of time have a moment in common, as far as both are known.
pub(super) fn overlap((a, b): Span, (c, d): Span) -> bool {
    let before = |end: Timestamp, begin: Timestamp| match (end.get(), begin.get()) {
        (Some(end), Some(begin)) => end.saturating_add(TOLERANCE_NS) < begin,
        _ => false,
    };
    !before(b, c) && !before(d, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn span(from: u64, to: u64) -> Span {
        (Timestamp::new(from * MS), Timestamp::new(to * MS))
    }

    #[test]
    fn times_that_nobody_told_are_open_and_tracers_may_be_late() {
        assert!(overlap(span(0, 5), span(5, 9)) && overlap(span(0, 5), span(14, 19)));
        assert!(!overlap(span(0, 5), span(16, 19)) && !overlap(span(16, 19), span(0, 5)));
        assert!(overlap(span(0, 5), (Timestamp::UNKNOWN, Timestamp::new(99 * MS))));
    }

    #[test]
    fn many_ends_of_one_party_are_one_span() {
        let mut served = Served::default();
        (0..9).for_each(|at| served.add(3, None, span(at, at + 1)));
        served.add(4, Some("127.0.0.1:5000"), span(2, 3));
        assert_eq!((served.peerless.len(), served.all.len()), (1, 2));
        assert_eq!(served.peerless[&3], span(0, 9));
        assert_eq!(served.by_peer["127.0.0.1:5000"], [(4, span(2, 3))]);
        served.add(3, None, (Timestamp::new(MS), Timestamp::UNKNOWN));
        assert_eq!(served.peerless[&3], (Timestamp::new(0), Timestamp::UNKNOWN));
    }
}
