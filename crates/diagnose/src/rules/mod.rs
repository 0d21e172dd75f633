//! The rules: one file each under its group's folder, one line each in [`RULES`].
//!
//! A rule reads facts and never text, the kernel or another rule. Its file opens with its essay.

mod files;

use crate::engine::Rule;

/// All rules. The order is the order of the documentation: by group, then by name.
pub static RULES: &[&Rule] = &[&files::tz_stat_storm::RULE];

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
