//! The agent's own directory of parts that wait to be uploaded: laid out as a store is, so that it can be asked as one. It is
//! bounded: when it is full the oldest parts go, and are counted.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use whyslow_parts::{PartHour, PartName};
use whyslow_privacy::files;

/// What the spool has lost, kept over restarts.
const COUNTS: &str = "lost.json";
const TEMPORARY: &str = "tmp";

/// The directory, or a file in it, cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}; parts that wait for the store are kept there: give the agent a directory that it may write", path.display())]
pub struct SpoolError {
    /// The path.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

/// What is in a spool, and what went from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpoolState {
    /// Parts that wait.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Parts that were removed before they could be uploaded, since the directory was made.
    pub lost: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// Oldest first; of one minute in the order of the tables' names.
type Order = (PartHour, Option<u32>, PartName);

fn order(name: &PartName) -> Order {
    (name.hour, name.minutes.first(), name.clone())
}

#[derive(Default)]
struct Inside {
    parts: BTreeMap<Order, u64>,
    state: SpoolState,
}

/// The directory of parts that wait.
pub struct Spool {
    folder: PathBuf,
    most_bytes: u64,
    inside: Mutex<Inside>,
}

impl Spool {
    /// Opens or makes the directory; what an agent before left in it waits on. `most_bytes` bounds all its parts together.
    ///
    /// # Errors
    /// Where it cannot be read or written.
    pub fn open(folder: &Path, most_bytes: u64) -> Result<Spool, SpoolError> {
        let failed = |error| SpoolError { path: folder.to_path_buf(), error };
        files::create_folder_if_missing(folder).map_err(failed)?;
        let mut inside = Inside::default();
        if let Ok(text) = std::fs::read_to_string(folder.join(COUNTS)) {
            // Counts that cannot be read begin again.
            let kept: SpoolState = serde_json::from_str(&text).unwrap_or_default();
            inside.state = SpoolState { waiting: 0, waiting_bytes: 0, ..kept };
        }
        scan(folder, folder, 0, &mut inside).map_err(failed)?;
        Ok(Spool { folder: folder.to_path_buf(), most_bytes, inside: Mutex::new(inside) })
    }

    /// Takes in what another process has put there since, and what it counted as lost; removes the oldest where that is beyond the bound.
    ///
    /// # Errors
    /// Where the directory cannot be read.
    pub fn look_again(&self) -> Result<(), SpoolError> {
        let now = Spool::open(&self.folder, self.most_bytes)?;
        let mut inside = self.inside();
        *inside = std::mem::take(&mut *now.inside());
        while inside.state.waiting_bytes > self.most_bytes && self.lose_oldest(&mut inside) {}
        Ok(())
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is in it.
    pub fn state(&self) -> SpoolState {
        self.inside().state
    }

    /// Keeps a part until it is uploaded. Where the spool or the disk is full, the oldest parts make place. A part that is there already
    /// stays as it is.
    ///
    /// # Errors
    /// Where it cannot be written, though nothing is left to make place.
    pub fn put(&self, name: &PartName, bytes: &[u8]) -> Result<(), SpoolError> {
        let mut inside = self.inside();
        if inside.parts.contains_key(&order(name)) {
            return Ok(());
        }
        let length = bytes.len() as u64;
        while inside.state.waiting_bytes + length > self.most_bytes && self.lose_oldest(&mut inside) {}
        let path = self.folder.join(name.path());
        loop {
            match write(&path, bytes) {
                Ok(()) => break,
                Err(error) if is_full(&error) && self.lose_oldest(&mut inside) => {}
                Err(error) => return Err(SpoolError { path, error }),
            }
        }
        inside.parts.insert(order(name), length);
        inside.state.waiting += 1;
        inside.state.waiting_bytes += length;
        Ok(())
    }

    /// Removes the oldest part; false where there is none.
    fn lose_oldest(&self, inside: &mut Inside) -> bool {
        let Some(((_, _, name), bytes)) = inside.parts.pop_first() else { return false };
        inside.state.waiting -= 1;
        inside.state.waiting_bytes -= bytes;
        inside.state.lost += 1;
        inside.state.lost_bytes += bytes;
        self.remove_file(&name);
        let text = serde_json::to_string(&inside.state).unwrap_or_default();
        // The count is kept as good as the disk lets us.
        let _ = files::write(&self.folder.join(COUNTS), text.as_bytes());
        true
    }

    fn remove_file(&self, name: &PartName) {
        let path = self.folder.join(name.path());
        let _ = std::fs::remove_file(&path);
        // Folders of hours go with their last part; one that still has parts stays.
        let mut folder = path.parent();
        while let Some(path) = folder.filter(|path| *path != self.folder) {
            if std::fs::remove_dir(path).is_err() {
                break;
            }
            folder = path.parent();
        }
    }

    /// The oldest part.
    pub fn oldest(&self) -> Option<PartName> {
        self.inside().parts.first_key_value().map(|((_, _, name), _)| name.clone())
    }

    /// The bytes of a part; `None` where it has made place meanwhile.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&self, name: &PartName) -> Result<Option<Vec<u8>>, SpoolError> {
        let path = self.folder.join(name.path());
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SpoolError { path, error }),
        }
    }

    /// Forgets a part that is uploaded.
    pub fn done(&self, name: &PartName) {
        let mut inside = self.inside();
        if let Some(bytes) = inside.parts.remove(&order(name)) {
            inside.state.waiting -= 1;
            inside.state.waiting_bytes -= bytes;
            self.remove_file(name);
        }
    }

    /// Gives up a part that can never be uploaded: it is counted as lost.
    pub(crate) fn lose(&self, name: &PartName) {
        let mut inside = self.inside();
        if let Some((key, bytes)) = inside.parts.remove_entry(&order(name)) {
            // As the oldest, so that it is counted at one place.
            let rest = std::mem::take(&mut inside.parts);
            inside.parts.insert(key, bytes);
            self.lose_oldest(&mut inside);
            inside.parts = rest;
        }
    }
}

