//! Recordings in detail on their way: a hidden folder beside the others holds what is to stand in the head, and the recording until it is whole.
//! The process that makes it holds the lock of the head; what one left that was killed goes as the next recorder begins.

use crate::error::FlightError;
use crate::keep::ASKED;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use whyslow_privacy::files;
use whyslow_store::Meta;

/// What is to stand in the head of the recording, and who wants it.
const HEAD: &str = "asked.json";
/// A longer one is none of ours.
const MOST_HEAD: u64 = 8 << 20;
const RECORDING: &str = "recording";

/// What is to stand in the recording.
#[derive(Serialize, Deserialize)]
pub(super) struct DetailHead {
    pub(super) meta: Meta,
    /// Why it was made: the first line of its report.
    pub(super) sentence: String,
    /// The process that asks for it, and whose end is its end.
    pub(super) recorder: u32,
}

/// The folder of a recording in detail, for the process that makes it.
pub struct DetailFolder {
    folder: PathBuf,
    head: DetailHead,
    to: PathBuf,
    /// Locked for as long as this is there.
    _lock: File,
}

/// The folder in which the recording `target` is made, which is not there yet.
pub(super) fn folder_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}{ASKED}"))
}

/// Makes the folder of the recording `target`.
pub(super) fn create(target: &Path, head: &DetailHead) -> Result<PathBuf, FlightError> {
    let folder = folder_of(target);
    files::create_folder(&folder).map_err(FlightError::file(&folder))?;
    let path = folder.join(HEAD);
    let text = serde_json::to_vec(head).map_err(std::io::Error::other);
    let written = text.and_then(|text| files::write(&path, &text));
    written.map_err(|error| {
        let _ = std::fs::remove_dir_all(&folder);
        FlightError::file(&path)(error)
    })?;
    Ok(folder)
}

impl DetailFolder {
    /// That folder, which a recorder made.
    ///
    /// # Errors
    /// Where it is none, or another process is about it.
    pub fn open(folder: &Path) -> Result<DetailFolder, FlightError> {
        let not_ours = || FlightError::NotAsked(folder.into());
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.strip_prefix('.').and_then(|name| name.strip_suffix(ASKED)).ok_or_else(not_ours)?;
        let path = folder.join(HEAD);
        let mut file = File::open(&path).map_err(FlightError::file(&path))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| not_ours())?;
        let mut text = Vec::new();
        (&mut file).take(MOST_HEAD).read_to_end(&mut text).map_err(FlightError::file(&path))?;
        let head: DetailHead = serde_json::from_slice(&text)
            .map_err(|error| FlightError::file(&path)(std::io::Error::other(error)))?;
        Ok(DetailFolder { to: folder.with_file_name(name), folder: folder.into(), head, _lock: file })
    }

    /// The process that asked for it.
    pub fn recorder(&self) -> u32 {
        self.head.recorder
    }

    /// The head of the recording: tool, host, why it was kept.
    pub fn meta(&self) -> &Meta {
        &self.head.meta
    }

    /// Why it was made, a sentence.
    pub fn sentence(&self) -> &str {
        &self.head.sentence
    }

    /// Where it is made.
    pub fn recording(&self) -> PathBuf {
        self.folder.join(RECORDING)
    }

    /// It is whole, and gets its name. Where this process may not rename it, the recorder does.
    pub fn done(self) {
        let _ = finish(&self.folder, &self.to);
    }
}

/// Gives a whole recording its name, and removes the folder in which it was made.
pub(super) fn finish(folder: &Path, target: &Path) -> Result<(), FlightError> {
    std::fs::rename(folder.join(RECORDING), target).map_err(FlightError::file(target))?;
    // What is left of it is removed by the next recorder.
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

/// Removes that folder where nobody makes a recording in it.
pub(crate) fn remove_abandoned(folder: &Path) {
    let is_held = File::open(folder.join(HEAD))
        .is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_err());
    // The process that is to make it may begin only now.
    let is_new = folder
        .metadata()
        .and_then(|about| about.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age < std::time::Duration::from_mins(1)));
    if !is_held && !is_new {
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_recording_gets_its_name_when_it_is_whole_and_what_is_abandoned_goes() {
        let place = tempfile::tempdir().expect("a folder");
        assert!(matches!(DetailFolder::open(place.path()), Err(FlightError::NotAsked(_))));
        let to = place.path().join("shop.whyslow");
        let head =
            || DetailHead { meta: Meta::default(), sentence: "Kept because of us.".into(), recorder: 7 };
        let folder = create(&to, &head()).expect("made");
        assert!(create(&to, &head()).is_err(), "nobody else's is touched");
        let opened = DetailFolder::open(&folder).expect("ours");
        assert_eq!((opened.recorder(), opened.sentence()), (7, "Kept because of us."));
        assert!(matches!(DetailFolder::open(&folder), Err(FlightError::NotAsked(_))), "it is held");
        std::fs::create_dir(opened.recording()).expect("made");
        let before = |folder: &Path| {
            let old = SystemTime::now() - Duration::from_secs(3_600);
            File::open(folder).and_then(|file| file.set_modified(old)).expect("set");
        };
        before(&folder);
        remove_abandoned(&folder);
        assert!(folder.exists(), "it is held");
        opened.done();
        assert!(to.exists() && !folder.exists());
        let folder = create(&to, &head()).expect("made");
        remove_abandoned(&folder);
        assert!(folder.exists(), "it may begin only now");
        before(&folder);
        crate::finish_all(place.path());
        assert!(!folder.exists());
        let folder = create(&to, &head()).expect("made");
        std::fs::write(folder.join(HEAD), b"[]").expect("written");
        assert!(matches!(DetailFolder::open(&folder), Err(FlightError::File { .. })));
    }
}
