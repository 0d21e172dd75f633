//! What can be wrong with a part or its name.

/// Why a part could not be named, written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The path is not that of a part.
    #[error("`{path}` is not the name of a part: {reason}")]
    Name {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Written by a later version that this one cannot read.
    #[error("its format is version {found}, and this whyslow reads version {known}: use a newer whyslow")]
    TooNew {
        /// The version that it states.
        found: String,
        /// The version of this program.
        known: String,
    },
    /// Not a part of this table.
    #[error("it is no part of table `{table}`: {reason}")]
    Foreign {
        /// The table that was meant.
        table: &'static str,
        /// What is missing or different.
        reason: String,
    },
    /// The bytes cannot be decoded.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The rows cannot be encoded.
    #[error("it cannot be written as Parquet: {0}")]
    Encode(String),
}
