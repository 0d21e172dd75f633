//! What can go wrong in keeping a window, and in recording on request.

use std::io;
use std::path::PathBuf;
use whyslow_model::visible;

/// Why a window was not kept.
#[derive(thiserror::Error, Debug)]
pub enum FlightError {
    /// The recorder failed.
    #[error(transparent)]
    Record(#[from] whyslow_record::RecordError),
    /// The recording could not be written.
    #[error(transparent)]
    Store(#[from] whyslow_store::StoreError),
    /// A file or folder.
    #[error("{}: {source}", visible::path(path))]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder of another recorder, or of none.
    #[error("{}: holds no window that waits to be finished", visible::path(.0))]
    NotPending(PathBuf),
    /// A folder in which no recording is to be made, or another process makes it.
    #[error("{}: no recording waits here to be made", visible::path(.0))]
    NotAsked(PathBuf),
}

impl FlightError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FlightError {
        let path = path.into();
        |source| FlightError::File { path, source }
    }
}
