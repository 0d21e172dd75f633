//! Which recordings and captures are served: those that were named, and those in the directories that were named. Each gets a number;
//! nothing is ever opened by a name that a browser gives.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Recordings and captures that are listed.
const MOST: usize = 1_000;
/// Entries of directories that are looked at.
const MOST_LOOKED_AT: usize = 50_000;
/// Directories in directories.
const DEPTH: usize = 3;
/// Captures are known by their ending where they were not named.
const ENDINGS: [&str; 6] = ["strace", "st", "ltrace", "trace", "gz", "zst"];
/// A directory is not looked at more often.
const AGAIN: Duration = Duration::from_millis(700);

/// A recording or capture.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: u32,
    pub(crate) path: PathBuf,
    /// Within the directory that was named; else the name of the file.
    pub(crate) name: String,
    pub(crate) is_recording: bool,
    pub(crate) bytes: u64,
    /// When it was last written to, s since the epoch.
    pub(crate) modified: u64,
}

/// What was named, and what was found there.
pub(crate) struct Served {
    roots: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ids: HashMap<PathBuf, u32>,
    found: Vec<Found>,
    left_out: bool,
    looked: Option<Instant>,
}

impl Served {
    /// Of these files and directories. They are looked at when they are asked for.
    pub(crate) fn new(roots: Vec<PathBuf>) -> Served {
        Served { roots, state: Mutex::default() }
    }

    /// The directory into which recordings are made: the first that was named and is no recording.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.roots
            .iter()
            .map(PathBuf::as_path)
            .find(|root| root.is_dir() && !whyslow_store::is_recording(root))
    }

    /// All that is there now, the newest first; and whether there was more.
    pub(crate) fn list(&self) -> (Vec<Found>, bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.is_none_or(|looked| looked.elapsed() >= AGAIN) {
            let mut look = Look { found: Vec::new(), left: MOST_LOOKED_AT };
            for root in &self.roots {
                let name =
                    root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                // What is named may be a link; what is found in it may not.
                look.at(root, &name, 0, true);
            }
            state.left_out = look.left == 0 || look.found.len() > MOST;
            look.found.truncate(MOST);
            let mut found = Vec::new();
            for (path, name, is_recording) in look.found {
                let next = state.ids.len() as u32 + 1;
                let id = *state.ids.entry(path.clone()).or_insert(next);
                let (bytes, modified) = size(&path, is_recording);
                found.push(Found { id, path, name, is_recording, bytes, modified });
            }
            found.sort_by(|a, b| (b.modified, &a.name).cmp(&(a.modified, &b.name)));
            found.dedup_by_key(|found| found.id);
            state.found = found;
            state.looked = Some(Instant::now());
        }
        (state.found.clone(), state.left_out)
    }

    /// The one with that number, if it is there.
    pub(crate) fn get(&self, id: u32) -> Option<Found> {
        let known = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.found.iter().find(|found| found.id == id).cloned()
        };
        let found = known.or_else(|| self.list().0.into_iter().find(|found| found.id == id));
        found.filter(|found| found.path.exists())
    }

    /// The number of a path, once it is found.
    pub(crate) fn id_of(&self, path: &Path) -> Option<u32> {
        self.list().0.into_iter().find(|found| found.path == path).map(|found| found.id)
    }
}

struct Look {
    found: Vec<(PathBuf, String, bool)>,
    left: usize,
}

impl Look {
    fn at(&mut self, path: &Path, name: &str, depth: usize, named: bool) {
        if self.found.len() > MOST || self.left == 0 {
            return;
        }
        self.left -= 1;
        let about = if named { path.metadata() } else { path.symlink_metadata() };
        let Ok(about) = about else { return };
        if about.is_dir() {
            if whyslow_store::is_recording(path) {
                self.found.push((path.to_path_buf(), name.to_string(), true));
                return;
            }
            if depth > DEPTH {
                return;
            }
            let Ok(entries) = std::fs::read_dir(path) else { return };
            for entry in entries.flatten() {
                let own = entry.file_name().to_string_lossy().into_owned();
                if own.starts_with('.') {
                    continue;
                }
                let inner = if depth == 0 { own } else { format!("{name}/{own}") };
                self.at(&entry.path(), &inner, depth + 1, false);
            }
        } else if about.is_file() {
            let ending =
                path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
            if named || ENDINGS.contains(&ending.as_str()) {
                self.found.push((path.to_path_buf(), name.to_string(), false));
            }
        }
    }
}

/// Bytes, and when it was last written to. A recording's tables are one level down.
fn size(path: &Path, is_recording: bool) -> (u64, u64) {
    let mut sum = (0, 0);
    for_each_file(path, is_recording, &mut |_, about| {
        let modified = about.modified().unwrap_or(UNIX_EPOCH);
        sum.0 += about.len();
        sum.1 = sum.1.max(seconds(modified));
    });
    sum
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// All files of a recording, or the one file of a capture. Links are left out.
pub(crate) fn for_each_file(path: &Path, is_recording: bool, of: &mut dyn FnMut(&Path, &std::fs::Metadata)) {
    if !is_recording {
        if let Ok(about) = path.metadata() {
            of(path, &about);
        }
        return;
    }
    let mut left = MOST_LOOKED_AT;
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries(path) {
        let Ok(about) = entry.metadata() else { continue };
        if about.is_file() {
            of(&entry.path(), &about);
        } else if about.is_dir() {
            for inner in entries(&entry.path()) {
                left -= 1;
                if left == 0 {
                    return;
                }
                if let Some(about) = inner.metadata().ok().filter(std::fs::Metadata::is_file) {
                    of(&inner.path(), &about);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_files_links_and_other_files_are_no_recordings() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("served");
        let outside = folder.path().join("outside.whyslow");
        for dir in [
            root.join("a.whyslow"),
            root.join("deep/b.whyslow"),
            root.join(".hidden.whyslow"),
            outside.clone(),
        ] {
            std::fs::create_dir_all(dir).unwrap();
        }
        std::os::unix::fs::symlink(&outside, root.join("link.whyslow")).unwrap();
        std::fs::write(root.join("trace.strace"), "x").unwrap();
        std::fs::write(root.join("secret.pem"), "x").unwrap();
        let served = Served::new(vec![root.clone()]);
        let (list, left_out) = served.list();
        let mut names: Vec<_> = list.iter().map(|found| found.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a.whyslow", "deep/b.whyslow", "trace.strace"]);
        assert!(!left_out);
        let id = served.id_of(&root.join("a.whyslow")).unwrap();
        std::thread::sleep(AGAIN);
        std::fs::remove_dir(root.join("a.whyslow")).unwrap();
        assert_eq!(served.list().0.len(), 2);
        assert!(served.get(id).is_none());
        // A number is never given twice.
        std::fs::create_dir(root.join("c.whyslow")).unwrap();
        std::thread::sleep(AGAIN);
        assert_eq!(served.list().0.iter().filter(|found| found.id == id).count(), 0);
    }
}
