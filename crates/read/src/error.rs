//! What can go wrong with an input as a whole. Damaged lines are no errors: they are notes.

use std::path::PathBuf;

/// Why an input could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It could not be opened or read.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file as given.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Nothing usable was in any of the inputs.
    #[error("nothing could be read: {reasons}")]
    Nothing {
        /// Each input with its reason, separated by `; `.
        reasons: String,
    },
}
