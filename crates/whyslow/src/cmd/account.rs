//! `whyslow account FILE…`: where the time went, in rows that add up.

use super::view::{self, Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_views::Ask;

/// The command.
pub(super) static COMMAND: Command = Command { name: "account", clap, rights: rights::reader_of_files, run };

/// Show the account of time: who spends it, doing what or waiting for what, in rows that add up
///
/// Whose time counts: that of the requests that are served; else that of a command from its start to its end; else
/// that of all threads, without what they wait for work.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow account trace.st                by who, state, call and object
  whyslow account --by state a.whyslow    running, waiting for a CPU, for a file, for a peer, ...
  whyslow account --by thread a.whyslow   each thread by state
  whyslow account --by request a.whyslow  each endpoint by state
  whyslow account --by line a.whyslow     each line of the program's code by state
  whyslow account -p 4711 -d 5s           of a process that runs, for five seconds")]
struct Account {
    #[command(flatten)]
    input: Input,
    #[arg(long, value_name = "KEY", help = view::by_help("account"))]
    by: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--by` is the key here.
    Account::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Account::from_arg_matches(matches)?;
    let ask = Ask { by: args.by, ..args.rows.ask(global) };
    args.input.show(COMMAND.name, &ask, global)
}
