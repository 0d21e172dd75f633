//! The command line: what all commands share, and the exit status.

use crate::cmd::COMMANDS;
use clap::{ArgMatches, Args, ColorChoice, Command, FromArgMatches, Parser, ValueEnum};
use std::io::IsTerminal;
use std::process::ExitCode;
use whyslow_diagnose::guards;
use whyslow_model::Severity;
use whyslow_report::Style;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// Done, and `--fail-on` asks to fail for what was found; for `doctor`: only the fallback works.
    Found,
    /// Wrong usage, or nothing could be read.
    Unusable,
    /// A recorded command ended with this status, which is passed on.
    Command(u8),
}

impl Status {
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Status::Done => ExitCode::SUCCESS,
            Status::Found => ExitCode::from(1),
            Status::Unusable => ExitCode::from(2),
            Status::Command(status) => ExitCode::from(status),
        }
    }
}

/// Point it at a slow program: what it waits for, who is to blame, what to change, and proof that the change worked.
#[derive(Parser)]
#[command(
    name = "whyslow",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "Find the cause:     whyslow diagnose -p PID\n\
                  Keep a recording:   whyslow record -p PID -o before.whyslow\n\
                  See the fix work:   whyslow diff before.whyslow after.whyslow",
    after_long_help = AFTER_LONG_HELP
)]
struct Cli {
    #[command(flatten)]
    global: Global,
}

const AFTER_LONG_HELP: &str = "\
Examples:
  whyslow diagnose -p PID                          ten seconds of a running program: the cause, the fix, the evidence
  whyslow record -p PID -d 1m -o slow.whyslow      a recording to keep; all commands read it
  whyslow trace -f -T -p PID                       its calls as strace prints them, at a small part of the cost
  whyslow doctor                                   what this machine allows
  strace -f -ttT -y -s 256 -o trace.st -p PID      where nothing can be installed: record with strace (end with Ctrl-C)
  lsof -nP -p PID > trace.lsof                     and what it has open
  whyslow diagnose trace.st trace.lsof             the cause, the fix, the evidence
  whyslow summary --by path --top 10 trace.st      where the time goes, by file
  whyslow fds --port 6379 trace.lsof               who talks to Redis
  whyslow diff before.st after.st                  did the fix work
  whyslow rule tz-stat-storm                       what a finding means

Input is a recording, or what other tools print: strace, strace -c, ltrace, lsof, /proc/PID/fd, /proc/net/tcp; also as .gz and .zst, as a
directory, or as `-` for standard input. Kinds are recognised by their content.

Exit status: 0 done; 1 findings, where --fail-on asks for it; 2 wrong usage or nothing readable.
Completions: whyslow completions bash|zsh|fish. Man pages: whyslow man DIR.";

/// What all commands take.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour; `auto` heeds NO_COLOR and uses none in a pipe
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Everything in full: notices, all threads, all notes, uncut evidence
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Do not replace passwords, tokens and cookies by `[redacted]`
    #[arg(long, global = true)]
    pub(crate) show_secrets: bool,
    /// Threads that read a trace; two where the machine has them
    #[arg(long, global = true, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) threads: Option<u8>,
}

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl Global {
    pub(crate) fn of(matches: &ArgMatches) -> anyhow::Result<Global> {
        Ok(Cli::from_arg_matches(matches)?.global)
    }

    /// How a report is to look on standard output; `pipe_width` columns where that is no terminal.
    pub(crate) fn style(&self, pipe_width: usize) -> Style {
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| width.0.into());
        Style {
            color: self.colored(terminal),
            width: width.unwrap_or(pipe_width),
            explain: self.verbose,
            show_secrets: self.show_secrets,
        }
    }

    /// Whether to colour what goes to a stream (<https://no-color.org>: NO_COLOR counts where it is not empty).
    pub(crate) fn colored(&self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

/// From which severity on a finding makes the command fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FailOn {
    /// A cause that costs a good part of the time.
    Warning,
    /// A cause that costs most of the time, or breaks the service.
    Critical,
}

impl FailOn {
    /// The status for findings of these severities.
    pub(crate) fn status(asked: Option<FailOn>, severities: impl IntoIterator<Item = Severity>) -> Status {
        let least = match asked {
            None => return Status::Done,
            Some(FailOn::Warning) => Severity::Warning,
            Some(FailOn::Critical) => Severity::Critical,
        };
        if severities.into_iter().any(|severity| severity >= least) { Status::Found } else { Status::Done }
    }
}

/// `--fail-on`, for the commands that find something.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FailOnArg {
    /// Exit with status 1 if there is a finding of this severity or above
    #[arg(long, value_name = "SEVERITY", long_help = fail_on_help())]
    pub(crate) fail_on: Option<FailOn>,
}

fn fail_on_help() -> String {
    format!(
        "Exit with status 1 if there is a finding of this severity or above. A warning costs at least {:.0} % of the \
         time, a critical finding at least {:.0} %, or it breaks the service",
        guards::WARNING_SHARE * 100.0,
        guards::CRITICAL_SHARE * 100.0
    )
}

/// The whole command line.
pub(crate) fn command() -> Command {
    let color = if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let mut command = <Cli as clap::CommandFactory>::command().color(color).max_term_width(120);
    for entry in COMMANDS {
        command = command.subcommand((entry.clap)());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn fail_on_fails_from_its_severity_on() {
        let found = [Severity::Notice, Severity::Warning];
        assert_eq!(FailOn::status(None, found), Status::Done);
        assert_eq!(FailOn::status(Some(FailOn::Warning), found), Status::Found);
        assert_eq!(FailOn::status(Some(FailOn::Critical), found), Status::Done);
    }
}
