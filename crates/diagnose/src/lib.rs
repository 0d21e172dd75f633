//! Events to facts, facts to findings, and the comparison of two diagnoses.
//!
//! [`facts::Facts`] folds the event stream; the [`rules::RULES`] read the facts; [`diagnose`] ranks what they
//! found. Nothing here parses a file or prints.

pub mod chain;
pub mod diff;
pub mod engine;
pub mod facts;
mod figures;
mod file_writers;
pub mod guards;
mod kernel_threads;
pub mod payload;
pub mod rules;
pub mod verdict;
pub mod views;
pub mod walk;
mod who;

pub use diff::{Side, diff, two_runs};
pub use engine::{Findings, Need, Rule, Subjects};
pub use facts::Facts;
pub use verdict::diagnose;
/// Figures in sentences, under the name that rules use.
pub(crate) use whyslow_model::figures as words;
