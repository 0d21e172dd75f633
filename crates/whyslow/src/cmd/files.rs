//! `whyslow files FILE…`: what was done with each file.

use super::Command;
use super::view::{self, Rows};
use crate::cli::{Global, Status};
use crate::input;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_diagnose::views::{Ask, FdFilter};

/// The command.
pub(super) static COMMAND: Command = Command { name: "files", clap, run };

/// Show what was done with each file or pattern of files
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow files trace.st                   by time spent on each file
  whyslow files --by pattern trace.st      /tmp/{uuid}/{n}.txt as one row
  whyslow files -S written trace.st        by bytes written
  whyslow files --file /var/log trace.st   in one directory")]
struct FilesView {
    #[command(flatten)]
    input: input::Files,
    #[arg(long, value_name = "KEY", help = view::by_help("files"))]
    by: Option<String>,
    /// Only this file, this directory, or files of this name
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    FilesView::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = FilesView::from_arg_matches(matches)?;
    let fds = FdFilter { file: args.file, ..FdFilter::default() };
    let ask = Ask { by: args.by, fds, ..args.rows.ask(global) };
    view::show(COMMAND.name, &args.input.files, &ask, global)
}
