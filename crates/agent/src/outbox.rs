//! The parts that wait: a folder of them, bounded by size, of which the oldest go first.

use std::io;
use std::path::{Path, PathBuf};
use whyslow_parts::PartName;
use whyslow_privacy::files;

/// Where parts wait, in the folder of state.
pub(crate) const PARTS: &str = "parts";
/// Folders below each other at most: table, date, hour, host.
const DEEPEST: u32 = 5;

/// The folder.
pub(crate) struct Outbox(PathBuf);

/// What is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) parts: u64,
    pub(crate) bytes: u64,
}

struct Part {
    /// Date, hour and minutes: the age.
    age: String,
    path: PathBuf,
    bytes: u64,
}

impl Outbox {
    pub(crate) fn at(folder: PathBuf) -> Outbox {
        Outbox(folder)
    }

    /// Writes a part under its name in one step; one that is there already is the same.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(path);
        let folder = path.parent().unwrap_or(&self.0);
        let missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
        for above in missing.into_iter().rev() {
            files::create_folder_if_missing(above)?;
        }
        let beside = path.with_extension("new");
        files::write(&beside, bytes)?;
        std::fs::rename(&beside, &path)
    }

    /// The parts that are there, with their bytes.
    pub(crate) fn names(&self) -> Vec<(PartName, u64)> {
        let mut parts = Vec::new();
        self.collect(&self.0, 0, &mut parts);
        let named = parts.into_iter().filter_map(|part| {
            let below = part.path.strip_prefix(&self.0).ok()?.to_str()?;
            Some((below.parse().ok()?, part.bytes))
        });
        named.collect()
    }

    /// The bytes of a part.
    pub(crate) fn read(&self, name: &PartName) -> io::Result<Vec<u8>> {
        std::fs::read(self.0.join(name.path()))
    }

    /// Removes a part.
    pub(crate) fn remove(&self, name: &PartName) {
        self.remove_file(&self.0.join(name.path()));
    }

    /// True where it was removed. Folders that are empty then go too; others stay.
    fn remove_file(&self, path: &Path) -> bool {
        let is_removed = std::fs::remove_file(path).is_ok();
        if is_removed {
            path.ancestors().skip(1).take(4).take_while(|above| std::fs::remove_dir(above).is_ok()).count();
        }
        is_removed
    }

    /// Removes the oldest parts until the rest takes no more than `most` bytes, and what a kill left half written. Gives what is left, and
    /// what was removed.
    pub(crate) fn keep_within(&self, most: u64) -> (Waiting, Waiting) {
        let mut parts = Vec::new();
        self.collect(&self.0, 0, &mut parts);
        parts.sort_by(|a, b| a.age.cmp(&b.age));
        let mut left =
            Waiting { parts: parts.len() as u64, bytes: parts.iter().map(|part| part.bytes).sum() };
        let mut removed = Waiting::default();
        for part in &parts {
            if left.bytes <= most {
                break;
            }
            if !self.remove_file(&part.path) {
                continue;
            }
            removed = Waiting { parts: removed.parts + 1, bytes: removed.bytes + part.bytes };
            left = Waiting { parts: left.parts - 1, bytes: left.bytes - part.bytes };
        }
        (left, removed)
    }

    fn collect(&self, folder: &Path, depth: u32, parts: &mut Vec<Part>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            if about.is_dir() && depth < DEEPEST {
                self.collect(&path, depth + 1, parts);
            } else if path.extension().is_some_and(|end| end == "parquet") {
                let below = path.strip_prefix(&self.0).unwrap_or(&path);
                let age = below.iter().skip(1).map(|part| part.to_string_lossy().into_owned());
                let age: Vec<String> = age.filter(|part| !part.starts_with("host=")).collect();
                parts.push(Part { age: age.join("/"), path, bytes: about.len() });
            } else if path.extension().is_some_and(|end| end == "new") {
                // Nobody writes it any more: parts are written one after the other by one process.
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_parts_go_first_over_all_tables() {
        let folder = tempfile::tempdir().expect("a folder");
        let outbox = Outbox::at(folder.path().join("parts"));
        let name = |table: &str, hour: u32, minute: u32| {
            format!(
                "{table}/date=2026-11-27/hour={hour:02}/host=a/{minute:02}-{:02}.c0.abcd.parquet",
                minute + 1
            )
        };
        for (table, hour, minute) in
            [("accounts", 3, 7), ("stacks", 2, 59), ("accounts", 2, 58), ("stacks", 3, 8)]
        {
            outbox.put(&name(table, hour, minute), &[0; 100]).expect("written");
            outbox.put(&name(table, hour, minute), &[0; 100]).expect("written again");
        }
        std::fs::write(folder.path().join("parts/accounts/half.new"), [0; 500]).expect("half written");
        assert_eq!(outbox.keep_within(400), (Waiting { parts: 4, bytes: 400 }, Waiting::default()));
        let (left, removed) = outbox.keep_within(250);
        assert_eq!((left, removed), (Waiting { parts: 2, bytes: 200 }, Waiting { parts: 2, bytes: 200 }));
        let is_there =
            |table, hour, minute| folder.path().join("parts").join(name(table, hour, minute)).exists();
        assert!(is_there("accounts", 3, 7) && is_there("stacks", 3, 8));
        assert!(!folder.path().join("parts/stacks/date=2026-11-27/hour=02").exists());
        assert!(!folder.path().join("parts/accounts/half.new").exists());
        assert_eq!(Outbox::at(folder.path().join("none")).keep_within(0).0, Waiting::default());
    }
}
