//! `whyslow recover`: what recorders that were killed left in the temporary folder.

use super::{Command, rights};
use crate::global::Global;
use crate::input;
use crate::output::{self, plain, say};
use crate::progress::Bar;
use crate::status::Status;
use crate::temporary::{self, Left};
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use whyslow_model::{Sink, SourceId, Timestamp};
use whyslow_store::{Meta, WriteOptions, Writer};

/// The command.
pub(super) static COMMAND: Command = Command { name: "recover", clap, rights: rights::all, run };

/// List what killed recorders of yours left, or make a recording of it
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow recover                                     what is left: name, size, when, of which command
  whyslow recover -o slow.whyslow                     a recording of it, where one is left
  whyslow recover -o slow.whyslow whyslow-live-Ab3x   of the one of that name

`diagnose`, `trace`, `top` and the other live views keep what they record in the temporary folder (TMPDIR). Where they are
killed, it stays there. Only your own is shown and used. The next live view removes what is older than a day.
What a killed `whyslow record -o X` left is in X: every command reads it as it is.")]
struct Recover {
    /// Which one, by its name
    #[arg(value_name = "NAME", requires = "output")]
    which: Option<String>,
    /// The recording to make; must not exist yet. What was left is removed then
    #[arg(short, long, value_name = "NAME.whyslow")]
    output: Option<PathBuf>,
}

fn clap() -> clap::Command {
    Recover::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Recover::from_arg_matches(matches)?;
    let left = temporary::left();
    let Some(to) = args.output else {
        list(&left, global)?;
        return Ok(Status::Done);
    };
    let taken = choose(left, args.which.as_deref())?;
    convert(&taken, &to)?;
    let name = taken.name();
    if let Err(error) = taken.remove() {
        say!("whyslow: {}: cannot be removed: {error}", plain(&name));
    }
    let to = plain(&to.display().to_string());
    say!("whyslow: {to}: made of {}\nnext: whyslow report {to}", plain(&name));
    Ok(Status::Done)
}

fn list(left: &[Left], global: &Global) -> anyhow::Result<()> {
    if global.json {
        let rows: Vec<serde_json::Value> = left
            .iter()
            .map(|left| {
                serde_json::json!({
                    "name": left.name(), "path": left.path, "bytes": left.bytes, "pid": left.owner.pid,
                    "began": left.owner.began, "command": left.owner.command,
                })
            })
            .collect();
        return output::to_stdout(|out| writeln!(out, "{}", serde_json::Value::Array(rows)));
    }
    output::to_stdout(|out| {
        if left.is_empty() {
            return writeln!(
                out,
                "nothing is left by killed recorders of yours in {}",
                std::env::temp_dir().display()
            );
        }
        for left in left {
            writeln!(out, "{}", line(left))?;
        }
        writeln!(out, "next: whyslow recover -o slow.whyslow {}", plain(&left[0].name()))
    })
}

/// Name, size, when it was last written to, and of which command.
fn line(left: &Left) -> String {
    let touched = left.touched.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let when = Timestamp::new(touched).date_and_time();
    let command = left.owner.command.join(" ");
    plain(&format!(
        "{}  {}  until {when}  pid {}  {command}",
        left.name(),
        output::bytes(left.bytes),
        left.owner.pid
    ))
    .replace('\n', " ")
}

fn choose(left: Vec<Left>, which: Option<&str>) -> anyhow::Result<Left> {
    let names: Vec<String> = left.iter().map(line).collect();
    let mut fitting: Vec<Left> =
        left.into_iter().filter(|left| which.is_none_or(|which| left.name() == which)).collect();
    match (fitting.len(), which) {
        (1, _) => Ok(fitting.remove(0)),
        (_, Some(which)) => bail!(
            "{}: nothing of that name is left by a killed recorder of yours\nnext: whyslow recover lists what is",
            plain(which)
        ),
        (0, None) => bail!(
            "nothing is left by killed recorders of yours in {}\nnext: set TMPDIR if they had another temporary folder",
            std::env::temp_dir().display()
        ),
        _ => bail!("several are left\n  {}\nnext: name one behind -o", names.join("\n  ")),
    }
}

fn convert(left: &Left, to: &Path) -> anyhow::Result<()> {
    let meta = Meta {
        tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_string(),
        mode: Some("recovered".to_string()),
        command: left.owner.command.clone(),
        show_secrets: left.owner.show_secrets,
        ..Meta::default()
    };
    let mut writer = Writer::create(to, meta, WriteOptions::CONVERT)?;
    let done = read(left, &mut writer).and_then(|()| Ok(writer.finish()?));
    if done.is_err() {
        // A part of a recording would be taken for the whole.
        let _ = std::fs::remove_dir_all(to);
    }
    done.map(drop)
}

/// Tells what was recorded: the spool, or a recording in the folder.
fn read(left: &Left, sink: &mut dyn Sink) -> anyhow::Result<()> {
    let (bar, source) = (Bar::default(), SourceId::default());
    #[cfg(feature = "bpf")]
    if whyslow_record::can_recover(&left.path) {
        return Ok(whyslow_record::Recorded::recover(&left.path)?.replay(&left.name(), source, sink)?);
    }
    let entries = std::fs::read_dir(&left.path).with_context(|| left.path.display().to_string())?;
    let mut inside =
        entries.flatten().map(|entry| entry.path()).filter(|path| whyslow_store::is_recording(path));
    let Some(recording) = inside.next() else {
        bail!(
            "{}: holds nothing to make a recording of: its recorder told what it saw as it came, or had only begun\nnext: remove it, or leave it to the next live view after a day",
            left.path.display()
        );
    };
    input::read_recording(&recording, source, &bar, sink)?;
    bar.finish();
    Ok(())
}
