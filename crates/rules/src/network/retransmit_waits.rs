//! What segments that are sent again may cost a program: of its waits for the peer, those that last as long as the kernel waits before it sends again.

use super::asked;
use super::stalls::{LEAST_TIMEOUT, Stalls};
use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::folds::account::{CallTime, ObjectKind};
use whyslow_facts::folds::peers::Role;
use whyslow_facts::{Facts, PeerFacts, WaitKind};
use whyslow_model::syscall::Moves;
use whyslow_model::{Nanos, SaturatingSum, ShareOf};

/// What of the waits for this peer the segments sent again may take, of the time of the thread that uses it; true where that is a good part.
#[gated]
pub(super) fn waited_for(
    facts: &Facts,
    peer: &PeerFacts,
    retransmits: u64,
    stalls: Option<&Stalls<'_>>,
) -> (Share, bool) {
    let tid = (!peer.shared).then_some(peer.tid);
    let again_ns = retransmits.saturating_mul(LEAST_TIMEOUT.or_zero());
    let share = match stalls {
        Some(stalls) => stalls.share(facts),
        None => {
            // On the host itself nothing is lost on the way.
            let most = if asked::is_here(&peer.name) { long_waits(facts, peer) } else { None };
            let most = most.unwrap_or(u64::MAX);
            guards::share_of_ns(facts, tid, Nanos::new(peer.wait_ns.min(again_ns).min(most)), 0)
        }
    };
    let waits = share.value.is_some_and(|value| value >= guards::WARNING_SHARE);
    (share, waits)
}

/// The waits for a peer on the host itself that lasted as long as the kernel waits before it sends again: a segment may stay in a full queue
/// for so long; what is sent earlier, as a probe behind the last segment, costs nobody time (RFC 8985). Of a client's they are those to send: the
/// others are for its next request. `None` where single waits are not known.
#[gated]
fn long_waits(facts: &Facts, peer: &PeerFacts) -> Option<u64> {
    let accounts = facts.world.threads.iter().filter_map(|(id, _)| facts.accounts.of(id));
    let calls = accounts.flat_map(|account| &account.calls).filter(|time| time.key.waits.is_some());
    let is_client = peer.role == Role::Client;
    let is_of = |time: &&CallTime| {
        let object = facts.accounts.objects.get(time.key.object);
        // Those of all clients go by our own address.
        match is_client {
            true => object.kind == ObjectKind::Peer && time.key.syscall.info().moves == Moves::Write,
            false => object.name() == &*peer.name,
        }
    };
    let mut waits = calls.filter(is_of).peekable();
    // Who never had to wait to send to a client has lost nothing by it.
    if waits.peek().is_none() && !is_client {
        return None;
    }
    let durations = waits.flat_map(|time| time.calls.histogram.durations());
    let long = durations.filter(|(dur, _)| *dur >= LEAST_TIMEOUT);
    Some(long.map(|(dur, count)| dur.or_zero().saturating_mul(u64::from(count))).saturating_sum())
}

/// The waits for the network, of the time of the thread that waits for it most.
#[gated]
pub(super) fn waited_for_network(facts: &Facts) -> (Share, bool) {
    let shares = facts.world.threads.iter().filter_map(|(_, thread)| {
        let wall = thread.wall().get().filter(|wall| *wall > 0)?;
        Some((thread.waiting_ns[WaitKind::Network as usize] as f64 / wall as f64, thread.tid))
    });
    match shares.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((value, tid)) => {
            (Share::of_time(value.min(1.0), ShareOf::wall_time_of(tid)), value >= guards::WARNING_SHARE)
        }
        None => (Share::unknown(), false),
    }
}
