//! Inputs: captures read into facts, and what the readers remarked told on standard error.

use crate::cli::Global;
use crate::progress::Bar;
use anyhow::Context;
use std::path::{Path, PathBuf};
use whyslow_diagnose::Facts;
use whyslow_model::NoteKind;
use whyslow_read::{Input, Options, ReadError};

/// The captures a command works on.
#[derive(clap::Args, Debug)]
pub(crate) struct Files {
    /// Captures (strace, strace -c, ltrace, lsof, /proc dumps; also .gz, .zst), directories of them, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// Reads all files as one input.
///
/// # Errors
/// If none of them could be used.
pub(crate) fn facts_of(files: &[PathBuf], global: &Global) -> anyhow::Result<Facts> {
    let inputs: Vec<Input> = files
        .iter()
        .map(|path| if path == Path::new("-") { Input::Stdin } else { Input::File(path.clone()) })
        .collect();
    let mut facts = Facts::default();
    let bar = Bar::default();
    let mut options = Options::default();
    if let Some(threads) = global.threads {
        options.threads = threads.into();
    }
    let outcome = whyslow_read::read(&inputs, &options, &bar, &mut facts);
    bar.finish();
    outcome.map_err(explain)?;
    facts.finish();
    remark(&facts, global);
    Ok(facts)
}

/// Says what to do next.
fn explain(error: ReadError) -> anyhow::Error {
    let ReadError::Nothing { reasons } = error;
    let reasons = reasons.replace("; ", "\n  ");
    anyhow::anyhow!(
        "nothing could be read\n  {reasons}\n\
         next: give a capture, made with\n  \
         strace -f -ttT -y -s 256 -o trace.st -p PID\n  \
         lsof -nP -p PID > trace.lsof"
    )
}

/// Tells on standard error which inputs were passed over or cut, and how many lines were damaged. The report of a
/// diagnosis has it all; a table has not.
fn remark(facts: &Facts, global: &Global) {
    let capture = &facts.capture;
    for note in &capture.notes {
        let told = matches!(note.kind, NoteKind::Skipped | NoteKind::Truncated) || global.verbose;
        if told {
            eprintln!("whyslow: {}", crate::output::plain(&note.text));
        }
    }
    for source in capture.sources.iter().filter(|source| source.rejects > 0 && !global.verbose) {
        eprintln!(
            "whyslow: {}: {} damaged lines of {} not used (--verbose quotes the first)",
            crate::output::plain(&source.name),
            source.rejects,
            source.lines
        );
    }
}

/// A capture with what belongs to it by its name: `before.st` and `before.lsof` lie side by side.
pub(crate) fn with_companions(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    /// The endings of snapshots that are kept beside a trace.
    const SNAPSHOTS: [&str; 8] = ["lsof", "fd", "fds", "tcp", "tcp6", "udp", "udp6", "unix"];
    if path == Path::new("-") || path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    std::fs::metadata(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let mut stem = path.to_path_buf();
    if matches!(path.extension().and_then(|ext| ext.to_str()), Some("gz" | "zst")) {
        stem.set_extension("");
    }
    let mut files = vec![path.to_path_buf()];
    let candidates = SNAPSHOTS.iter().map(|ending| stem.with_extension(ending));
    files.extend(candidates.filter(|candidate| candidate != &stem && candidate.is_file()));
    for companion in files.iter().skip(1) {
        eprintln!("whyslow: {} is read with {}", companion.display(), path.display());
    }
    Ok(files)
}
