//! Output: results to standard output or a file, complaints to standard error.

use anyhow::{Context, bail};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use whyslow_model::visible;
use whyslow_store::is_recording;

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
pub(crate) fn to_stdout(write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("standard output cannot be written to"),
    }
}

/// Writes to a file, or to standard output where none is given (or it is `-`). The file is there once it is whole: it is
/// written under another name beside it.
///
/// # Errors
/// If it cannot be written to, or is a part of a recording.
pub(crate) fn to(
    file: Option<&Path>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else { return to_stdout(write) };
    check_target(path, &[])?;
    replace(path, write).with_context(|| format!("{}: cannot be written to", visible::path(path)))
}

fn replace(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    let filled = |file: &File| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    };
    // Where a link leads is what is replaced.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let before = std::fs::metadata(&target).ok();
    if std::fs::symlink_metadata(&target).is_ok_and(|about| !about.is_file()) {
        // A pipe or a device, or a link to what is not there yet: nothing can take its place.
        return filled(&File::create(path)?);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = before.as_ref().map_or(0o666, |about| about.permissions().mode());
    let made = tempfile::Builder::new()
        .prefix(".whyslow-")
        .permissions(Permissions::from_mode(mode & 0o7777))
        .tempfile_in(folder);
    let temporary = match made {
        Ok(temporary) => temporary,
        // The file may be written though its folder may not.
        Err(_) if before.is_some() => return filled(&File::create(&target)?),
        Err(error) => return Err(error),
    };
    if let Some(before) = before {
        temporary.as_file().set_permissions(before.permissions())?;
        // Who may not give files away keeps it.
        let _ = std::os::unix::fs::fchown(temporary.as_file(), Some(before.uid()), Some(before.gid()));
    }
    filled(temporary.as_file())?;
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Refuses to write over what is read: one of the `inputs`, or a file in a recording.
///
/// # Errors
/// If `path` is one.
pub(crate) fn check_target(path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let same = |input: &&Path| match (std::fs::metadata(input), std::fs::metadata(path)) {
        (Ok(input), Ok(output)) => {
            input.is_file() && (input.dev(), input.ino()) == (output.dev(), output.ino())
        }
        _ => false,
    };
    if inputs.iter().any(same) {
        bail!(
            "{}: this is an input; it is not written over\nnext: give another name by -o",
            visible::path(path)
        );
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Where a link leads counts too.
    let places = [std::fs::canonicalize(path).ok(), std::fs::canonicalize(folder).ok()];
    let recording =
        places.iter().flatten().flat_map(|place| place.ancestors()).find(|above| is_recording(above));
    if let Some(recording) = recording {
        bail!(
            "{}: this is in the recording {}, in which nothing is written\nnext: give another name by -o",
            visible::path(path),
            visible::path(recording)
        );
    }
    Ok(())
}

/// True where somebody closed the pipe that was written to.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Tells what went wrong.
pub(crate) fn complain(error: &anyhow::Error) {
    say!("whyslow: {}", plain(&told(error)));
}

/// An error with its causes. A cause that the text before it tells already is not told again.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        match text.find("\nnext: ") {
            _ if text.contains(&cause) => {}
            // What to do comes last.
            Some(at) => text.insert_str(at, &format!(": {cause}")),
            None if text.is_empty() => text = cause,
            None => text.push_str(&format!(": {cause}")),
        }
    }
    text
}

/// Text that may hold names from outside, with what a terminal acts upon made visible; line ends, which are ours, stay.
pub(crate) fn plain(text: &str) -> String {
    visible::block(text).into_owned()
}

/// A number of bytes, for people.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..10_000_000 => format!("{:.0} KB", count as f64 / 1e3),
        _ => format!("{:.0} MB", count as f64 / 1e6),
    }
}
