//! `whyslow locks FILE…`: what threads wait for at futexes, and who holds them.

use super::view::{self, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::input;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "locks", clap, rights: rights::reader, run };

/// Show which locks threads wait for, who holds them, and for what
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow locks trace.st                 by time waited
  whyslow locks -S waits trace.st        by number of waits")]
struct Locks {
    #[command(flatten)]
    input: input::Files,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Locks::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Locks::from_arg_matches(matches)?;
    view::show(COMMAND.name, &args.input.files, &args.rows.ask(global), global)
}