/// A disk or a quota without place.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Gives the file its name when it is complete and on the disk.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let temporary = path.with_extension(TEMPORARY);
    let written = files::create_or_empty_file(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(&temporary, path)) {
        let _ = std::fs::remove_file(&temporary);
        return Err(error);
    }
    Ok(())
}

/// Takes in what lies below `folder`, at most as deep as parts lie; what a killed agent had begun to write goes.
fn scan(root: &Path, folder: &Path, depth: u32, inside: &mut Inside) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth < 4 {
            scan(root, &path, depth + 1, inside)?;
        } else if kind.is_file() && depth == 4 {
            if path.extension().is_some_and(|end| end == TEMPORARY) {
                std::fs::remove_file(&path)?;
                continue;
            }
            let below = path.strip_prefix(root).ok().and_then(Path::to_str);
            if let Some(name) = below.and_then(|below| below.parse::<PartName>().ok()) {
                let bytes = entry.metadata()?.len();
                inside.parts.insert(order(&name), bytes);
                inside.state.waiting += 1;
                inside.state.waiting_bytes += bytes;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_parts::{PART_TABLES, UtcTime};

    fn name(minute: i64) -> PartName {
        PartName::of_minute(PART_TABLES[0], "h", UtcTime(1_795_748_400_000_000 + minute * 60_000_000), "run0")
            .unwrap()
    }

    #[test]
    fn the_oldest_make_place_and_are_counted_over_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 100).unwrap();
        for minute in [3, 1, 2] {
            spool.put(&name(minute), &[7; 40]).unwrap();
        }
        // Minute 1 made place for minute 2.
        let state = SpoolState { waiting: 2, waiting_bytes: 80, lost: 1, lost_bytes: 40 };
        assert_eq!((spool.state(), spool.oldest()), (state, Some(name(2))));
        spool.put(&name(2), &[8; 40]).unwrap();
        assert_eq!(spool.read(&name(2)).unwrap().unwrap(), [7; 40], "a part is written once");
        std::fs::write(dir.path().join(name(2).folder()).join("x.tmp"), b"half").unwrap();
        let again = Spool::open(dir.path(), 100).unwrap();
        assert_eq!((again.state(), again.oldest()), (state, Some(name(2))));
        assert!(!dir.path().join(name(2).folder()).join("x.tmp").exists());
        again.done(&name(2));
        again.lose(&name(3));
        assert_eq!(again.state(), SpoolState { lost: 2, lost_bytes: 80, ..SpoolState::default() });
        assert_eq!((again.oldest(), again.read(&name(3)).unwrap()), (None, None));
        let left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [COUNTS], "empty folders go too");
    }

    #[test]
    fn what_another_process_put_is_seen_when_looked_again() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, other) = (Spool::open(dir.path(), 100).unwrap(), Spool::open(dir.path(), 100).unwrap());
        other.put(&name(2), &[7; 40]).unwrap();
        assert_eq!(ours.oldest(), None);
        ours.look_again().unwrap();
        assert_eq!((ours.oldest(), ours.state()), (Some(name(2)), other.state()));
        let less = Spool::open(dir.path(), 10).unwrap();
        less.look_again().unwrap();
        assert_eq!((less.state().waiting, less.state().lost), (0, 1));
    }

    #[test]
    fn one_part_larger_than_the_bound_still_waits() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(dir.path(), 10).unwrap();
        spool.put(&name(1), &[7; 40]).unwrap();
        spool.put(&name(2), &[7; 40]).unwrap();
        assert_eq!((spool.oldest(), spool.state().lost), (Some(name(2)), 1));
    }

    #[test]
    fn a_directory_that_cannot_be_used_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, b"x").unwrap();
        let error = Spool::open(&file.join("spool"), 10).err().unwrap().to_string();
        assert!(error.contains("give the agent a directory that it may write"), "{error}");
    }
}
