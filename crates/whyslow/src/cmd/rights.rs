//! What a command gives up before it runs: each says so by its entry in [`super::COMMANDS`], none is forgotten.

use clap::ArgMatches;
use std::path::{Path, PathBuf};

/// What a command may do.
pub(crate) enum Rights {
    /// It reads what strangers may have made: it is confined, and may write these outputs.
    Reader(Vec<PathBuf>),
    /// It and its children read below these directories alone, write nothing, and run no other program.
    ReaderBelow(Vec<PathBuf>),
    /// All that we may: it records, asks the network or starts other programs; or it reads nothing of strangers.
    All,
}

impl Rights {
    /// Gives up the rest. Nothing was read yet, and there is one thread.
    pub(super) fn take_effect(&self) {
        fn paths(all: &[PathBuf]) -> Vec<&Path> {
            all.iter().map(PathBuf::as_path).collect()
        }
        // As far as this kernel has it: `whyslow doctor` tells.
        match self {
            Rights::Reader(outputs) => drop(whyslow_rights::confine(&paths(outputs))),
            Rights::ReaderBelow(folders) => drop(whyslow_rights::confine_below(&paths(folders))),
            Rights::All => {}
        }
    }
}

/// The options that name what is written.
const OUTPUTS: [&str; 2] = ["output", "flame"];

/// Of a command that only reads.
pub(super) fn reader(matches: &ArgMatches) -> Rights {
    let given = OUTPUTS.iter().filter_map(|name| matches.try_get_one::<PathBuf>(name).ok().flatten());
    Rights::Reader(given.filter(|path| *path != Path::new("-")).cloned().collect())
}

/// Of one that reads files, or records where none is named.
pub(super) fn reader_of_files(matches: &ArgMatches) -> Rights {
    match matches.try_get_many::<PathBuf>("files") {
        Ok(Some(files)) if files.len() > 0 => reader(matches),
        _ => Rights::All,
    }
}

/// Of one that is not confined.
pub(super) fn all(_: &ArgMatches) -> Rights {
    Rights::All
}
