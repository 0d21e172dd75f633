//! Answers that come late by TCP's doing: the kernel sends a lost segment again when it has waited for an acknowledgement in vain.

use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::folds::peers::Role;
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{FdKind, Nanos, SaturatingSum};

/// How long the kernel waits for an acknowledgement at least before it sends again (TCP_RTO_MIN, include/net/tcp.h).
pub(super) const LEAST_TIMEOUT: Nanos = Nanos::from_millis(200);
/// So many are a habit.
pub(super) const FEW: u64 = 3;

/// A server that mostly answers at once, and several times only after so long as the kernel waits for an acknowledgement.
pub(super) struct Stalls<'a> {
    pub(super) peer: &'a PeerFacts,
    /// Such answers.
    pub(super) count: u64,
    /// Their time, ns.
    ns: u64,
}

impl<'a> Stalls<'a> {
    /// `None` where there are fewer than [`FEW`], or where the server may be slow by itself.
    #[gated]
    pub(super) fn of(peer: &'a PeerFacts) -> Option<Stalls<'a>> {
        /// The kernel waits twice as long before it sends for the third time.
        const SECOND_TIMEOUT: Nanos = Nanos::from_millis(400);
        /// Beside these an answer that takes as long as the least wait is no slow answer.
        const QUICK: Nanos = Nanos::from_millis(50);
        let times = peer.answers.histogram.durations();
        let late = || times.iter().filter(|(dur, _)| *dur >= LEAST_TIMEOUT);
        let sum = |most: Nanos| {
            late().filter(|(dur, _)| *dur < most).map(|(_, count)| u64::from(*count)).saturating_sum()
        };
        let (count, first) = (sum(Nanos::UNKNOWN), sum(SECOND_TIMEOUT));
        let is_tcp = matches!(peer.kind, FdKind::Tcp | FdKind::Socket) && peer.role == Role::Server;
        // What is slow by itself takes any time; most lost segments come through when they are sent again.
        (is_tcp && count >= FEW && first * 2 >= count && peer.answers.percentile(0.5) < QUICK).then(|| {
            let ns = late().map(|(dur, count)| dur.or_zero().saturating_mul(u64::from(*count)));
            Stalls { peer, count, ns: ns.saturating_sum() }
        })
    }

    /// The one with the longest.
    pub(super) fn longest(facts: &'a Facts) -> Option<Stalls<'a>> {
        facts.peers.iter().filter_map(Stalls::of).max_by_key(|stalls| (stalls.ns, &stalls.peer.name))
    }

    /// Their part of the time of the thread that waits.
    pub(super) fn share(&self, facts: &Facts) -> Share {
        guards::share_of_ns(facts, (!self.peer.shared).then_some(self.peer.tid), Nanos::new(self.ns), 0)
    }
}
