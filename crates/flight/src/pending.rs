//! Windows on their way to be recordings: a hidden folder beside them holds the spool of a window, samples of the host and what is to
//! stand in the recording's head. Whoever finishes it holds its lock; what a killed recorder left is finished by the next one.

use crate::detail::remove_abandoned;
use crate::error::FlightError;
use crate::keep::ASKED;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use whyslow_model::{CaptureNote, Event, NoteKind, Sink, SourceId};
use whyslow_privacy::files;
use whyslow_record::Recorded;
use whyslow_store::{Meta, WriteOptions, Writer};

/// What their names end with.
const ENDING: &str = ".pending";
/// What is to stand in the head. It is written last: a folder without it is of a recorder that was killed before.
const HEAD: &str = "kept.json";
/// A longer one is none of ours.
const MOST_HEAD: u64 = 8 << 20;
const SPOOL: &str = "spool";
const FIGURES: &str = "figures";

/// What is to stand in the recording.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingHead {
    pub(crate) meta: Meta,
    /// Why it was kept, and what is to be known of it: the first lines of its report.
    pub(crate) sentences: String,
}

/// A window that is being written.
pub(crate) struct Pending {
    folder: PathBuf,
}

fn named(target: &Path, ending: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}{ending}"))
}

impl Pending {
    /// For the recording `target`, which is not there yet.
    pub(crate) fn begin(target: &Path) -> Result<Pending, FlightError> {
        let folder = named(target, ENDING);
        let made = files::create_folder(&folder).and_then(|()| files::create_folder(&folder.join(SPOOL)));
        made.map_err(FlightError::file(&folder))?;
        Ok(Pending { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.folder.join(SPOOL)
    }

    /// Keeps what the sampler of the host saw.
    pub(crate) fn figures<'a>(
        &self,
        figures: impl Iterator<Item = &'a Event<'static>>,
    ) -> Result<(), FlightError> {
        let mut figures = figures.peekable();
        if figures.peek().is_none() {
            return Ok(());
        }
        let mut writer = Writer::create(self.folder.join(FIGURES), Meta::default(), WriteOptions::CONVERT)?;
        figures.for_each(|event| writer.push(event.clone()));
        writer.finish()?;
        Ok(())
    }

    /// All is there: it can be finished.
    pub(crate) fn complete(&self, head: &PendingHead) -> Result<(), FlightError> {
        let path = self.folder.join(HEAD);
        let text = serde_json::to_vec(head).map_err(std::io::Error::other);
        text.and_then(|text| files::write(&path, &text)).map_err(FlightError::file(&path))
    }

    /// It cannot be kept.
    pub(crate) fn drop(self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a recording of what waits in that folder, and removes the folder. Returns the recording; `None` where another is about it.
///
/// # Errors
/// Where it cannot be read or written; what waits stays, for the next try.
pub fn finish(folder: &Path) -> Result<Option<PathBuf>, FlightError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(name) = name.strip_prefix('.').and_then(|name| name.strip_suffix(ENDING)) else {
        return Err(FlightError::NotPending(folder.into()));
    };
    let to = folder.with_file_name(name);
    let path = folder.join(HEAD);
    let mut file = File::open(&path).map_err(FlightError::file(&path))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(None);
    }
    let mut text = Vec::new();
    (&mut file).take(MOST_HEAD).read_to_end(&mut text).map_err(FlightError::file(&path))?;
    let head: PendingHead = serde_json::from_slice(&text)
        .map_err(|error| FlightError::file(&path)(std::io::Error::other(error)))?;
    // Half made by one that was killed.
    let making = named(&to, ".making");
    let _ = std::fs::remove_dir_all(&making);
    write(folder, &making, head)?;
    std::fs::rename(&making, &to).map_err(FlightError::file(&to))?;
    std::fs::remove_dir_all(folder).map_err(FlightError::file(folder))?;
    Ok(Some(to))
}

fn write(folder: &Path, to: &Path, head: PendingHead) -> Result<(), FlightError> {
    let source = SourceId::default();
    let recorded = Recorded::recover(&folder.join(SPOOL))?;
    let name = head.meta.target.clone().unwrap_or_default();
    let mut meta = head.meta;
    (meta.start, meta.end) = (recorded.began.get(), recorded.ended.get());
    meta.clock.offset_start = Some(recorded.clock_offset() as i64);
    meta.clock.offset_end = meta.clock.offset_start;
    let mut writer = Writer::create(to, meta, WriteOptions::CONVERT)?;
    let (line, tid, kind) = (None, None, NoteKind::Kept);
    writer.push(Event::Note(CaptureNote { kind, source, line, text: head.sentences, tid }));
    recorded.replay(&name, source, &mut writer)?;
    let mut figures = |event: Event<'_>| {
        // What was told of that folder itself is nothing.
        if matches!(event, Event::Figures(_)) {
            writer.push(event);
        }
    };
    let sampled = folder.join(FIGURES);
    if sampled.exists() {
        whyslow_store::read(&sampled, source, &mut figures, &mut |_, _| {})?;
    }
    writer.finish()?;
    Ok(())
}

/// Finishes all that waits in `folder` because its recorder was killed, and removes what cannot be finished: recordings that were asked for,
/// too, whose process was killed. Returns what was made.
pub fn finish_all(folder: &Path) -> Vec<PathBuf> {
    let mut made = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = entry.file_type().is_ok_and(|kind| kind.is_dir()) && name.starts_with('.');
        let path = entry.path();
        if is_ours && name.ends_with(ASKED) {
            remove_abandoned(&path);
        }
        if !is_ours || !name.ends_with(ENDING) {
            continue;
        }
        if !path.join(HEAD).exists() {
            // Another recorder may be writing it now.
            let is_old = entry
                .metadata()
                .and_then(|meta| meta.modified())
                .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > std::time::Duration::from_mins(5)));
            if is_old {
                let _ = std::fs::remove_dir_all(&path);
            }
            continue;
        }
        made.extend(finish(&path).ok().flatten());
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_ours_is_finished() {
        let place = tempfile::tempdir().expect("a folder");
        assert!(matches!(finish(place.path()), Err(FlightError::NotPending(_))));
        let to = place.path().join("shop.whyslow");
        let pending = Pending::begin(&to).expect("made");
        assert!(matches!(finish(pending.folder()), Err(FlightError::File { .. })), "not complete yet");
        assert!(finish_all(place.path()).is_empty() && pending.folder().exists(), "it may be under way");
        std::fs::write(pending.folder().join(HEAD), b"{}").expect("written");
        assert!(finish(pending.folder()).is_err());
        assert!(Pending::begin(&to).is_err(), "nobody else's is touched");
        pending.drop();
        assert!(finish_all(place.path()).is_empty());
    }
}
