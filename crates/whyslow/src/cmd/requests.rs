//! `whyslow requests FILE…`: what is asked of the program and by it, and how long answers take.

use super::view::{self, Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_views::{Ask, RequestFilter};

/// The command.
pub(super) static COMMAND: Command = Command { name: "requests", clap, rights: rights::reader_of_files, run };

/// Show what is asked of it and by it: how long, how many failed, what takes the time
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow requests trace.st trace.lsof            by endpoint, the most time first
  whyslow requests --slowest 10 trace.st          the slowest ones, each with what took its time
  whyslow requests --match /user --errors x.st    the failed ones of an URI, host, command, SQL or trace id
  whyslow requests --by peer -S p99 trace.st      by client and by server
  whyslow requests -p 4711 -d 5s                  of a process that runs")]
struct Requests {
    #[command(flatten)]
    input: Input,
    #[arg(long, value_name = "KEY", help = view::by_help("requests"))]
    by: Option<String>,
    /// Only requests that hold this text: URI, host, Redis command, SQL, peer, trace id
    #[arg(long = "match", value_name = "TEXT")]
    matching: Option<String>,
    /// One by one, the slowest N
    #[arg(long, value_name = "N")]
    slowest: Option<usize>,
    /// One by one, those that failed: an error for an answer, or none
    #[arg(long)]
    errors: bool,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--by` is the key here.
    Requests::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Requests::from_arg_matches(matches)?;
    let requests = RequestFilter { matching: args.matching, slowest: args.slowest, errors: args.errors };
    let ask = Ask { by: args.by, requests, ..args.rows.ask(global) };
    args.input.show(COMMAND.name, &ask, global)
}
