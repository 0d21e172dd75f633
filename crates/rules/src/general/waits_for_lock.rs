//! # waits-for-lock
//!
//! ## What it is
//! Threads wait for a lock, a condition, a semaphore or an event of another thread, and no rule with a remedy explains
//! that time.
//!
//! ## Why it is slow
//! Another thread or process has to do something first. What it does meanwhile is where the time goes.
//!
//! ## Example
//! ```text
//! futex(0x7f2c10, FUTEX_WAIT_PRIVATE, 2, NULL) = 0 <0.104000>
//! ```
//!
//! ## What to do instead
//! Find who holds it or has to signal it: `whyslow locks` names holders and wakers where they are recorded. Hold it for
//! less, split it, or take what is slow out of the part that it guards.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A thread of a pool that waits for work waits
//! in the same call. Where it cannot be told apart, the time is counted here.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-lock",
    group: "general",
    summary: "what no other rule explains is waiting for locks, conditions and events",
    source: include_str!("waits_for_lock.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Lock, TimeState::KernelWait, TimeState::Event])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out).map(|unclaimed| unclaimed.held_by(facts)) else { return };
    let cause = unclaimed.cause_by_holder();
    let look = unclaimed.look_at_holder();
    unclaimed.report(out)
        .cause(cause.unwrap_or_else(|| "Another thread or process has to give the lock back, or to signal, first: what that one does meanwhile is where the time goes.".to_string()))
        .fix(look.unwrap_or_else(|| "see who holds it, or wakes the waiters: whyslow locks".to_string()))
        .fix("hold it for less: take what waits or computes out of the part that it guards, or split it")
        .verify("whyslow locks RECORDING   (after: less time waited for it)")
        .file();
}
