//! `whyslow threads FILE…`: what each thread does and waits for.

use super::view::{self, Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_views::Ask;

/// The command.
pub(super) static COMMAND: Command = Command { name: "threads", clap, rights: rights::reader_of_files, run };

/// Show what each thread does, and what it waits for
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow threads trace.st               by name, by time spent working in calls
  whyslow threads --by thread trace.st   each thread by itself
  whyslow threads -S lock trace.st       by time spent waiting for locks
  whyslow threads -S calls trace.st      by number of calls
  whyslow threads -p 4711 -d 5s          of a process that runs")]
struct Threads {
    #[command(flatten)]
    input: Input,
    #[arg(long, value_name = "KEY", help = view::by_help("threads"))]
    by: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--by` is the key here.
    Threads::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Threads::from_arg_matches(matches)?;
    let ask = Ask { by: args.by, ..args.rows.ask(global) };
    args.input.show(COMMAND.name, &ask, global)
}
