//! # kernel-time
//!
//! ## What it is
//! The program spends a good part of its time in system calls that do not wait but work: the kernel copies, looks up,
//! maps or computes for it. No rule names the kind.
//!
//! ## Why it is slow
//! Each call costs its way into the kernel and back, and what it does there. Many small calls, or large amounts, add up.
//!
//! ## Example
//! ```text
//! getdents64(4, /* 4096 entries */, 131072) = 131064 <0.021000>
//! ```
//!
//! ## What to do instead
//! See which call on what takes it (`whyslow account`, `whyslow summary`): make it less often, for more at once, or not
//! at all.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A program whose work is done by the kernel
//! (cp, a proxy, a packet filter) spends its time there. Under a tracer, the calls' time is in good part the tracer's.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "kernel-time",
    group: "general",
    summary: "what no other rule explains is the kernel's work in calls",
    source: include_str!("kernel_time.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Kernel, TimeState::InCall])],
    check,
};

#[gated]
fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    unclaimed.report(out)
        .cause(match unclaimed.call() {
        Some(call) => format!("The kernel works for the program in these calls, most of it in {call}: it does not wait for anything that is named."),
        None => "The kernel works for the program: it does not wait for anything that is named.".to_string(),
    })
        .fix("see which call on what it is: whyslow account --by object, whyslow summary")
        .fix("make it less often, for more at once, or keep the answer")
        .verify("whyslow summary RECORDING   (after: less time in these calls)")
        .file();
}
