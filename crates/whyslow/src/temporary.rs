//! Temporary folders of live recordings: nobody but their user may look into them, and what a killed recorder leaves is found again.
//!
//! In each lies [`OWNER`], which says whose it is. It is locked (flock(2)) as long as its recorder lives, however that ends: who gets
//! the lock has found what is left. Folders of others, links, and what others may look into are never touched.

use anyhow::Context;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, openat};
use serde::{Deserialize, Serialize};
use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use whyslow_privacy::{command_line, files};

/// What their names begin with.
const PREFIX: &str = "whyslow-live-";
#[cfg(feature = "bpf")]
/// What those of rings in memory begin with: what is left of one is of no use to anybody.
const RING_PREFIX: &str = "whyslow-ring-";
#[cfg(feature = "bpf")]
/// Memory as a file system, on Linux with every C library (shm_open(3)).
const IN_MEMORY: &str = "/dev/shm";
/// Says whose it is. The spool passes names with a dot over.
const OWNER: &str = "owner.json";
/// A longer one is none of ours.
const MOST_OWNER_BYTES: u64 = 1 << 20;
/// What is left is kept so long after it was last written to.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Whose a folder is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Owner {
    /// The recorder.
    pub(crate) pid: u32,
    /// When it began, seconds since the epoch.
    pub(crate) began: u64,
    /// Its command line, without secrets.
    pub(crate) command: Vec<String>,
    /// Secrets in arguments of programs are in it.
    pub(crate) show_secrets: bool,
}

/// A folder of this process; it goes with this.
pub(crate) struct LiveFolder {
    folder: TempDir,
    _lock: File,
}

impl LiveFolder {
    /// Makes one, and removes what killed recorders of the same user left a day ago.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub(crate) fn make(show_secrets: bool) -> anyhow::Result<LiveFolder> {
        remove_old();
        LiveFolder::make_in(&std::env::temp_dir(), PREFIX, show_secrets)
    }

    /// Makes one in memory, else in the temporary folder, and removes what killed rings of the same user left.
    ///
    /// # Errors
    /// Where it cannot be made.
    #[cfg(feature = "bpf")]
    pub(crate) fn in_memory(show_secrets: bool) -> anyhow::Result<LiveFolder> {
        let places = [PathBuf::from(IN_MEMORY), std::env::temp_dir()];
        for place in &places {
            for left in left_in(place, RING_PREFIX) {
                let _ = left.remove();
            }
        }
        let [memory, temporary] = places;
        LiveFolder::make_in(&memory, RING_PREFIX, show_secrets)
            .or_else(|_| LiveFolder::make_in(&temporary, RING_PREFIX, show_secrets))
    }

    fn make_in(place: &Path, prefix: &str, show_secrets: bool) -> anyhow::Result<LiveFolder> {
        let failed = || {
            format!(
                "{}: no folder can be made there for the recording\nnext: free some space, or set TMPDIR to another folder",
                place.display()
            )
        };
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(prefix).permissions(Permissions::from_mode(files::FOLDER));
        let folder = builder.tempdir_in(place).with_context(failed)?;
        files::close_folder(folder.path()).with_context(failed)?;
        let mut lock = files::create_file(&folder.path().join(OWNER)).with_context(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).with_context(failed)?;
        let words: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let owner = Owner {
            pid: std::process::id(),
            began: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            command: command_line::arguments(&words),
            show_secrets,
        };
        lock.write_all(&serde_json::to_vec(&owner)?).with_context(failed)?;
        Ok(LiveFolder { folder, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// What a killed recorder left. Nobody else takes it as long as this is there.
pub(crate) struct Left {
    /// The folder.
    pub(crate) path: PathBuf,
    /// Whose it was.
    pub(crate) owner: Owner,
    /// Bytes of its files on the disk.
    pub(crate) bytes: u64,
    /// When it was last written to.
    pub(crate) touched: SystemTime,
    _lock: File,
}

impl Left {
    /// `None` where it is another's, or its recorder lives.
    fn at(path: PathBuf) -> Option<Left> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let folder = rustix::fs::open(&path, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let is_ours = |stat: &rustix::fs::Stat| {
            stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o077 == 0
        };
        fstat(&folder).ok().filter(is_ours)?;
        let lock = File::from(openat(&folder, OWNER, flags, Mode::empty()).ok()?);
        fstat(&lock).ok().filter(is_ours)?;
        lock.metadata().ok().filter(std::fs::Metadata::is_file)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut text = Vec::new();
        (&lock).take(MOST_OWNER_BYTES).read_to_end(&mut text).ok()?;
        // Killed before it was written, it is left all the same.
        let owner = serde_json::from_slice(&text).unwrap_or_default();
        let (mut bytes, mut touched) = (0, lock.metadata().ok()?.modified().ok()?);
        add_up(&path, &mut bytes, &mut touched);
        Some(Left { path, owner, bytes, touched, _lock: lock })
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Removes it.
    ///
    /// # Errors
    /// Where that is not possible.
    pub(crate) fn remove(self) -> std::io::Result<()> {
        // Follows no links.
        std::fs::remove_dir_all(&self.path)
    }
}

/// Bytes of the files below, and when the last was written to.
fn add_up(folder: &Path, bytes: &mut u64, touched: &mut SystemTime) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            add_up(&entry.path(), bytes, touched);
        } else if meta.is_file() {
            *bytes += meta.blocks() * 512;
            *touched = meta.modified().map_or(*touched, |at| at.max(*touched));
        }
    }
}

/// What killed recorders of this user left, the oldest first.
pub(crate) fn left() -> Vec<Left> {
    left_in(&std::env::temp_dir(), PREFIX)
}

fn left_in(place: &Path, prefix: &str) -> Vec<Left> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    let mut all: Vec<Left> = named.filter_map(|entry| Left::at(entry.path())).collect();
    all.sort_by_key(|left| (left.touched, left.path.clone()));
    all
}

/// Removes what is older than a day. What cannot be removed stays: that is no reason not to record.
fn remove_old() {
    for left in left() {
        if left.touched.elapsed().is_ok_and(|age| age > KEPT) {
            let _ = left.remove();
        }
    }
}
