//! Which files may be asked about: regular files and directories below the roots, by wherever their links lead.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use whyslow_model::visible;

/// Directories within directories that are looked into.
const DEEPEST: usize = 8;
/// Entries of a directory that is read whole, with those below it.
const MOST_ENTRIES: usize = 20_000;
/// Entries that a list looks at.
const MOST_LISTED: usize = 5_000;
/// The file that every recording has.
const HEAD: &str = "meta.json";

/// The directories that may be read, by where their links lead.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    folders: Vec<PathBuf>,
    max_input: u64,
}

/// An input that may be read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Where it is, without links.
    pub(crate) path: PathBuf,
    /// Another one where it has changed.
    pub(crate) stamp: u64,
}

/// One file or recording of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) is_recording: bool,
    pub(crate) bytes: u64,
    /// Seconds since the epoch.
    pub(crate) modified: Option<u64>,
}

/// What is seen of an input while it is looked through.
#[derive(Default)]
struct Seen {
    stamp: DefaultHasher,
    entries: usize,
    bytes: u64,
}

impl Roots {
    /// # Errors
    /// If one is no directory.
    pub(crate) fn new(folders: &[PathBuf], max_input: u64) -> Result<Roots, String> {
        let whole = |folder: &PathBuf| match fs::canonicalize(folder) {
            Ok(whole) if whole.is_dir() => Ok(whole),
            Ok(_) => Err(format!("{}: no directory", visible::path(folder))),
            Err(error) => Err(format!("{}: {error}", visible::path(folder))),
        };
        let folders = folders.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
        Ok(Roots { folders, max_input })
    }

    /// The directories.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    fn holds(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// The input of that name: absolute, or as seen from a root.
    ///
    /// # Errors
    /// Why it may not be read. What lies outside is not told apart from what is not there.
    pub(crate) fn input(&self, name: &str) -> Result<Input, String> {
        let shown = visible::line(name).chars().take(200).collect::<String>();
        if name.is_empty() || name == "-" || name.contains('\0') {
            return Err(format!("`{shown}` is no name of a file"));
        }
        let outside = || {
            format!(
                "{shown}: not there, or not below an allowed directory ({}); the tool `list` names what may be read",
                self.told()
            )
        };
        let places = self.folders.iter().map(|folder| folder.join(name));
        let path = places.filter_map(|place| fs::canonicalize(place).ok()).find(|path| self.holds(path));
        let path = path.ok_or_else(outside)?;
        let about = fs::metadata(&path).map_err(|_| outside())?;
        let mut seen = Seen::default();
        path.hash(&mut seen.stamp);
        self.see(&path, &about, &mut seen, 0).map_err(|why| format!("{shown}: {why}"))?;
        Ok(Input { path, stamp: seen.stamp.finish() })
    }

    /// Looks at what is read where `path` is read.
    fn see(&self, path: &Path, about: &Metadata, seen: &mut Seen, depth: usize) -> Result<(), String> {
        seen.entries += 1;
        if seen.entries > MOST_ENTRIES || depth > DEEPEST {
            return Err(format!("it holds more than {MOST_ENTRIES} entries, or more than {DEEPEST} levels"));
        }
        (about.len(), about.ino(), about.mtime(), about.mtime_nsec()).hash(&mut seen.stamp);
        if about.is_file() {
            seen.bytes = seen.bytes.saturating_add(about.len());
            if seen.bytes > self.max_input {
                return Err(format!("larger than {} bytes (--max-input)", self.max_input));
            }
            return Ok(());
        }
        if !about.is_dir() {
            return Err("neither a regular file nor a directory".to_string());
        }
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .map_err(|error| error.to_string())?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        entries.sort();
        for entry in entries {
            let told = |why: &str| {
                format!("{} in it: {why}", visible::path(Path::new(entry.file_name().unwrap_or_default())))
            };
            // What is gone meanwhile is not read.
            let Ok(mut about) = fs::symlink_metadata(&entry) else { continue };
            let mut place = entry.clone();
            if about.is_symlink() {
                place = match fs::canonicalize(&entry) {
                    Ok(place) if self.holds(&place) => place,
                    _ => return Err(told("a link that leads out of the allowed directories")),
                };
                about = fs::metadata(&place).map_err(|error| told(&error.to_string()))?;
            }
            self.see(&place, &about, seen, depth + 1).map_err(|why| told(&why))?;
        }
        Ok(())
    }

    /// Whether what `whyslow diff` reads beside a file may be read, too: the snapshots of its name.
    ///
    /// # Errors
    /// If one is a link that leads out.
    pub(crate) fn check_beside(&self, input: &Input) -> Result<(), String> {
        let Some(folder) = input.path.parent().filter(|_| input.path.is_file()) else { return Ok(()) };
        let name = input.path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').next().unwrap_or_default();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let is_of_it = entry.file_name().to_string_lossy().starts_with(stem);
            if is_link && is_of_it && !fs::canonicalize(entry.path()).is_ok_and(|place| self.holds(&place)) {
                return Err(format!(
                    "{} beside it: a link that leads out of the allowed directories",
                    visible::path(Path::new(&entry.file_name()))
                ));
            }
        }
        Ok(())
    }

    /// The roots, for people.
    pub(crate) fn told(&self) -> String {
        self.folders.iter().map(|folder| visible::path(folder)).collect::<Vec<_>>().join(", ")
    }

    /// Recordings and files below the roots, by name; true where not all were looked at.
    pub(crate) fn list(&self) -> (Vec<Listed>, bool) {
        let (mut found, mut left) = (Vec::new(), MOST_LISTED);
        for folder in &self.folders {
            below(folder, &mut found, &mut left, 0);
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup();
        (found, left == 0)
    }
}

