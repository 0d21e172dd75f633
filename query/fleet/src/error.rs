//! What can go wrong with a question about a fleet, in words that say what to do.

use whyslow_query_engine::QueryError;

/// Why a fleet was not opened or a question not answered.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The place of the parts cannot be used.
    #[error(
        "{root}: {reason}\nnext: name a directory, or s3://BUCKET/PREFIX with its credentials in the environment (docs/FLEET.md)"
    )]
    Root {
        /// The place as it was given.
        root: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The place answers with an error.
    #[error(
        "{root} could not be listed: {reason}\nnext: look at its address, the credentials in the environment and the network"
    )]
    Store {
        /// The place as it was given.
        root: String,
        /// What it said.
        reason: String,
    },
    /// A time or a span that cannot be read.
    #[error("{text}: no time\nnext: write 03:12, 2026-11-27T03:12 (UTC), or 24h, 30m, 7d before now")]
    Time {
        /// What was written.
        text: String,
    },
    /// There is nothing about what was asked.
    #[error("{0}")]
    Nothing(String),
    /// The question itself.
    #[error(transparent)]
    Query(#[from] QueryError),
}
