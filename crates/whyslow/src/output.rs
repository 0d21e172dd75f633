//! Output: results to standard output or a file, complaints to standard error.

use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A line to standard error. Not `eprintln!`, which panics where nobody reads any more (`2>&1 | head`), in the middle of a
/// recording.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($text)*)));
    }};
}
pub(crate) use say;

/// Writes to standard output. A reader that closed the pipe has seen enough: no error.
///
/// # Errors
/// If standard output cannot be written to.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output cannot be written to"),
    }
}

/// Writes to a file, or to standard output where none is given (or it is `-`).
///
/// # Errors
/// If it cannot be written to.
pub(crate) fn to(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else { return to_stdout(write) };
    let create = || {
        let mut out = BufWriter::new(File::create(path)?);
        write(&mut out)?;
        out.flush()
    };
    create().with_context(|| format!("{}: cannot be written to", path.display()))
}

/// True where somebody closed the pipe that was written to.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Tells what went wrong.
pub(crate) fn complain(error: &anyhow::Error) {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    say!("whyslow: {}", plain(&causes.join(": ")));
}

/// Text out of a capture or a file name without the characters that a terminal acts upon or that are not seen; line ends stay.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c != '\n' && whyslow_report::acts(c) { '\u{fffd}' } else { c }).collect()
}

/// A number of bytes, for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{:.0} KB", count as f64 / 1e3),
        _ => format!("{:.0} MB", count as f64 / 1e6),
    }
}