/// True for a directory that is a recording.
fn is_recording(folder: &Path) -> bool {
    let is_file = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
    is_file(folder.join(HEAD)) || is_file(folder.join("spool").join("head.json"))
}

fn below(folder: &Path, found: &mut Vec<Listed>, left: &mut usize, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = entry.path();
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        let is_recording = about.is_dir() && is_recording(&path);
        if is_recording || about.is_file() {
            let modified = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let bytes = if is_recording { size(&path, left, 0) } else { about.len() };
            found.push(Listed { path, is_recording, bytes, modified: modified.map(|at| at.as_secs()) });
        } else if about.is_dir() && depth < DEEPEST {
            below(&path, found, left, depth + 1);
        }
    }
}

/// Bytes of the files in a recording.
fn size(folder: &Path, left: &mut usize, depth: usize) -> u64 {
    let mut bytes = 0u64;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            break;
        }
        *left -= 1;
        match fs::symlink_metadata(entry.path()) {
            Ok(about) if about.is_file() => bytes = bytes.saturating_add(about.len()),
            Ok(about) if about.is_dir() && depth < 2 => {
                bytes = bytes.saturating_add(size(&entry.path(), left, depth + 1));
            }
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn place() -> (tempfile::TempDir, Roots) {
        let place = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(place.path().join("in/logs")).expect("a folder");
        fs::write(place.path().join("in/a.st"), "x").expect("a file");
        fs::write(place.path().join("in/logs/b.st"), "xyz").expect("a file");
        fs::write(place.path().join("secret"), "x").expect("a file");
        let roots = Roots::new(&[place.path().join("in")], 100).expect("roots");
        (place, roots)
    }

    #[test]
    fn only_what_lies_below_a_root_is_read() {
        let (place, roots) = place();
        let inside = roots.input("a.st").expect("a file of the root");
        assert_eq!(inside.path, fs::canonicalize(place.path().join("in/a.st")).expect("a file"));
        assert!(roots.input("logs").is_ok() && roots.input("logs/../a.st").is_ok());
        assert!(roots.input(&inside.path.display().to_string()).is_ok());
        let secret = place.path().join("secret").display().to_string();
        let missing = place.path().join("missing").display().to_string();
        for name in [
            "../secret",
            "logs/../../secret",
            &secret,
            "",
            "-",
            "a\0b",
            "/etc/passwd",
            "nothing",
            "../in-not",
        ] {
            let why = roots.input(name).expect_err(name);
            assert!(
                why.contains("not below an allowed directory") || why.contains("no name"),
                "{name:?}: {why}"
            );
        }
        let same = |name: &str| roots.input(name).expect_err(name).replace(name, "");
        assert_eq!(same(&secret), same(&missing), "what lies outside is not told from what is not there");
    }

    #[test]
    fn links_that_lead_out_and_special_files_are_refused() {
        let (place, roots) = place();
        let inside = place.path().join("in");
        symlink("a.st", inside.join("link")).expect("a link");
        assert!(roots.input("link").is_ok());
        symlink(place.path().join("secret"), inside.join("out")).expect("a link");
        assert!(roots.input("out").is_err());
        symlink(place.path().join("secret"), inside.join("logs/out")).expect("a link");
        let why = roots.input("logs").expect_err("a folder with a link that leads out");
        assert!(why.contains("out in it: a link that leads out"), "{why}");
        let beside = roots.input("logs/b.st").expect("a file");
        assert!(roots.check_beside(&beside).is_ok(), "it has another name");
        fs::rename(inside.join("logs/out"), inside.join("logs/b.lsof")).expect("renamed");
        assert!(roots.check_beside(&beside).is_err());
        fs::remove_file(inside.join("logs/b.lsof")).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(inside.join("logs/fifo")).status();
        if made.is_ok_and(|status| status.success()) {
            for name in ["logs/fifo", "logs"] {
                let why = roots.input(name).expect_err(name);
                assert!(why.contains("neither a regular file nor a directory"), "{why}");
            }
        }
        let devices = Roots::new(&[PathBuf::from("/dev")], 100).expect("roots");
        assert!(devices.input("/dev/zero").is_err() && devices.input("null").is_err());
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_is_read() {
        let (place, roots) = place();
        let huge = fs::File::create(place.path().join("in/huge")).expect("a file");
        huge.set_len(1 << 40).expect("a hole");
        assert!(roots.input("huge").expect_err("a terabyte").contains("--max-input"));
        assert!(roots.input(".").is_err());
    }

    #[test]
    fn an_input_that_has_changed_has_another_stamp() {
        let (place, roots) = place();
        let before = roots.input("logs").expect("a folder").stamp;
        assert_eq!(before, roots.input("logs").expect("a folder").stamp);
        fs::write(place.path().join("in/logs/b.st"), "other").expect("a file");
        assert_ne!(before, roots.input("logs").expect("a folder").stamp);
    }

    #[test]
    fn recordings_and_files_are_listed() {
        let (place, roots) = place();
        fs::create_dir_all(place.path().join("in/r.whyslow/calls")).expect("a folder");
        fs::write(place.path().join("in/r.whyslow/meta.json"), "{}").expect("a file");
        fs::write(place.path().join("in/r.whyslow/calls/1.parquet"), "12345").expect("a file");
        let (listed, cut) = roots.list();
        let told: Vec<(String, bool, u64)> = listed
            .iter()
            .map(|one| {
                (
                    one.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                    one.is_recording,
                    one.bytes,
                )
            })
            .collect();
        assert!(!cut);
        assert_eq!(
            told,
            [("a.st".into(), false, 1), ("b.st".into(), false, 3), ("r.whyslow".into(), true, 7)]
        );
    }
}
