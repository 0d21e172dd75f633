//! Where diagnoses are kept: a folder of the user's own, in `$XDG_CACHE_HOME`, bounded; else one that lasts as long as the server.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::{NamedTempFile, TempDir};
use whyslow_privacy::files;

/// Bytes of all that is kept; the oldest make room.
const MOST_BYTES: u64 = 256 << 20;
/// What ours end in.
const ENDING: &str = "page.gz";

/// The folder.
pub(crate) struct Cache {
    folder: PathBuf,
    /// Goes with the server.
    _own: Option<TempDir>,
}

impl Cache {
    /// In that folder, which is made; in one of its own where it cannot be.
    ///
    /// # Errors
    /// If neither can be made.
    pub(crate) fn open(folder: Option<PathBuf>) -> Result<Cache, String> {
        if let Some(folder) = folder.or_else(usual_cache) {
            let made = folder.parent().is_none_or(|parent| std::fs::create_dir_all(parent).is_ok());
            if made
                && files::create_folder_if_missing(&folder)
                    .and_then(|()| files::close_folder(&folder))
                    .is_ok()
            {
                return Ok(Cache { folder, _own: None });
            }
        }
        let own =
            tempfile::Builder::new().prefix("whyslow-serve-").tempdir().map_err(|error| error.to_string())?;
        Ok(Cache { folder: own.path().to_path_buf(), _own: Some(own) })
    }

    /// The file for what a hash names.
    pub(crate) fn file(&self, print: &str) -> PathBuf {
        self.folder.join(format!("{print}.{ENDING}"))
    }

    /// A file to be given its name when it is complete.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn temporary(&self) -> Result<NamedTempFile, String> {
        NamedTempFile::new_in(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))
    }

    /// Removes the oldest files beyond the bound, never `kept`.
    pub(crate) fn trim(&self, kept: &Path) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(ENDING))
            .filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        files.sort_unstable();
        let mut sum: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in files {
            if sum <= MOST_BYTES {
                return;
            }
            if path != kept && std::fs::remove_file(&path).is_ok() {
                sum -= bytes;
            }
        }
    }
}

/// The folder in which diagnoses are kept: `$XDG_CACHE_HOME/whyslow/pages`, else below `~/.cache`.
pub fn usual_cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("whyslow/pages"))
}
