//! `whyslow fds FILE…`: descriptors through time, asked as one asks lsof.

use super::view::{self, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;
use whyslow_views::{Ask, FdFilter};

/// The command.
pub(super) static COMMAND: Command = Command { name: "fds", clap, rights: rights::reader, run };

/// Show what each descriptor was, when, and what went through it
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow fds trace.lsof                        all that is open
  whyslow fds --by role trace.st trace.lsof     listening ports, clients and peers
  whyslow fds --port 6379 trace.lsof            as lsof -i :6379
  whyslow fds --peer 10.0.0.7 trace.lsof        as lsof -i @10.0.0.7
  whyslow fds --file /var/log trace.st          as lsof +D /var/log, with what was closed meanwhile
  whyslow fds --state CLOSE_WAIT trace.lsof     as lsof -s TCP:CLOSE_WAIT
  whyslow fds --fd 23 trace.st                  what descriptor 23 was, each time it was opened")]
struct Fds {
    /// Recordings (NAME.whyslow), captures (strace, lsof, lsof -F, /proc dumps; also .gz, .zst), directories of them, or - for standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[arg(long, value_name = "KEY", help = view::by_help("fds"))]
    by: Option<String>,
    /// Only sockets with this port on either end
    #[arg(long)]
    port: Option<u16>,
    /// Only sockets whose other end holds this text
    #[arg(long, value_name = "ADDRESS")]
    peer: Option<String>,
    /// Only this file, this directory, or files of this name
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only listening sockets
    #[arg(long)]
    listen: bool,
    /// Only this state: LISTEN, ESTABLISHED, CLOSE_WAIT, …, open, closed
    #[arg(long)]
    state: Option<String>,
    /// Only this process
    #[arg(long, short)]
    pid: Option<u32>,
    /// Only this number
    #[arg(long, short = 'd')]
    fd: Option<i32>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Fds::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Fds::from_arg_matches(matches)?;
    let fds = FdFilter {
        port: args.port,
        peer: args.peer,
        file: args.file,
        listen: args.listen,
        state: args.state,
        pid: args.pid,
        fd: args.fd,
    };
    let ask = Ask { by: args.by, fds, ..args.rows.ask(global) };
    if args.files.is_empty() {
        // `-p` chooses among the rows here, as with lsof.
        let whom = args.pid.map_or("PID".to_string(), |pid| pid.to_string());
        bail!(
            "nothing to show\nnext: name files; of a process that runs: whyslow record -p {whom} -d 5s -o fds.whyslow, then whyslow fds fds.whyslow"
        );
    }
    view::show(COMMAND.name, &args.files, &ask, global)
}
