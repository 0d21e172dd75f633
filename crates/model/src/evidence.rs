//! The lines that show a finding, or a step of the walk over the host.

use serde::Serialize;

/// One line that shows a finding.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// `trace.st:1042`, or `trace.st:1042,1050` for a call in two halves.
    pub source: String,
    /// The line itself (redacted and cut).
    pub text: String,
}
