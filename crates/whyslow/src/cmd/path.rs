//! `whyslow path FILE…`: where time went, followed through those who held it up.

use super::view::{self, Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_views::{Ask, PathAsk};

/// The command.
pub(super) static COMMAND: Command = Command { name: "path", clap, rights: rights::reader_of_files, run };

/// Show where the time of a thread or a request went, followed through those that it waited for
///
/// Without a thread or a request: which cause costs which share of all requests that are kept, or, where nothing is
/// served, of the programs' own time.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow path trace.st                                        what costs how much, over all
  whyslow path --by thread trace.st                            the same, each thread by itself
  whyslow path --thread 11091 trace.st                         all of a thread's time
  whyslow path --thread 11091 --at 08:36:24 trace.st           its wait at that moment, and who ended it
  whyslow path --request 17 trace.st                           a request (whyslow requests numbers them)
  whyslow path --without disk trace.st                         what would be without waits for files
  whyslow path --without 10.0.0.7:6379 trace.st                ... and without that peer
  whyslow path -p 4711 -d 5s                                   of a process that runs")]
struct Path {
    #[command(flatten)]
    input: Input,
    /// Of this thread
    #[arg(long, value_name = "TID")]
    thread: Option<u32>,
    /// Of the wait of that thread at this time of day
    #[arg(long, value_name = "TIME", requires = "thread")]
    at: Option<String>,
    /// Of this request
    #[arg(long, value_name = "N", conflicts_with = "thread")]
    request: Option<u64>,
    /// Tell what would be if this cost nothing: a kind (lock, disk, peer, run-queue, ...) or a part of a name
    #[arg(long, value_name = "WHAT")]
    without: Option<String>,
    #[arg(long, value_name = "KEY", help = view::by_help("path"), conflicts_with_all = ["thread", "request"])]
    by: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--by` is the key here.
    Path::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Path::from_arg_matches(matches)?;
    let path = PathAsk { thread: args.thread, at: args.at, request: args.request, without: args.without };
    let ask = Ask { path, by: args.by, ..args.rows.ask(global) };
    args.input.show(COMMAND.name, &ask, global)
}
