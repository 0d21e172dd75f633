//! # waits-for-child
//!
//! ## What it is
//! The program waits for a child or a thread to end, and what that one did is not recorded or has no rule of its own.
//!
//! ## Why it is slow
//! The time is the child's. The parent can do nothing about it but start it earlier, or several at once.
//!
//! ## Example
//! ```text
//! wait4(4711, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 4711 <1.804000>
//! ```
//!
//! ## What to do instead
//! Record the children too (`strace -f`, `whyslow record -f`), and see what they wait for. Start those that do not need
//! each other at once.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A supervisor (a shell, init, a master of
//! workers) waits for its children all its life: that is its work.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-child",
    group: "general",
    summary: "what no other rule explains is waiting for children or threads to end",
    source: include_str!("waits_for_child.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Child])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out).map(|unclaimed| unclaimed.held_by(facts)) else { return };
    let cause = unclaimed.cause_by_holder();
    unclaimed
        .report(out)
        .cause(cause.unwrap_or_else(|| {
            "The time is that of the child or thread: it goes on when that one has ended.".to_string()
        }))
        .fix("record the children as well, and see where their time goes: whyslow record -- COMMAND")
        .fix("start those that do not need each other at once, and do something else meanwhile")
        .verify("whyslow path RECORDING   (what the way to its end is made of)")
        .file();
}
