//! `whyslow threads FILE…`: what each thread does and waits for.

use super::view::{Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "threads", clap, rights: rights::reader_of_files, run };

/// Show what each thread does, and what it waits for
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow threads trace.st               by time spent working in calls
  whyslow threads -S lock trace.st       by time spent waiting for locks
  whyslow threads -S calls trace.st      by number of calls
  whyslow threads -p 4711 -d 5s          of a process that runs")]
struct Threads {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Threads::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Threads::from_arg_matches(matches)?;
    args.input.show(COMMAND.name, &args.rows.ask(global), global)
}
