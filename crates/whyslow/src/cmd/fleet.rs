//! `whyslow fleet …`: questions about many hosts.

use super::{Command, beside, rights};
use crate::global::Global;
use crate::status::Status;
use clap::ArgMatches;

/// The command.
pub(super) static COMMAND: Command = Command { name: "fleet", clap, rights: rights::all, run };

fn clap() -> clap::Command {
    beside::clap(
        COMMAND.name,
        "Ask about many hosts, whose agents stored what they saw: findings, why, compare, where, hosts, SQL",
        "\
Examples:
  whyslow fleet findings --since 24h --by rule,service,version
  whyslow fleet why checkout --at 03:12
  whyslow fleet compare v1.8 v1.9
  whyslow fleet --help                                    all questions and options",
    )
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    beside::run(COMMAND.name, matches, global)
}
