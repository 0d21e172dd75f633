//! The comparison of two diagnoses: did the change work? Serialised as `whyslow.diff/1`.

use crate::diagnosis::Severity;
use crate::measurement::MeasurementChange;
use crate::time::Nanos;
use serde::Serialize;

/// Whether the change helped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DiffOutcome {
    /// What users get takes less time.
    Better,
    /// It takes more.
    Worse,
    /// Some of it takes less, and some more.
    Mixed,
    /// No more changed than between two equal runs.
    Unchanged,
    /// Nothing tells, or the second run did less or other work.
    Unknown,
}

impl DiffOutcome {
    /// The word with which a sentence begins.
    pub fn word(self) -> &'static str {
        match self {
            DiffOutcome::Better => "Better",
            DiffOutcome::Worse => "Worse",
            DiffOutcome::Mixed => "Mixed",
            DiffOutcome::Unchanged => "Unchanged",
            DiffOutcome::Unknown => "Unknown",
        }
    }
}

/// The whole comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diff {
    /// Always `whyslow.diff/1`.
    pub schema: &'static str,
    /// Whether the change helped.
    pub outcome: DiffOutcome,
    /// The outcome, and what tells it.
    pub verdict: String,
    /// Length of the first window, where known.
    pub before_ns: Nanos,
    /// Length of the second.
    pub after_ns: Nanos,
    /// Findings of the first that the second has no more.
    pub gone: Vec<FindingChange>,
    /// Findings that only the second has.
    pub new: Vec<FindingChange>,
    /// Findings of both.
    pub kept: Vec<FindingChange>,
    /// Findings of the first that the second capture cannot judge.
    pub unknown: Vec<FindingChange>,
    /// Measured figures side by side: work done, calls, time.
    pub figures: Vec<FigureChange>,
    /// What was not claimed, and why.
    pub refusals: Vec<String>,
}

impl Diff {
    /// The name of the JSON schema.
    pub const SCHEMA: &'static str = "whyslow.diff/1";
}

/// One finding in either or both.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// The rule.
    pub id: &'static str,
    /// The finding's title (of the first where it is in both).
    pub title: String,
    /// Severity before; `None` where it was not there.
    pub before: Option<Severity>,
    /// Severity after; `None` where it is not there.
    pub after: Option<Severity>,
    /// Share before.
    pub share_before: Option<f64>,
    /// Share after.
    pub share_after: Option<f64>,
    /// What the rule measured in each, with its thresholds.
    pub measurements: Vec<MeasurementChange>,
    /// In words: `200,135 stat calls -> 0`.
    pub change: String,
}

/// One figure in both.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureChange {
    /// What is counted: `write calls`, `renames`, `stat calls per write`, `time per request`.
    pub name: String,
    /// `count`, `ns`, `bytes`, `ratio`; `as-written` where the source does not tell its unit.
    pub unit: &'static str,
    /// Before; `None` where unknown.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// `after / before` where both are known and `before` is not zero.
    pub ratio: Option<f64>,
    /// True where the change is larger than what two equal runs may differ by.
    pub beyond_noise: Option<bool>,
    /// In words: `5.0x in an unknown time`.
    pub change: String,
}
