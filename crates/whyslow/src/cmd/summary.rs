//! `whyslow summary FILE…`: the table of `strace -c`, by any key.

use super::Command;
use super::view::{self, Rows};
use crate::cli::{Global, Status};
use crate::input;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_diagnose::views::Ask;

/// The command.
pub(super) static COMMAND: Command = Command { name: "summary", clap, run };

/// Show calls, time, errors and percentiles, as strace -c and more
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow summary trace.st                         as strace -c -w, with percentiles and waiting told from work
  whyslow summary --by path --top 10 trace.st      by file
  whyslow summary --by thread,syscall trace.st     by thread and call
  whyslow summary --by errno trace.st              which errors, how often
  whyslow summary -S calls strace-c.txt            a table of strace -c, sorted by calls")]
struct Summary {
    #[command(flatten)]
    input: input::Files,
    #[arg(long, value_name = "KEY", help = view::by_help("summary"))]
    by: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Summary::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Summary::from_arg_matches(matches)?;
    let ask = Ask { by: args.by, ..args.rows.ask(global) };
    view::show(COMMAND.name, &args.input.files, &ask, global)
}
