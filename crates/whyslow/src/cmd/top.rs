//! `whyslow top`: the live host, verdicts first.

use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use crate::top::{self, Top};
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "top", clap, rights: rights::all, run };

fn clap() -> clap::Command {
    Top::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    top::run(&Top::from_arg_matches(matches)?, global)
}
