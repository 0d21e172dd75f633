//! # waits-for-peer
//!
//! ## What it is
//! The program waits for the other end of a connection, and no rule with a remedy explains that time: the protocol is not
//! known, the waits are few, or they are not slow one by one.
//!
//! ## Why it is slow
//! Nothing of this time is the program's own. It ends when the other end answers, or reads what it was sent.
//!
//! ## Example
//! ```text
//! recvfrom(7, "\x02\x31\x00"..., 8192, 0, NULL, NULL) = 512 <0.310000>
//! ```
//!
//! ## What to do instead
//! Look at what the other end does meanwhile: record it too (`whyslow record -p PID` on its host). Ask it less often, for
//! less, or for several things at once; answer from a cache what does not change.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. The other end may be a client that has nothing
//! to ask, where the recording does not tell who opened the connection. A poll of several descriptors may wait for a pipe
//! or a timer as well.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-peer",
    group: "general",
    summary: "what no other rule explains is waiting for the other end of a connection",
    source: include_str!("waits_for_peer.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Peer, TimeState::Client, TimeState::Poll])],
    check,
};

fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    unclaimed.report(out)
        .cause(match unclaimed.object() {
        Some(peer) => format!("It does nothing while it waits: the time is that of {peer}, or of the network between."),
        None => "It does nothing while it waits: the time is that of the other end, or of the network between.".to_string(),
    })
        .fix("record the other end at the same time, and look at what it does: whyslow record -p PID")
        .fix("ask less often, for less, or for several things at once (batch, pipeline, several connections)")
        .verify("whyslow peers RECORDING   (after: less time waited for it)")
        .file();
}
