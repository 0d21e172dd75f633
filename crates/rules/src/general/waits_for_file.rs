//! # waits-for-file
//!
//! ## What it is
//! The program waits for files or for the device below them, and no rule with a remedy explains that time.
//!
//! ## Why it is slow
//! The file system or the device works meanwhile, or others are served before. The thread can do nothing else.
//!
//! ## Example
//! ```text
//! pread64(5, "..."..., 8192, 733184) = 8192 <0.018113>
//! ```
//!
//! ## What to do instead
//! See whether the file is needed at all, and whether it is asked for in larger pieces, ahead of time, or by more threads
//! at once. `whyslow disks` tells how busy the device was and with whom.
//!
//! ## When it is wrong
//! It is a notice: it says where the time went, not that this is too much. What is read for the first time must come from
//! the device: a program that is run once is not slow for it.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::TimeState;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-file",
    group: "general",
    summary: "what no other rule explains is waiting for files",
    source: include_str!("waits_for_file.rs"),
    needs: &[Need::Unclaimed(&[TimeState::File, TimeState::PageFault])],
    check,
};

#[gated]
fn check(_: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    unclaimed
        .report(out)
        .cause(match unclaimed.object() {
            Some(file) => format!(
                "The thread waits until the file system or the device has done what it asks of {file}."
            ),
            None => "The thread waits until the file system or the device has done what it asks.".to_string(),
        })
        .fix("see how busy the device was, and with whose requests: whyslow disks")
        .fix("read ahead or in larger pieces, write behind, or keep it in memory")
        .verify("whyslow files RECORDING   (after: less time in its calls)")
        .file();
}
