//! `whyslow diagnose FILE…`: the main job.

use super::Command;
use crate::cli::{FailOn, FailOnArg, Global, Status};
use crate::{input, output};
use clap::{ArgMatches, Args, FromArgMatches};
use whyslow_report::{JSON, TERMINAL};

/// The command.
pub(super) static COMMAND: Command = Command { name: "diagnose", clap, run };

/// Say why a program is slow: cause, evidence, fix
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow diagnose trace.st                      one strace log
  whyslow diagnose trace.st trace.lsof           with what was open at its start
  whyslow diagnose strace-ff-logs/               all files in a directory, merged by time
  zcat old.st.gz | whyslow diagnose -            from a pipe
  whyslow diagnose --fail-on warning trace.st    for scripts: status 1 if there is a cause of slowness
  whyslow diagnose --json trace.st | jq '.findings[] | {id, share, title}'

The best recording: strace -f -ttT -y -s 256 -o trace.st -p PID, for about 30 seconds while it is slow, and
lsof -nP -p PID > trace.lsof. Other captures work too; what they cannot show is said.")]
struct Diagnose {
    #[command(flatten)]
    input: input::Files,
    #[command(flatten)]
    fail_on: FailOnArg,
}

fn clap() -> clap::Command {
    Diagnose::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Diagnose::from_arg_matches(matches)?;
    let facts = input::facts_of(&args.input.files, global)?;
    let diagnosis = whyslow_diagnose::diagnose(&facts);
    let format = if global.json { &JSON } else { &TERMINAL };
    output::to_stdout(|out| format.diagnosis(&diagnosis, &global.style(super::PIPE_WIDTH), out))?;
    Ok(FailOn::status(args.fail_on.fail_on, diagnosis.findings.iter().map(|finding| finding.severity)))
}
