//! `whyslow host FILE…`: which resource of the host is full, and who takes of it.

use super::view::{Input, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "host", clap, rights: rights::reader_of_files, run };

/// Show which resource of the host is full, who takes of it, and who waits
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow host top.txt iostat.txt pidstat.txt     tables pasted from other tools, as one
  whyslow host recording.whyslow                  what was sampled while recording
  whyslow host -a -d 5s                           of this host, now
  whyslow host -p 4711 -d 5s                      the same, while that process is recorded")]
struct Host {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    Host::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Host::from_arg_matches(matches)?;
    args.input.show(COMMAND.name, &args.rows.ask(global), global)
}
