//! What can go wrong with a recording as a whole. A damaged part is no error when reading: it is a note.

use std::io;
use std::path::{Path, PathBuf};
use whyslow_model::visible;

/// Why a recording could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory is there already.
    #[error("{}: exists already; a recording is never written over: give another name, or remove it", visible::path(.0))]
    Exists(PathBuf),
    /// The disk is full.
    #[error(
        "{}: no space left on the device; what was written before can be read. Free some space, record to another \
         disk, or bound the recording with --max-size",
        visible::path(.0)
    )]
    Full(PathBuf),
    /// The file system refused.
    #[error("{}: {source}", visible::path(path))]
    Io {
        /// What was read or written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A part could not be encoded.
    #[error("{}: cannot be written as Parquet: {reason}", visible::path(path))]
    Encode {
        /// The part.
        path: PathBuf,
        /// What the encoder said.
        reason: String,
    },
    /// Not a recording.
    #[error(
        "{}: not a recording: {reason}; a recording is a directory with meta.json and a folder for each table",
        visible::path(path)
    )]
    NotARecording {
        /// The directory.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// Written by a later version that this one cannot read.
    #[error(
        "{}: its format is `{found}`, and this version reads `{known}`: use a newer whyslow",
        visible::path(path)
    )]
    TooNew {
        /// The directory.
        path: PathBuf,
        /// The format it states.
        found: String,
        /// The format of this version.
        known: &'static str,
    },
}

impl StoreError {
    /// An error of the file system at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> StoreError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(path.to_path_buf()),
            io::ErrorKind::AlreadyExists => StoreError::Exists(path.to_path_buf()),
            _ => StoreError::Io { path: path.to_path_buf(), source },
        }
    }
}
