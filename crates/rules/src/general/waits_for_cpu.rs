//! # waits-for-cpu
//!
//! ## What it is
//! Threads could run and have no CPU: others have it, or the quota of their control group is used up. No rule with a
//! remedy explains it.
//!
//! ## Why it is slow
//! All that a thread computes takes so much longer. It shows in no system call.
//!
//! ## Example
//! ```text
//! thread 7 app: on CPU 2.1 s, waited for a CPU 1.4 s of 4.0 s
//! ```
//!
//! ## What to do instead
//! See who ran meanwhile (a recording tells; else `whyslow host`, `whyslow top`): threads of the program's own, or others. Run
//! fewer at once, move others away, or give more CPUs.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. Threads of one program that fill the CPUs wait
//! for each other: then it computes, and the queue is only the other side of it.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-cpu",
    group: "general",
    summary: "what no other rule explains is waiting for a CPU",
    source: include_str!("waits_for_cpu.rs"),
    needs: &[Need::Unclaimed(&[TimeState::RunQueue, TimeState::Throttled, TimeState::Stolen])],
    check,
};

#[gated]
fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    let row = unclaimed.largest();
    let report = match (row.state, row.ran_meanwhile()) {
        (TimeState::Throttled, _) => unclaimed
            .report(out)
            .cause("It had work and no CPU: its control group's quota was used up. No other program kept it waiting."),
        (TimeState::Stolen, _) => unclaimed
            .report(out)
            .cause("It had work and no CPU: the hypervisor gave the machine's CPUs to others.")
            .fix("move the machine to a host that is not oversold, or to a size with CPUs of its own"),
        (_, Some(who)) => unclaimed
            .report(out)
            .cause(format!("It had work and no CPU. Meanwhile ran, of all of the time: {who}.")),
        (_, None) => unclaimed
            .report(out)
            .cause("It had work and no CPU: others had them, or its control group's quota was used up.")
            .fix("see who ran meanwhile: whyslow host"),
    };
    report
        .fix("run fewer threads at once, move others away, raise the quota, or give more CPUs")
        .verify("whyslow threads RECORDING   (after: less time in the run queue)")
        .file();
}
