//! What can go wrong with the server, in words that say what to do.

use whyslow_query_fleet::FleetError;

/// Why the server did not start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FleetServeError {
    /// The settings cannot be used.
    #[error("{place}: {reason}\nnext: docs/FLEET_SERVE.md has all settings")]
    Settings {
        /// The file, or the key.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot listen.
    #[error("{place}: {reason}\nnext: name another place with --bind")]
    Listen {
        /// The address or socket.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// The audit log cannot be written.
    #[error(
        "{place}: the audit log cannot be written: {reason}\nnext: mend that, or name another file with `audit`"
    )]
    Audit {
        /// The file.
        place: String,
        /// What the system said.
        reason: String,
    },
    /// The kernel gives no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
    /// The store of parts.
    #[error("{0}")]
    Fleet(#[from] FleetError),
    /// The pages of recordings.
    #[error("{0}")]
    Pages(String),
}
