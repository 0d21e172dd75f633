//! `whyslow sql FILE… ["SELECT …"]`: SQL over recordings and captures.

use super::{Command, beside, rights};
use crate::global::Global;
use crate::status::Status;
use clap::ArgMatches;

/// The command.
pub(super) static COMMAND: Command = Command { name: "sql", clap, rights: rights::all, run };

fn clap() -> clap::Command {
    beside::clap(
        COMMAND.name,
        "Ask recordings and captures in SQL: one question, or a shell",
        "\
Examples:
  whyslow sql slow.whyslow                                a shell: \\help, \\d, \\macros
  whyslow sql slow.whyslow \"SELECT * FROM top_syscalls\"   one question
  whyslow sql --help                                      all options",
    )
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    beside::run(COMMAND.name, matches, global)
}
