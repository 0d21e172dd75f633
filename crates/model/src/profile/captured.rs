//! A profile among the inputs of a diagnosis.

use super::{Profile, ProfileDamage, TopReport};
use crate::ids::SourceId;

/// A profile that was given, whole or not.
#[derive(Clone, Debug)]
pub struct CapturedProfile {
    /// Where it was read.
    pub source: SourceId,
    /// Its name as the user gave it.
    pub name: String,
    /// The name of its format: `pprof`, `folded stacks`; empty where none was recognised.
    pub format: &'static str,
    /// What it holds; `None` where nothing could be used.
    pub content: Option<ProfileContent>,
    /// Why it holds nothing, or nothing that can be trusted.
    pub damage: Option<ProfileDamage>,
    /// The same in words, with what to do next; empty where nothing is wrong.
    pub reason: String,
}

/// What a profile holds.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a file")]
pub enum ProfileContent {
    /// Stacks with values.
    Stacks(Profile),
    /// A printed table.
    Table(TopReport),
}
