//! `whyslow record -p PID -o NAME.whyslow`: a recording to keep.

#[cfg(feature = "bpf")]
mod ring;

use super::{Command, rights};
use crate::global::Global;
use crate::live::{self, LiveArgs};
use crate::output::say;
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use whyslow_model::{CaptureNote, Event, NoteKind, Sink, SourceId, visible};
use whyslow_privacy::{command_line, files};
use whyslow_store::{Meta, WriteOptions, Writer, Written};

/// The command.
pub(super) static COMMAND: Command = Command { name: "record", clap, rights: rights::all, run };

/// Record a running program, or a command, to look at later
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow record -p 4711 -o slow.whyslow              ten seconds of a process, its threads and children
  whyslow record --name redis-server -d 1m            a minute of all processes of that name
  whyslow record -o build.whyslow -- make -j8         a command, until it ends
  whyslow record -p 4711 --mode counts                counts and times where calls are many: the cheapest
  whyslow record --unit nginx -d 1h --max-size 500M   an hour, of which the last 500 MB are kept
  whyslow record --name shop --ring 30s --on 'request>200ms' -o kept
                                                      until stopped: the 30 s before each slow request
  whyslow report slow.whyslow                         what it says; also: summary, files, fds, peers, threads, diff

A recording is a directory of Parquet tables, for pandas, DuckDB and others too: docs/RECORDING.md.")]
struct Record {
    #[command(flatten)]
    live: LiveArgs,
    /// The recording's directory; must not exist yet [default: whyslow-DATE-TIME.whyslow]
    #[arg(short, long, value_name = "NAME.whyslow")]
    output: Option<PathBuf>,
    /// Keep at most so much, the latest: 500M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
    #[cfg(feature = "bpf")]
    #[command(flatten)]
    ring: ring::RingArgs,
}

fn clap() -> clap::Command {
    Record::augment_args(clap::Command::new(COMMAND.name))
}

/// Longer recordings are converted while they are made, so that their spool stays small.
const CONVERT_AT_END: Duration = Duration::from_secs(60);

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Record::from_arg_matches(matches)?;
    #[cfg(feature = "bpf")]
    if let Some(folder) = &args.ring.finish {
        return ring::finish(folder);
    }
    if !args.live.is_asked() {
        bail!(
            "nothing to record\nnext: name a process (-p PID, --name NAME) or a command (-- CMD); `whyslow record --help` has examples"
        );
    }
    let mode = format!("{:?}", args.live.mode).to_lowercase();
    let words: Vec<String> =
        args.live.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let meta = Meta {
        tool: concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_string(),
        mode: Some(mode),
        command: if global.show_secrets { words } else { command_line::arguments(&words) },
        show_secrets: global.show_secrets,
        host: Some(live::host()),
        ..Meta::default()
    };
    #[cfg(feature = "bpf")]
    if args.ring.ring.is_some() {
        return ring::run(&args.ring, (args.live, args.output), meta, global);
    }
    #[cfg(feature = "bpf")]
    if let Some(folder) = &args.ring.asked {
        return ring::asked(folder, (args.live, args.max_size), global);
    }
    let path = args.output.clone().unwrap_or_else(default_name);
    let (written, status) = make(&path, (meta, None), (&args.live, args.max_size), global)?;
    say!(
        "whyslow: {}: {} events, {}\nnext: whyslow report {}",
        visible::path(&path),
        written.events,
        crate::output::bytes(written.bytes),
        visible::path(&path),
    );
    Ok(status)
}

/// Makes the recording `path` with that head, which begins with a note where there is one.
fn make(
    path: &Path,
    (meta, note): (Meta, Option<&str>),
    (live, max_size): (&LiveArgs, Option<u64>),
    global: &Global,
) -> anyhow::Result<(Written, Status)> {
    let mut writer = Writer::create(path, meta, WriteOptions { max_size, ..WriteOptions::LIVE })?;
    if let Some(text) = note {
        let (kind, source, text) = (NoteKind::Kept, SourceId::default(), text.to_string());
        writer.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
    }
    let spool = path.join("spool");
    files::create_folder(&spool).with_context(|| format!("{}: cannot be made", visible::path(&spool)))?;
    let long = max_size.is_some() || live.length().is_none_or(|length| length > CONVERT_AT_END);
    let result = live::record(live, Some(&spool), if long { Some(&mut writer) } else { None }, global);
    let ended = match result {
        Ok(ended) => ended,
        Err(error) => {
            // Nothing was recorded: an empty directory would only be in the way of the next try.
            drop(writer);
            let _ = std::fs::remove_dir_all(path);
            return Err(error);
        }
    };
    if !long {
        ended.replay(&mut writer)?;
    }
    let meta = writer.meta_mut();
    meta.target = Some(ended.target.clone());
    meta.start = ended.window.0.get();
    meta.end = ended.window.1.get();
    meta.clock.offset_start = Some(ended.clock_offset as i64);
    meta.clock.offset_end = Some(whyslow_record::Clock::now().offset as i64);
    let written = writer.finish()?;
    let _ = std::fs::remove_dir_all(&spool);
    Ok((written, ended.status()))
}

/// A name that says when.
fn default_name() -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let text = whyslow_model::Timestamp::new(now).date_and_time();
    Path::new(&format!("whyslow-{text}.whyslow")).to_path_buf()
}

fn size(text: &str) -> Result<u64, String> {
    let size = whyslow_model::typed::bytes(text)?;
    if size < 1 << 20 { Err("at least 1M".to_string()) } else { Ok(size) }
}
