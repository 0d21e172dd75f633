//! # computes
//!
//! ## What it is
//! The program computes for a good part of the time that was asked about, and no rule names the kind of work. No system
//! call and no wait is slow.
//!
//! ## Why it is slow
//! A faster disk, network or database changes nothing about it: the time goes when the program does less, or does it on
//! more CPUs.
//!
//! ## Example
//! ```text
//! app (7): on a CPU in its own code 3.1 s of 4.0 s; most in parse_row
//! ```
//!
//! ## What to do instead
//! Take a profile (`whyslow profile -p PID`) and look at the function with the largest part: do it once instead of each
//! time, by a better algorithm, or on more threads.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A compiler, a simulation or an encoder
//! computes because that is what it is for. Where a capture only tells what lies between calls, waiting for a CPU is in
//! it.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "computes",
    group: "general",
    summary: "what no other rule explains is computing",
    source: include_str!("computes.rs"),
    needs: &[Need::Unclaimed(&[TimeState::User, TimeState::BetweenCalls])],
    check,
};

/// The rule about a program that computes most of its time: its id says more, where samples name the function.
const CPU_BOUND: &str = "cpu-bound";
/// From this part on of the time in which it did not wait for a CPU.
const MOST: f64 = 0.5;
/// And of all of it: with less, waiting for a CPU is what is slow.
const MUCH: f64 = 0.25;

#[gated]
fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    let (share, _) = unclaimed.part();
    let is_most =
        unclaimed.part_beside(TimeState::RunQueue) >= MOST && share.value.is_some_and(|share| share >= MUCH);
    let is_bound = is_most && unclaimed.largest().state == TimeState::User && unclaimed.function().is_some();
    unclaimed.report(out)
        .under(if is_bound { CPU_BOUND } else { RULE.id })
        .cause(match unclaimed.function() {
        Some(function) => format!("No wait and no call takes this time: the program's own code does, most of it in {function}."),
        None => "No wait and no call takes this time: the program's own code does, or it waits for a CPU where the capture cannot tell.".to_string(),
    })
        .fix("look at the profile: do the hot path less often, by a better algorithm, or on more threads")
        .fix("whyslow profile -p PID   (where samples are missing)")
        .verify("whyslow profile RECORDING   (after: less CPU time for the same work)")
        .file();
}
