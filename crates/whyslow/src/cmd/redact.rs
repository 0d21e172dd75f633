//! `whyslow redact INPUT -o OUTPUT`: a copy of a recording or a capture that is fit to hand on.

mod capture;
mod recording;

use super::{Command, rights};
use crate::global::Global;
use crate::output::{check_target, plain, say};
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::path::{Path, PathBuf};
use whyslow_model::visible;

/// The command.
pub(super) static COMMAND: Command = Command { name: "redact", clap, rights: rights::all, run };

/// Copy a recording or a capture without secrets and payload, to hand it on
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow redact slow.whyslow -o for-them.whyslow   of a recording, also one taken with --show-secrets
  whyslow redact trace.st.gz -o trace.st            of a capture: strace, lsof, ps, any text that whyslow reads

Passwords, keys, tokens and cookies that are recognised become `[redacted]`; of what was sent and received stays what names a
request. Names, paths, addresses and host names stay: the copy is redacted, not anonymous. The input is not changed.")]
struct Redact {
    /// A recording (NAME.whyslow) or a capture (also .gz, .zst)
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// The copy; must not exist yet. Of a capture, it is plain text
    #[arg(short, long, value_name = "OUTPUT")]
    output: PathBuf,
}

fn clap() -> clap::Command {
    Redact::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Redact::from_arg_matches(matches)?;
    let (input, to) = (args.input.as_path(), args.output.as_path());
    if global.show_secrets {
        bail!("a copy to hand on shows no secrets\nnext: leave --show-secrets out");
    }
    if to.symlink_metadata().is_ok() {
        bail!(
            "{}: exists already; nothing is written over\nnext: give another name by -o",
            visible::path(to)
        );
    }
    let about =
        std::fs::metadata(input).with_context(|| format!("{}: cannot be read", visible::path(input)))?;
    check_target(to, &[input])?;
    let done = match (whyslow_store::is_recording(input), about.is_dir()) {
        (true, _) => recording::copy(input, to)?,
        (false, true) => bail!(
            "{}: a folder that is no recording\nnext: redact the recordings and captures in it one by one",
            visible::path(input)
        ),
        (false, false) => capture::copy(input, to)?,
    };
    tell(&done, to);
    Ok(Status::Done)
}

/// What was done, for people.
struct Done {
    /// What was looked at: texts, lines.
    what: &'static str,
    looked_at: u64,
    changed: u64,
    /// What is not in the copy.
    left_out: Vec<String>,
    more_left_out: u64,
}

fn tell(done: &Done, to: &Path) {
    let to = plain(&to.display().to_string());
    say!("whyslow: {to}: {} {} looked at, {} of them changed", done.looked_at, done.what, done.changed);
    for what in &done.left_out {
        say!("whyslow: left out: {}", visible::line(what));
    }
    if done.more_left_out > 0 {
        say!("whyslow: left out: {} more", done.more_left_out);
    }
    say!(
        "whyslow: it is redacted, not anonymous: names, paths, addresses and host names are still in it, and so is a secret that \
         looks like any other word; look at it before you hand it on"
    );
    say!("next: whyslow report {to}");
}

/// A folder beside `to`, in which the copy is made: what is there under its own name is whole.
fn beside(to: &Path) -> io::Result<tempfile::TempDir> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // For its user alone, as all that tempfile makes.
    let made = tempfile::Builder::new().prefix(".whyslow-").tempdir_in(folder)?;
    remove_when_ended(made.path().to_path_buf());
    Ok(made)
}

/// Removes the folder where the command is ended by a signal.
fn remove_when_ended(folder: PathBuf) {
    // Without it the folder stays then: no reason not to make a copy.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // The copy goes on meanwhile, and may put one more file into it.
        for _ in 0..100 {
            if std::fs::remove_dir_all(&folder).is_ok() || !folder.exists() {
                break;
            }
        }
        let _ = emulate_default_handler(signal);
    });
}

/// Gives the copy its name, unless somebody else took it meanwhile.
fn give_name(made: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, made, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems know no such rename.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if to.symlink_metadata().is_err() => {
            std::fs::rename(made, to)
        }
        result => Ok(result?),
    }
}
