//! How a recording goes.

use std::time::Duration;
use whyslow_model::Coverage;

/// How a recording goes, for the progress line.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordingProgress {
    /// Since it began.
    pub elapsed: Duration,
    /// Calls seen.
    pub calls: u64,
    /// Records lost, of all tables.
    pub lost: u64,
    /// Share of its CPU time that the target lost to us; `None` before it is measured.
    pub cost: Option<f64>,
    /// Bytes spooled.
    pub bytes: u64,
    /// What is recorded of the calls now.
    pub calls_now: Option<Coverage>,
    /// Nothing more can be written.
    pub failed: bool,
}
