//! The commands, one file each.

mod account;
mod agent;
mod beside;
mod check;
mod completions;
mod depot;
mod diagnose;
mod diff;
mod disks;
mod doctor;
mod dump;
mod explain;
mod export;
mod fds;
mod files;
mod fleet;
mod host;
mod locks;
mod man;
mod mcp;
mod path;
mod peers;
mod profile;
mod record;
mod recover;
mod redact;
mod report;
mod requests;
mod rights;
mod rule;
mod schema;
mod serve;
mod sql;
mod summary;
mod threads;
mod top;
mod trace;
mod view;

pub(crate) use profile::with_two_dashes;

use crate::cli;
use crate::global::Global;
use crate::status::Status;
use clap::ArgMatches;

/// Columns of a report that does not go to a terminal: what fits into a ticket or a mail.
const PIPE_WIDTH: usize = 100;

/// One command.
pub(crate) struct Command {
    /// As it is typed.
    pub(crate) name: &'static str,
    /// Its arguments and help.
    pub(crate) clap: fn() -> clap::Command,
    /// What it may do.
    pub(crate) rights: fn(&ArgMatches) -> rights::Rights,
    /// Carries it out.
    pub(crate) run: fn(&ArgMatches, &Global) -> anyhow::Result<Status>,
}

/// All commands, in the order of the help.
pub(crate) static COMMANDS: &[&Command] = &[
    &diagnose::COMMAND,
    &record::COMMAND,
    &dump::COMMAND,
    &recover::COMMAND,
    &redact::COMMAND,
    &trace::COMMAND,
    &top::COMMAND,
    &agent::COMMAND,
    &report::COMMAND,
    &summary::COMMAND,
    &account::COMMAND,
    &host::COMMAND,
    &disks::COMMAND,
    &files::COMMAND,
    &fds::COMMAND,
    &peers::COMMAND,
    &requests::COMMAND,
    &locks::COMMAND,
    &path::COMMAND,
    &profile::COMMAND,
    &threads::COMMAND,
    &diff::COMMAND,
    &export::COMMAND,
    &sql::COMMAND,
    &serve::COMMAND,
    &depot::COMMAND,
    &fleet::COMMAND,
    &check::COMMAND,
    &explain::COMMAND,
    &rule::COMMAND,
    &schema::COMMAND,
    &mcp::COMMAND,
    &doctor::COMMAND,
    &completions::COMMAND,
    &man::COMMAND,
];

/// The whole command line.
pub(crate) fn command_line() -> clap::Command {
    cli::without_commands().subcommands(COMMANDS.iter().map(|entry| (entry.clap)()))
}

/// Carries out the command that was given.
pub(crate) fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let given = matches.subcommand();
    let found = given.and_then(|(name, matches)| {
        COMMANDS.iter().find(|command| command.name == name).map(|command| (command, matches))
    });
    match found {
        Some((command, matches)) => {
            (command.rights)(matches).take_effect();
            (command.run)(matches, global)
        }
        None => anyhow::bail!("no command given; `whyslow --help` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command_line().debug_assert();
    }
}
