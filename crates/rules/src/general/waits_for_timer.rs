//! # waits-for-timer
//!
//! ## What it is
//! The program sleeps for a good part of the time that was asked about, and no rule with a remedy explains it: it does
//! not ask for something in between, it just waits for a time to pass.
//!
//! ## Why it is slow
//! A sleep ends no sooner because its reason has passed. Within a request or a command, all of it is felt.
//!
//! ## Example
//! ```text
//! clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200103>
//! ```
//!
//! ## What to do instead
//! Find who asks for the sleep (a pause between retries, a limit of a rate, a pace, a fixed delay for something that is
//! slow to start) and wait for the event itself, or for less.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A daemon that does something once a minute
//! sleeps in between because it has nothing to do. Where the work that waits is not seen, whether anybody is kept waiting
//! is not known. Sleeps until the next round is due (the rounds take equal times, the sleeps differ), those of a runtime's own threads, and
//! that of a parent beside its children at work are left out.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-timer",
    group: "general",
    summary: "what no other rule explains is sleeping",
    source: include_str!("waits_for_timer.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Timer])],
    check,
};

#[gated]
fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    unclaimed.report(out)
        .cause("A sleep takes as long as it was asked to, whatever happens meanwhile. The recording does not show that the program looks for something in between.")
        .fix("find what asks for it: a limit of a rate, a pause between tries, a fixed delay")
        .fix("wait for the event itself (a condition, a descriptor, a notification), or for less")
        .verify("whyslow account RECORDING   (after: the row of the timer is smaller)")
        .file();
}
