//! `whyslow files FILE…` or `-a`: what was done with each file, and by whom, of files or of the live kernel.

use super::view::{self, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::live::LiveArgs;
use crate::status::Status;
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;
use whyslow_views::{Ask, FdFilter};

/// The command.
pub(super) static COMMAND: Command = Command { name: "files", clap, rights: rights::reader_of_files, run };

/// Show what was done with each file or pattern of files, and by whom
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow files trace.st                   by time spent on each file
  whyslow files --by pattern trace.st      /tmp/{uuid}/{n}.txt as one row
  whyslow files -S written trace.st        by bytes written
  whyslow files --file /var/log trace.st   in one directory
  whyslow files -a -d 5s -S written        the whole host for five seconds, added up in the kernel
  whyslow files -p 4711 --by thread        which thread of a process reads and writes what
  whyslow files filetop.txt opensnoop.txt ps-efT.txt   other tools' tables joined")]
struct FilesView {
    /// Recordings (NAME.whyslow), captures (strace, lsof, /proc dumps, filetop, opensnoop; also .gz, .zst), directories of them, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    #[arg(long, value_name = "KEY", help = view::by_help("files"))]
    by: Option<String>,
    /// Only this file, this directory, or files of this name
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    #[command(flatten)]
    rows: Rows,
}

fn clap() -> clap::Command {
    // `--by` is the key here.
    FilesView::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let mut args = FilesView::from_arg_matches(matches)?;
    let fds = FdFilter { file: args.file, ..FdFilter::default() };
    let ask = Ask { by: args.by, fds, ..args.rows.ask(global) };
    if args.live.is_asked() {
        args.live.for_files();
        return view::show_live(COMMAND.name, &args.live, &ask, global);
    }
    if args.files.is_empty() {
        bail!(
            "nothing to list files of\nnext: name files, a process (-p PID) or the whole host (-a); `whyslow files --help` has examples"
        );
    }
    view::show(COMMAND.name, &args.files, &ask, global)
}
