//! # waits-for-pipe
//!
//! ## What it is
//! The program waits for a pipe: for what another program writes into it, or for room because the other one does not
//! read.
//!
//! ## Why it is slow
//! A pipe holds 64 KiB. Who writes faster than the other end reads waits for it, and the other way round: both are as
//! fast as the slower one.
//!
//! ## Example
//! ```text
//! write(1, "..."..., 65536) = 65536 <0.412000>
//! ```
//!
//! ## What to do instead
//! Find the program at the other end and look at it: it is the slow one. `whyslow fds` tells which it is, `whyslow path`
//! what it did meanwhile where it is recorded.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. A stage of a pipeline that is made for a burst
//! waits for its input most of the time.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-pipe",
    group: "general",
    summary: "what no other rule explains is waiting for a pipe",
    source: include_str!("waits_for_pipe.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Pipe])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out).map(|unclaimed| unclaimed.held_by(facts)) else { return };
    let look = unclaimed.look_at_holder();
    unclaimed
        .report(out)
        .cause(match (unclaimed.cause_by_holder(), unclaimed.object()) {
            (Some(cause), _) => cause,
            (None, Some(pipe)) => {
                format!("Who is at the other end of {pipe} is the slower one: both are as fast as it is.")
            }
            (None, None) => {
                "Who is at the other end of the pipe is the slower one: both are as fast as it is."
                    .to_string()
            }
        })
        .fix(look.unwrap_or_else(|| {
            "find who is at the other end (whyslow fds, lsof) and record that one too".to_string()
        }))
        .fix("where it only comes in bursts: a larger pipe (fcntl F_SETPIPE_SZ) or a queue in between")
        .verify("whyslow account RECORDING   (after: the row of the pipe is smaller)")
        .file();
}
