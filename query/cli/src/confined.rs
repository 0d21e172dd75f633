//! What the program gives up before it reads what strangers made: it opens what it was given and folders of its own, and nothing
//! else, whatever a question says or a damaged file does to the engine.

use anyhow::Context;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use whyslow_rights::{Grants, confine_to};

/// What it keeps.
pub(crate) struct Needs<'a> {
    /// What it was given to read.
    pub(crate) reads: &'a [PathBuf],
    /// Folders that it writes into; those that are not there are made, for this user alone.
    pub(crate) writes: &'a [Option<PathBuf>],
    /// The program that it starts.
    pub(crate) runs: Option<&'a Path>,
    /// It listens.
    pub(crate) listens: bool,
    /// It connects to other machines.
    pub(crate) connects: bool,
}

/// Confines this thread and those that it starts, as far as the kernel has Landlock. What is returned holds the folder for temporary files, which goes
/// with it.
///
/// # Errors
/// If there is no place for temporary files.
pub(crate) fn confine(needs: &Needs<'_>) -> anyhow::Result<TempDir> {
    let temporary = temporary_folder(None)?;
    let mut writes: Vec<&Path> = vec![temporary.path()];
    for folder in needs.writes.iter().flatten() {
        let made = folder.parent().is_none_or(|above| std::fs::create_dir_all(above).is_ok());
        // Where it cannot be made nothing is kept, as ever.
        if made && whyslow_privacy::files::create_folder_if_missing(folder).is_ok() {
            writes.push(folder);
        }
    }
    let reads: Vec<&Path> = needs.reads.iter().map(PathBuf::as_path).collect();
    let runs: Vec<&Path> = needs.runs.into_iter().collect();
    let grants = Grants {
        reads: &reads,
        writes: &writes,
        runs: &runs,
        listens: needs.listens,
        connects: needs.connects,
    };
    // Without Landlock it goes on: no question opens a file by its name, and parts are checked before they are decoded.
    drop(confine_to(&grants));
    Ok(temporary)
}

/// A folder for temporary files, of this process and the engine, below `within` or where the system has them. It goes with what is returned.
pub(crate) fn temporary_folder(within: Option<&Path>) -> anyhow::Result<TempDir> {
    let mut made = tempfile::Builder::new();
    made.prefix("whyslow-");
    let temporary = match within {
        Some(folder) => made.tempdir_in(folder),
        None => made.tempdir(),
    };
    let temporary = temporary.context("there is no place for temporary files")?;
    // The engine's too.
    let _ = tempfile::env::override_temp_dir(temporary.path());
    Ok(temporary)
}

/// Confines a process of a cluster, or one that asks it: it reads `reads`, where all of it lies on this machine, writes into the folder that is
/// returned, and talks to others.
///
/// # Errors
/// If there is no place for temporary files.
#[cfg(feature = "cluster")]
pub(crate) fn confine_in_cluster(reads: &[&Path], within: Option<&Path>) -> anyhow::Result<TempDir> {
    let temporary = temporary_folder(within)?;
    let writes = [temporary.path()];
    let grants = Grants { reads, writes: &writes, runs: &[], listens: true, connects: true };
    drop(confine_to(&grants));
    Ok(temporary)
}
