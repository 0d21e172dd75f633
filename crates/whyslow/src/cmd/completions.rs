//! `whyslow completions SHELL`: completions for a shell, on standard output.

use super::{Command, command_line, rights};
use crate::global::Global;
use crate::output;
use crate::status::Status;
use clap::{ArgMatches, Args, FromArgMatches};
use clap_complete::Shell;

/// The command.
pub(super) static COMMAND: Command = Command { name: "completions", clap, rights: rights::all, run };

/// Print completions for a shell
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow completions bash > ~/.local/share/bash-completion/completions/whyslow
  whyslow completions zsh > ~/.zfunc/_whyslow
  whyslow completions fish > ~/.config/fish/completions/whyslow.fish")]
struct Completions {
    /// The shell
    shell: Shell,
}

fn clap() -> clap::Command {
    Completions::augment_args(clap::Command::new(COMMAND.name).hide(true))
}

fn run(matches: &ArgMatches, _: &Global) -> anyhow::Result<Status> {
    let args = Completions::from_arg_matches(matches)?;
    // clap_complete panics where the stream fails: a closed pipe must not reach it.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "whyslow", &mut script);
    output::to_stdout(|out| out.write_all(&script))?;
    Ok(Status::Done)
}
