//! `whyslow serve FILE…`: the pages of recordings of any size, in a browser of this machine.

use super::{Command, beside, rights};
use crate::global::Global;
use crate::status::Status;
use clap::ArgMatches;

/// The command.
pub(super) static COMMAND: Command = Command { name: "serve", clap, rights: rights::all, run };

fn clap() -> clap::Command {
    beside::clap(
        COMMAND.name,
        "Serve the pages of recordings of any size to a browser of this machine",
        "\
Examples:
  whyslow serve slow.whyslow   prints the address to open
  whyslow serve --help         all options",
    )
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    beside::run(COMMAND.name, matches, global)
}
