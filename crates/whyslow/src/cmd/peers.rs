//! `whyslow peers FILE…`: whom the program talks to, and how long answers take.

use super::view::{Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_views::{Ask, FdFilter};

/// The command.
pub(super) static COMMAND: Command = Command { name: "peers", clap, rights: rights::reader_of_files, run };

/// Show whom it talks to, how long answers take, and what fails
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow peers trace.st trace.lsof         servers and clients, by the time waited for each
  whyslow peers -S p99 trace.st             the slowest answers first
  whyslow peers --port 6379 trace.st        Redis only
  whyslow peers -p 4711 -d 5s               of a process that runs")]
struct Peers {
    #[command(flatten)]
    input: Input,
    /// Only servers at this port
    #[arg(long)]
    port: Option<u16>,
    /// Only peers whose address holds this text
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--port` is the server's here.
    Peers::augment_args(clap::Command::new(COMMAND.name)).mut_arg("ports", |ports| ports.long("local-port"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Peers::from_arg_matches(matches)?;
    let fds = FdFilter { port: args.port, peer: args.peer, ..FdFilter::default() };
    let ask = Ask { fds, ..args.rows.ask(global) };
    args.input.show(COMMAND.name, &ask, global)
}
