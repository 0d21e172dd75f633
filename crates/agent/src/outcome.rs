//! What became of a window, as the process that told it prints it.

use serde::{Deserialize, Serialize};

/// What became of a window.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(default)]
pub struct WindowOutcome {
    /// Its begin, us since 1970.
    pub start: i64,
    /// Services that did something in it.
    pub services: usize,
    /// Findings that opened, went on and closed in it.
    pub findings: [usize; 3],
    /// Findings that are open.
    pub open: usize,
    /// Rows, of all tables.
    pub rows: usize,
    /// Parts that wait, and their bytes.
    pub waiting: (u64, u64),
    /// Parts that were removed for want of room, and their bytes.
    pub removed: (u64, u64),
    /// CPU time of the process that told it, ms.
    pub cpu_ms: u64,
    /// The most memory that it had, bytes.
    pub memory: u64,
    /// Names of recordings that the ring kept in it.
    pub kept: Vec<String>,
    /// The ids of findings in it, where there are such recordings.
    pub found: Vec<String>,
    /// Parts of minutes that were joined for the store, and those made of them.
    pub joined: (u64, u64),
    /// What is to be told of it.
    pub notes: Vec<String>,
}
