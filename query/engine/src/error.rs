//! What can go wrong, in words that say what to do.

use std::path::PathBuf;
use std::time::Duration;

/// Why a database was not opened or a question not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// There is nothing to ask.
    #[error(
        "nothing could be read\n  {reasons}\nnext: give a recording (whyslow record -p PID -o slow.whyslow) or a capture"
    )]
    Nothing {
        /// Why each input was passed over.
        reasons: String,
    },
    /// An input that cannot be used.
    #[error("{}: {reason}", whyslow_model::visible::path(.path))]
    Input {
        /// The input.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The text is no question that can be answered: syntax, an unknown name, types that do not fit.
    #[error("{0}")]
    Question(String),
    /// It is a statement that would change something or open a file.
    #[error("only questions are answered (SELECT, WITH, VALUES, EXPLAIN, DESCRIBE, SHOW): {0}")]
    NotAQuestion(String),
    /// It took longer than it may.
    #[error("it took longer than {} s\nnext: ask for less (a span of ts, one thread), or allow more by --time", .0.as_secs_f64())]
    TooLong(Duration),
    /// It took more memory than it may.
    #[error(
        "it takes more memory than it may: {0}\nnext: ask for fewer groups or columns, or allow more by --memory"
    )]
    TooLarge(String),
    /// The caller gave it up.
    #[error("interrupted")]
    Interrupted,
    /// A part of a recording that nobody but an attacker would write, or a mistake of ours.
    #[error("the engine gave up on it: {0}")]
    Failed(String),
}
