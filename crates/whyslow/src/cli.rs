//! The command line but for its commands: its help, and what all commands take.

use crate::global::Global;
use clap::{ArgMatches, ColorChoice, Command, FromArgMatches, Parser};

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
  whyslow explain slow.whyslow --why-not RULE      why a rule says nothing: what was measured, beside its thresholds
  whyslow check --budget budget.toml -- CMD        limits per request or run, for CI

Input is a recording, or what other tools print: strace, strace -c, ltrace, lsof, /proc/PID/fd, /proc/net/tcp; also as .gz and .zst, as a
directory, or as `-` for standard input. Kinds are recognised by their content.

Exit status: 0 done; 1 findings, where --fail-on asks for it, or a broken budget; 2 wrong usage or nothing readable; 3 a budget that could not
be judged.
Completions: whyslow completions bash|zsh|fish. Man pages: whyslow man DIR.";

/// What was given of the options that all commands take.
///
/// # Errors
/// If `matches` are of another command line.
pub(crate) fn global(matches: &ArgMatches) -> anyhow::Result<Global> {
    Ok(Cli::from_arg_matches(matches)?.global)
}

/// The command line without its commands.
pub(crate) fn without_commands() -> Command {
    let color = if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    <Cli as clap::CommandFactory>::command().color(color).max_term_width(120)
}
