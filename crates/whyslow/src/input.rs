//! Inputs: captures and recordings read into facts, and what the readers remarked told on standard error.

mod hosts;

use crate::global::Global;
use crate::live::host::NOT_SAMPLED;
use crate::output::say;
use crate::progress::Bar;
use anyhow::{Context, anyhow, bail};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use whyslow_diagnose::{NoSuchParty, Parties};
use whyslow_facts::{Facts, SetApart};
use whyslow_model::event::Tid;
use whyslow_model::visible;
use whyslow_model::{CaptureNote, Event, NoteKind, Sink, SourceId};
use whyslow_page::PageReader;
use whyslow_read::{Input, InputError, Progress, ReadOptions};

/// Remarks of one kind that are told, unless all are asked for: a folder may hold thousands of other files.
const REMARKS: usize = 10;

/// The captures a command works on.
#[derive(clap::Args, Debug)]
pub(crate) struct Files {
    /// Recordings (NAME.whyslow), captures (strace, strace -c, ltrace, lsof, /proc dumps, access logs; also .gz, .zst), directories of them, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Takes events, and has facts of them.
pub(crate) trait FactsReader: Sink + Send + Sized {
    /// An empty one, with facts that are empty yet.
    fn with(facts: Facts) -> Self;
    /// The facts.
    fn facts(&mut self) -> &mut Facts;
}

impl FactsReader for Facts {
    fn with(facts: Facts) -> Self {
        facts
    }
    fn facts(&mut self) -> &mut Facts {
        self
    }
}

impl FactsReader for PageReader {
    fn with(facts: Facts) -> Self {
        PageReader::new(facts)
    }
    fn facts(&mut self) -> &mut Facts {
        self.facts_mut()
    }
}

/// Reads all files as one input: what all processes in them did.
///
/// # Errors
/// If none of them could be used.
pub(crate) fn facts_of(files: &[PathBuf], global: &Global) -> anyhow::Result<Facts> {
    hosts::refuse(&sort_out(files).0)?;
    let (facts, _) = read_all::<Facts>(files, global)?;
    remark(&facts, global);
    Ok(facts)
}

/// Reads all files, once more where threads turn out to be of other processes than nothing told they are of; with these threads.
fn read_all<R: FactsReader>(files: &[PathBuf], global: &Global) -> anyhow::Result<(R, SetApart)> {
    let mut reader: R = read(files, Facts::of_target(), global)?;
    let facts = reader.facts();
    let first_threads = facts.strangers.found();
    let apart = SetApart { first_threads, ..SetApart::default() };
    if apart.first_threads.is_empty() || facts.capture.is_recording() || is_stream(files) {
        return Ok((reader, SetApart::default()));
    }
    Ok((read(files, Facts::of_target_beside(&apart), global)?, apart))
}

/// True where an input cannot be read a second time.
fn is_stream(files: &[PathBuf]) -> bool {
    files.iter().any(|file| !file.is_file() && !file.is_dir())
}

/// Reads all files as one input, for what is told of one target. Captures of several processes are read twice: first for who waits for whom,
/// then with the target apart from the others. `asked` is the process that is to be the target.
///
/// # Errors
/// If none of the files could be used, or none has calls of the process asked for.
pub(crate) fn facts_of_target(files: &[PathBuf], asked: &[Tid], global: &Global) -> anyhow::Result<Facts> {
    read_target(files, asked, global)
}

/// The same, with what else takes the events.
///
/// # Errors
/// As [`facts_of_target`].
pub(crate) fn read_target<R: FactsReader>(
    files: &[PathBuf],
    asked: &[Tid],
    global: &Global,
) -> anyhow::Result<R> {
    if asked.len() > 1 {
        bail!("the report is about one process\nnext: name it with one -p");
    }
    let asked = asked.first().copied();
    let (recordings, captures) = sort_out(files);
    if let Some(hosts) = hosts::several(&recordings) {
        return hosts::read_target(&recordings, &captures, &hosts, asked, global);
    }
    let (mut reader, known) = read_all::<R>(files, global)?;
    let facts = reader.facts();
    let is_recording = facts.capture.is_recording();
    if is_recording || is_stream(files) {
        if asked.is_some() {
            let why = match is_recording {
                true => "a recording is about whom it was recorded of",
                false => "-p needs files: what comes from a pipe can be read once only",
            };
            bail!("{why}\nnext: leave out -p, or name captures of several processes as files");
        }
        remark(facts, global);
        return Ok(reader);
    }
    let parties = Parties::of(facts, asked).map_err(|NoSuchParty { known }| {
        let asked = asked.unwrap_or_default();
        match known.is_empty() {
            true => anyhow!("the files have no calls of process {asked}"),
            false => anyhow!(
                "the files have no calls of process {asked}\nnext: name one that they have: {}",
                visible::line(&known.join(", "))
            ),
        }
    })?;
    if let Some(parties) = parties {
        if !parties.apart.pids.is_empty() {
            let apart = SetApart { first_threads: known.first_threads, ..parties.apart };
            reader = read(files, Facts::of_target_beside(&apart), global)?;
        }
        reader.facts().capture.notes.extend(parties.notes);
    }
    remark(reader.facts(), global);
    Ok(reader)
}

fn read<R: FactsReader>(files: &[PathBuf], facts: Facts, global: &Global) -> anyhow::Result<R> {
    let mut reader = R::with(facts);
    read_into(files, &mut reader, global)?;
    reader.facts().finish();
    Ok(reader)
}

/// Reads all files as one input into whatever takes events.
///
/// # Errors
/// If none of them could be used.
pub(crate) fn read_into(
    files: &[PathBuf],
    sink: &mut (dyn Sink + Send),
    global: &Global,
) -> anyhow::Result<()> {
    let (recordings, captures) = sort_out(files);
    let bar = Bar::default();
    let mut reasons = Vec::new();
    let mut used = 0;
    // Snapshots first: what was open is known when the first call comes.
    if !captures.is_empty() {
        let mut options = ReadOptions::default();
        if let Some(threads) = global.threads {
            options.threads = threads.into();
        }
        match whyslow_read::read(&captures, &options, &bar, sink) {
            Ok(outcome) => used += outcome.used,
            Err(InputError::Nothing { reasons: told }) => reasons.extend(told.split("; ").map(String::from)),
        }
    }
    for (number, path) in recordings.iter().enumerate() {
        let source = recording_id(number);
        match read_recording(path, source, &bar, sink) {
            Ok(()) => used += 1,
            Err(error) => {
                let told = crate::output::told(&error);
                let reason = told.split_once("\nnext: ").map_or(&*told, |(reason, _)| reason);
                let text = format!("{reason}; it is not used");
                reasons.push(error.to_string());
                sink.push(Event::Note(CaptureNote {
                    kind: NoteKind::Skipped,
                    source,
                    line: None,
                    text,
                    tid: None,
                }));
            }
        }
    }
    bar.finish();
    if used == 0 {
        return Err(nothing(&reasons));
    }
    Ok(())
}

/// Reads one recording: its tables, or what a killed recorder left before it made any.
pub(crate) fn read_recording(
    path: &Path,
    source: SourceId,
    bar: &Bar,
    sink: &mut dyn Sink,
) -> anyhow::Result<()> {
    let spool = path.join("spool");
    #[cfg(not(feature = "bpf"))]
    anyhow::ensure!(
        !spool.join("head.json").exists(),
        "{}: left by a recorder that was killed; this whyslow was built without BPF and cannot read it\nnext: use one built with the feature `bpf` (the default)",
        visible::path(path)
    );
    #[cfg(feature = "bpf")]
    if whyslow_record::can_recover(&spool) {
        let recorded = whyslow_record::Recorded::recover(&spool)?;
        recorded.replay(&path.display().to_string(), source, sink)?;
        return Ok(());
    }
    whyslow_store::read(path, source, sink, &mut |done, total| bar.bytes(done, Some(total)))?;
    Ok(())
}

/// Recordings count from the end, captures from the start: there are never so many that they meet.
fn recording_id(number: usize) -> SourceId {
    SourceId(u16::MAX - 1 - u16::try_from(number).unwrap_or(u16::MAX / 2))
}

/// Recordings, also those in a directory that is none itself, and the rest.
fn sort_out(files: &[PathBuf]) -> (Vec<PathBuf>, Vec<Input>) {
    let (mut recordings, mut captures) = (Vec::new(), Vec::new());
    for path in files {
        if path == Path::new("-") {
            captures.push(Input::Stdin);
            continue;
        }
        if whyslow_store::is_recording(path) {
            recordings.push(path.clone());
            continue;
        }
        let entries: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let mut inside: Vec<PathBuf> =
            entries.iter().filter(|path| whyslow_store::is_recording(path)).cloned().collect();
        inside.sort();
        // A directory with nothing else in it is not looked through for captures.
        if inside.is_empty() || inside.len() < entries.len() {
            captures.push(Input::File(path.clone()));
        }
        recordings.extend(inside);
    }
    (recordings, captures)
}

/// Says what to do next.
fn nothing(reasons: &[String]) -> anyhow::Error {
    // What is accepted stands behind each, and is told once.
    let mut reasons: Vec<&str> = reasons.iter().map(String::as_str).collect();
    let mut told = HashSet::new();
    reasons.retain(|reason| told.insert(*reason));
    let more = reasons.len().saturating_sub(REMARKS);
    reasons.truncate(REMARKS);
    let more = if more > 0 { format!("\n  and {more} more like these") } else { String::new() };
    let reasons = reasons.join("\n  ") + &more;
    anyhow::anyhow!(
        "nothing could be read\n  {reasons}\n\
         next: give a recording (whyslow record -p PID -o slow.whyslow) or a capture, made with\n  \
         strace -f -ttT -y -s 256 -o trace.st -p PID\n  \
         lsof -nP -p PID > trace.lsof"
    )
}

/// Tells on standard error which inputs were passed over or cut, and how many lines were damaged. The report of a
/// diagnosis has it all; a table has not.
pub(crate) fn remark(facts: &Facts, global: &Global) {
    let capture = &facts.capture;
    // What a recording's sampler could not tell stands in the footer of reports.
    let is_told = |note: &&CaptureNote| {
        matches!(note.kind, NoteKind::Skipped | NoteKind::Truncated) && !note.text.starts_with(NOT_SAMPLED)
    };
    let most = if global.verbose { usize::MAX } else { REMARKS };
    let notes = capture.notes.iter().filter(|note| global.verbose || is_told(note));
    for note in notes.clone().take(most) {
        say!("whyslow: {}", visible::line(&note.text));
    }
    let more = notes.skip(most).count();
    if more > 0 {
        say!("whyslow: {more} more inputs were passed over or cut (--verbose tells each)");
    }
    for source in capture.sources.iter().filter(|source| source.rejects > 0 && !global.verbose) {
        say!(
            "whyslow: {}: {} damaged lines of {} not used (--verbose quotes the first)",
            visible::line(&source.name),
            source.rejects,
            source.lines
        );
    }
}

/// A capture with what belongs to it by its name: `before.st`, `before.lsof` and `before.threads.lsof` lie side by side.
pub(crate) fn with_companions(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    /// The endings of snapshots that are kept beside a trace.
    const SNAPSHOTS: [&str; 8] = ["lsof", "fd", "fds", "tcp", "tcp6", "udp", "udp6", "unix"];
    if path == Path::new("-") || path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    std::fs::metadata(path).with_context(|| format!("{}: cannot be read", visible::path(path)))?;
    let mut stem = path.to_path_buf();
    if matches!(path.extension().and_then(|ext| ext.to_str()), Some("gz" | "zst")) {
        stem.set_extension("");
    }
    stem.set_extension("");
    let (Some(stem), Some(folder)) = (stem.file_name().and_then(OsStr::to_str), stem.parent()) else {
        return Ok(vec![path.to_path_buf()]);
    };
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    // A folder that only lets its files be opened has none to offer.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let split = |name: &str| {
        name.rsplit_once('.').map(|(stem, ending)| (stem.to_string(), SNAPSHOTS.contains(&ending)))
    };
    let mut companions: Vec<PathBuf> = names
        .iter()
        .filter(|name| {
            let Some((own, true)) = split(name) else { return false };
            // `before.threads.lsof` is of `before.st`, unless there is a `before.threads.st`.
            own == stem
                || own.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.'))
                    && !names.iter().any(|other| split(other) == Some((own.clone(), false)))
        })
        .map(|name| path.with_file_name(name))
        .filter(|file| file != path && file.is_file())
        .collect();
    companions.sort();
    let files: Vec<PathBuf> = [path.to_path_buf()].into_iter().chain(companions).collect();
    for companion in files.iter().skip(1) {
        say!("whyslow: {} is read with {}", visible::path(companion), visible::path(path));
    }
    Ok(files)
}
