//! Folders for what is read from files: in memory where the machine has a place for it, and gone with the input.

use std::path::Path;
use tempfile::{Builder, TempDir};

/// Where Linux has files in memory.
const MEMORY: &str = "/dev/shm";

/// An empty folder that is removed when it is dropped. `TMPDIR` says where, if it is set.
///
/// # Panics
/// Where none can be made.
pub(crate) fn folder() -> TempDir {
    let mut builder = Builder::new();
    builder.prefix("whyslow-fuzz-");
    let in_memory = std::env::var_os("TMPDIR").is_none() && Path::new(MEMORY).is_dir();
    let made = if in_memory { builder.tempdir_in(MEMORY) } else { builder.tempdir() };
    made.expect("a temporary folder can be made")
}

/// Writes a file of an input.
///
/// # Panics
/// Where it cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a temporary file can be written");
}

/// Makes a folder of an input.
///
/// # Panics
/// Where it cannot be made.
pub(crate) fn make(path: &Path) {
    std::fs::create_dir_all(path).expect("a temporary folder can be made");
}
