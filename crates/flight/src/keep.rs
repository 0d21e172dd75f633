//! The shelf: the folder of kept recordings, their names, and how many there may be; and what is told of them.

use crate::error::FlightError;
use crate::fired::Fired;
use std::path::{Path, PathBuf};
use whyslow_model::Timestamp;
use whyslow_store::Meta;

/// A window that was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptWindow {
    /// The recording, once it is finished.
    pub path: PathBuf,
    /// The sentence that says why.
    pub why: String,
    /// The trigger as it was asked for: `request>200ms`.
    pub trigger: String,
    /// When it fired.
    pub at: Timestamp,
}

/// What is to be told to people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FlightNews {
    /// A window is a recording now, or a recording that was asked for is there.
    Kept(KeptWindow),
    /// A recording in detail has begun, because somebody asked for it.
    Begun(KeptWindow),
    /// Older ones made place.
    Removed(Vec<PathBuf>),
    /// A window could not be kept, or a recording that was asked for failed.
    Failed(String),
}

/// A folder of kept recordings.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
    name: String,
    most: usize,
    /// Bytes of all kept recordings together.
    most_bytes: u64,
}

/// What names of recordings end with.
const ENDING: &str = ".whyslow";
/// What follows the name of a recording that was asked for in that of the hidden folder in which it is made.
pub(crate) const ASKED: &str = ".asked";

impl Shelf {
    /// In that folder, which is made where it is missing; recordings begin with `name`, and there are `most` of them.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn new(folder: &Path, name: &str, most: usize) -> Result<Shelf, FlightError> {
        if !folder.is_dir() {
            whyslow_privacy::files::create_folder(folder).map_err(FlightError::file(folder))?;
        }
        // Names are for people and shells.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        let name: String = name.chars().map(plain).take(60).collect();
        let name = name.trim_matches(|c| c == '-' || c == '.').to_string();
        let name = if name.is_empty() { "kept".to_string() } else { name };
        Ok(Shelf { folder: folder.into(), name, most, most_bytes: u64::MAX })
    }

    /// The same, whose recordings take so many bytes together at most, but for the newest.
    #[must_use]
    pub fn within(self, most_bytes: u64) -> Shelf {
        Shelf { most_bytes, ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many bytes all may take, where that is bounded.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        (self.most_bytes < u64::MAX).then_some(self.most_bytes)
    }

    /// A name that nothing has yet: `shop-2026-11-27-031207-request.whyslow`.
    pub fn path_for(&self, fired: &Fired) -> PathBuf {
        let stem = format!("{}-{}-{}", self.name, fired.at.date_and_time(), fired.kind);
        let named = |number: usize| match number {
            0 => format!("{stem}{ENDING}"),
            number => format!("{stem}-{}{ENDING}", number + 1),
        };
        let is_free = |name: &String| {
            let is_there = |name: String| self.folder.join(name).exists();
            !is_there(name.clone())
                && !is_there(format!(".{name}.pending"))
                && !is_there(format!(".{name}{}", ASKED))
        };
        let name = (0..1_000).map(named).find(is_free).unwrap_or_else(|| named(1_000));
        self.folder.join(name)
    }

    /// Removes the oldest recordings that were kept, of whatever name, until one more has its place. Recordings that were made otherwise
    /// stay. Returns what was removed.
    pub fn make_place(&self) -> Vec<PathBuf> {
        let mut kept = self.kept();
        let mut bytes: u64 = kept.iter().map(|(_, _, bytes)| bytes).sum();
        let mut removed = Vec::new();
        kept.reverse();
        while kept.len() >= self.most.max(1) || bytes > self.most_bytes {
            let Some((_, oldest, size)) = kept.pop() else { break };
            bytes -= size;
            if std::fs::remove_dir_all(&oldest).is_ok() {
                removed.push(oldest);
            }
        }
        removed
    }

    /// When, where, and how many bytes: the oldest first.
    fn kept(&self) -> Vec<(u64, PathBuf, u64)> {
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || !name.ends_with(ENDING) {
                continue;
            }
            let meta: Option<Meta> = whyslow_store::read_meta(&entry.path()).ok();
            if let Some(of) = meta.and_then(|meta| meta.kept) {
                // A recording is a folder of files.
                let files = std::fs::read_dir(entry.path()).into_iter().flatten().flatten();
                let bytes = files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum();
                kept.push((of.at, entry.path(), bytes));
            }
        }
        kept.sort();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Timestamp;
    use whyslow_store::{KeptMeta, WriteOptions, Writer};

    fn fired(seconds: u64) -> Fired {
        let at = Timestamp::new((1_795_296_895 + seconds) * 1_000_000_000);
        Fired { trigger: "exit!=0".into(), kind: "exit", reason: String::new(), at }
    }

    #[test]
    fn the_oldest_kept_ones_make_place_and_others_stay() {
        let place = tempfile::tempdir().expect("a folder");
        let shelf = Shelf::new(&place.path().join("kept"), "../shop: a", 2).expect("made");
        let mut paths = Vec::new();
        for seconds in 0..3 {
            let path = shelf.path_for(&fired(seconds));
            let at = fired(seconds).at.get().unwrap_or_default();
            let kept = Some(KeptMeta { at, ..KeptMeta::default() });
            Writer::create(&path, Meta { kept, ..Meta::default() }, WriteOptions::CONVERT).expect("made");
            paths.push(path);
        }
        assert_eq!(
            paths[0].file_name().and_then(|name| name.to_str()),
            Some("shop--a-2026-11-21-213455-exit.whyslow")
        );
        let again = shelf.path_for(&fired(0));
        assert!(again.to_string_lossy().ends_with("213455-exit-2.whyslow"), "{again:?}");
        let other = shelf.folder().join("other.whyslow");
        Writer::create(&other, Meta::default(), WriteOptions::CONVERT).expect("made");
        assert_eq!(shelf.make_place(), paths[..2]);
        assert!(other.exists() && paths[2].exists() && shelf.make_place().is_empty());
        assert_eq!(shelf.clone().within(1 << 20).make_place(), [] as [PathBuf; 0]);
        std::fs::write(paths[2].join("more"), vec![0; 2 << 20]).expect("written");
        assert_eq!(shelf.within(1 << 20).make_place(), paths[2..]);
    }
}
