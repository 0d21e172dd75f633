//! Temporary folders: nobody but their user may look into them.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use whyslow_privacy::files;

/// A folder whose name begins with `prefix`; it goes with what is returned.
///
/// # Errors
/// Where it cannot be made.
pub(crate) fn folder(prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    let folder = builder.prefix(prefix).permissions(Permissions::from_mode(files::FOLDER)).tempdir()?;
    files::close_folder(folder.path())?;
    Ok(folder)
}
