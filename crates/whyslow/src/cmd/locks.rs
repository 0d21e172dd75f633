//! `whyslow locks FILE…`: what threads wait for at futexes, and who holds them.

use super::view::{Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "locks", clap, rights: rights::reader_of_files, run };

/// Show which locks threads wait for, who holds them, and for what
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow locks trace.st                 by time waited
  whyslow locks -v trace.st              with conditions and threads that are parked
  whyslow locks -S waits trace.st        by number of waits
  whyslow locks -p 4711 -d 5s            of a process that runs")]
struct Locks {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Locks::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Locks::from_arg_matches(matches)?;
    args.input.show(COMMAND.name, &args.rows.ask(global), global)
}
