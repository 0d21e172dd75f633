//! `whyslow summary FILE…` or `-a`: the table of `strace -c`, by any key, of files or of the live kernel.

use super::view::{self, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::live::LiveArgs;
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;
use whyslow_views::Ask;

/// The command.
pub(super) static COMMAND: Command = Command { name: "summary", clap, rights: rights::reader_of_files, run };

/// Show calls, time, errors and percentiles, as strace -c and more
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow summary trace.st                         as strace -c -w, with percentiles and waiting told from work
  whyslow summary --by path --top 10 trace.st      by file
  whyslow summary --by thread,syscall trace.st     by thread and call
  whyslow summary --by errno trace.st              which errors, how often
  whyslow summary -S calls strace-c.txt            a table of strace -c, sorted by calls
  whyslow summary -a -d 5s --by process,syscall    the whole host for five seconds, added up in the kernel
  whyslow summary -a -d 5s --by container,syscall  the same by container
  whyslow summary -p 4711 -d 5s --probe vfs_statx --by function
                                                   a function of the kernel: calls, times, and who calls it")]
struct Summary {
    /// Recordings (NAME.whyslow), captures (strace, strace -c, ltrace, perf trace; also .gz, .zst), directories of them, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    #[arg(long, value_name = "KEY", help = view::by_help("summary"))]
    by: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

/// Keys that counts have.
const ADDED_UP: [&str; 6] = ["syscall", "process", "thread", "cgroup", "container", "function"];

fn clap() -> clap::Command {
    // `--by` is the key here.
    Summary::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let mut args = Summary::from_arg_matches(matches)?;
    let ask = Ask { by: args.by, ..args.rows.ask(global) };
    if !args.live.is_asked() {
        if args.files.is_empty() {
            bail!(
                "nothing to sum up\nnext: name files, a process (-p PID) or the whole host (-a); `whyslow summary --help` has examples"
            );
        }
        return view::show(COMMAND.name, &args.files, &ask, global);
    }
    let view = whyslow_views::find(COMMAND.name).context("the view of this command")?;
    let needs_calls = |key: &str| view.by.contains(&key) && !ADDED_UP.contains(&key);
    if let Some(by) = ask.by.as_deref().filter(|by| by.split(',').any(needs_calls)) {
        bail!(
            "--by {by} needs single calls, and live ones are added up in the kernel by thread and call\nnext: whyslow record --mode full -o calls.whyslow …, then whyslow summary --by {by} calls.whyslow"
        );
    }
    args.live.for_summary();
    view::show_live(COMMAND.name, &args.live, &ask, global)
}
