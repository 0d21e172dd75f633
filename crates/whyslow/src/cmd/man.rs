//! `whyslow man [DIR]`: the manual pages.

use super::{Command, command_line, rights};
use crate::global::Global;
use crate::output;
use crate::status::Status;
use anyhow::Context;
use clap::{ArgMatches, Args, FromArgMatches};
use clap_mangen::Man;
use std::path::PathBuf;
use whyslow_model::visible;

/// The command.
pub(super) static COMMAND: Command = Command { name: "man", clap, rights: rights::all, run };

/// Write the manual pages
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow man | man -l -              read the main page
  whyslow man ~/.local/share/man/man1 install all pages")]
struct ManArgs {
    /// Where to write all pages; the main one goes to standard output where it is not given
    directory: Option<PathBuf>,
}

fn clap() -> clap::Command {
    ManArgs::augment_args(clap::Command::new(COMMAND.name).hide(true))
}

fn run(matches: &ArgMatches, _: &Global) -> anyhow::Result<Status> {
    let args = ManArgs::from_arg_matches(matches)?;
    match args.directory {
        Some(directory) => {
            let failed = || format!("{}: the manual pages cannot be written", visible::path(&directory));
            std::fs::create_dir_all(&directory).with_context(failed)?;
            clap_mangen::generate_to(command_line(), &directory).with_context(failed)?;
        }
        None => output::to_stdout(|out| Man::new(command_line()).render(&mut &mut *out))?,
    }
    Ok(Status::Done)
}
