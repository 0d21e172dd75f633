//! Why the agent ends.

use std::path::PathBuf;
use whyslow_model::visible;
use whyslow_record::RecordError;

/// Why the agent ended.
#[derive(thiserror::Error, Debug)]
pub enum AgentError {
    /// Nothing can be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its state cannot be kept.
    #[error("{}: {source}\nnext: choose another folder by `state`, or make room there", visible::path(path))]
    State {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another agent has this state.
    #[error(
        "{}: another agent uses it (process {pid})\nnext: end that one, or choose another folder by `state`",
        visible::path(path)
    )]
    Taken {
        /// The folder.
        path: PathBuf,
        /// Its process.
        pid: u32,
    },
}
