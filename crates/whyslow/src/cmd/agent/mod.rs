//! `whyslow agent`: records all the time, and says each minute where the time went and what is wrong.

mod check;
#[cfg_attr(not(feature = "bpf"), path = "no_bpf.rs")]
mod run;
mod settings;
mod status;

use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use std::path::PathBuf;

/// The command.
pub(super) static COMMAND: Command = Command { name: "agent", clap, rights: rights::all, run: run_command };

/// Record all the time, and say each minute where the time went and what is wrong, at next to no cost
#[derive(Args)]
#[command(
    disable_help_subcommand = true,
    after_long_help = "\
Examples:
  whyslow agent check                            what will work on this host
  whyslow agent run --unit nginx --unit 'shop-*' records these units until it is ended
  whyslow agent run --config /etc/whyslow/agent.toml
  whyslow agent run -a --once 5 --state /tmp/w   all processes, for five minutes
  whyslow agent run -a --ring 30 --on 'request>p99*3' --on oom --storage s3://bucket/fleet
  whyslow agent status                           since when, whom, what it takes, what it lost, what waits

What it writes are Parquet parts below STATE/parts, a folder a table, date, hour and host. SIGTERM ends the window that is
open, writes it, and ends; SIGHUP reads the settings again. docs/AGENT.md has the rest."
)]
struct Agent {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Record until it is ended
    Run(Box<settings::RunArgs>),
    /// Say what will work on this host, and what it would record
    Check(Box<settings::RunArgs>),
    /// Say what the running agent does: targets, windows, losses, its own cost, what it gave up, parts that wait
    Status(settings::StateArgs),
    /// Tell one window: what the agent starts for itself
    #[command(hide = true)]
    Window {
        /// The folder of state
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// The window's folder
        folder: PathBuf,
    },
}

fn clap() -> clap::Command {
    Agent::augment_args(clap::Command::new(COMMAND.name))
}

fn run_command(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    match Agent::from_arg_matches(matches)?.what {
        What::Run(args) => run::run(&args),
        What::Check(args) => check::run(&args, global),
        What::Status(args) => status::run(&args, global),
        What::Window { state, folder } => run::window(&state, &folder),
    }
}
