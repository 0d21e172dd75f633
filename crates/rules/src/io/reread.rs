//! Files that are read several times over.

use crate::gate::gated;
use whyslow_facts::{FileFacts, Stream};
use whyslow_model::{FdKind, Measurement};

/// Passes over a file from which on it is read again: healthy programs look at a header or a tail twice.
const PASSES: u64 = 3;
/// Files below are small: they are read again for good reasons, and cost little.
const MIN_SIZE: u64 = 64 * 1024;
/// Bytes of a file below cost some milliseconds at most.
const MIN_BYTES: u64 = 16 << 20;
/// Bytes of an archive: inflating them takes some 10 ns each (zlib: 100 MB a second and more).
const ARCHIVE_MIN_BYTES: u64 = 1 << 20;
/// A file that is written as much is one that changes: a third of what is read.
const WRITTEN_PART: u64 = 3;

/// True for a file, or the files of a pattern, of which several times as much was read as it holds.
pub(super) fn is_read_over(stream: &Stream) -> bool {
    let (read, written) = (stream.reads.calls.bytes, stream.writes.calls.bytes);
    stream.kind == FdKind::File && is_over(read, written, stream.size, stream.files, is_archive(stream))
}

/// What was read and what there is to read; where that is over and over, how often, with what is enough for a finding.
pub(super) fn figures(stream: &Stream) -> Vec<Measurement> {
    let read = stream.reads.calls.bytes;
    let over = is_read_over(stream);
    let from = |figure: Measurement, least: u64| if over { figure.at_least(least as f64) } else { figure };
    let least = if is_archive(stream) { ARCHIVE_MIN_BYTES } else { MIN_BYTES };
    let mut figures = vec![from(Measurement::bytes("bytes", read), least)];
    if let Some(size) = stream.size {
        let passes = Measurement::number("passes", read as f64 / size.max(1) as f64);
        figures.push(from(Measurement::bytes("size", size), MIN_SIZE * stream.files));
        figures.extend(over.then(|| passes.at_least(PASSES as f64)));
    }
    figures
}

/// The same of one file: what rules about its single rounds leave to `file-reread` and `archive-reread`.
pub(crate) fn is_told_as_read_over(file: &FileFacts) -> bool {
    let counted = file.counted.sum();
    let read = file.bytes_read().max(counted.reads.bytes);
    let written = file.bytes_written().max(counted.writes.bytes);
    is_over(read, written, file.size, 1, has_archive_name(&file.path))
}

#[gated]
fn is_over(read: u64, written: u64, size: Option<u64>, files: u64, archive: bool) -> bool {
    let least = if archive { ARCHIVE_MIN_BYTES } else { MIN_BYTES };
    read >= least
        && size.is_some_and(|size| size >= MIN_SIZE * files && read / PASSES >= size)
        && written <= read / WRITTEN_PART
}

/// Endings of archives that programs open in place: zip files of Java, Python, Android, and zip itself.
pub(super) const ARCHIVES: &[&str] =
    &["jar", "war", "ear", "jmod", "zip", "whl", "egg", "pyz", "apk", "aar", "nar", "xpi", "vsix", "nupkg"];

/// True for a file that is an archive by its name.
pub(super) fn is_archive(stream: &Stream) -> bool {
    stream.path.as_deref().is_some_and(has_archive_name)
}

fn has_archive_name(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ARCHIVES.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}
