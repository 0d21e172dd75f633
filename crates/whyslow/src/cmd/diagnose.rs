//! `whyslow diagnose -p PID` or `FILE…`: the main job.

use super::{Command, rights};
use crate::global::Global;
use crate::live::{self, LiveArgs};
use crate::status::{FailOn, FailOnArg, Status};
use crate::{input, output};
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;
use whyslow_facts::Facts;
use whyslow_report::{JSON, TERMINAL};

/// The command.
pub(super) static COMMAND: Command = Command { name: "diagnose", clap, rights: rights::reader_of_files, run };

/// Say why a program is slow: cause, evidence, fix
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow diagnose -p 4711                       ten seconds of a running program
  whyslow diagnose --name redis-server -d 30s    by name, longer
  whyslow diagnose -- ./import data.csv          a command from its start to its end
  whyslow diagnose trace.st                      one strace log
  whyslow diagnose trace.st trace.lsof           with what was open at its start
  whyslow diagnose strace-ff-logs/               all files in a directory, merged by time
  whyslow diagnose -p 4711 captures/             of straces of several processes, that of 4711 and whom it waits for
  whyslow diagnose web.whyslow db.whyslow        recordings of two hosts of the same time: web's waits, followed to db
  zcat old.st.gz | whyslow diagnose -            from a pipe
  whyslow diagnose --fail-on warning trace.st    for scripts: status 1 if there is a cause of slowness
  whyslow diagnose --json trace.st | jq '.findings[] | {id, share, title}'

The best capture: strace -f -ttT -y -s 256 -o trace.st -p PID, for about 30 seconds while it is slow, and
lsof -nP -p PID > trace.lsof. Other captures work too; what they cannot show is said.")]
struct Diagnose {
    /// Recordings and captures (strace, strace -c, ltrace, lsof, /proc dumps; also .gz, .zst), directories of them, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM_BUT_PIDS)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    fail_on: FailOnArg,
}

fn clap() -> clap::Command {
    Diagnose::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Diagnose::from_arg_matches(matches)?;
    let mut ended = None;
    let facts = if args.files.is_empty() && args.live.is_asked() {
        let recording = live::record(&args.live, None, None, global)?;
        let mut facts = Facts::of_target();
        recording.replay(&mut facts)?;
        facts.finish();
        ended = Some(recording.status());
        facts
    } else if args.files.is_empty() {
        bail!(
            "nothing to diagnose\nnext: name a process (-p PID, --name NAME), a command (-- CMD) or files; `whyslow diagnose --help` has examples"
        );
    } else {
        input::facts_of_target(&args.files, &args.live.pids, global)?
    };
    let diagnosis = whyslow_diagnose::diagnose(&facts);
    let format = if global.json { &JSON } else { &TERMINAL };
    output::to_stdout(|out| format.diagnosis(&diagnosis, &global.style(super::PIPE_WIDTH), out))?;
    let found =
        FailOn::status(args.fail_on.fail_on, diagnosis.findings.iter().map(|finding| finding.severity));
    Ok(match (found, ended) {
        // A command's own failure says more than our findings.
        (Status::Done, Some(status)) | (Status::Found, Some(status @ Status::Command(_))) => status,
        (found, _) => found,
    })
}
