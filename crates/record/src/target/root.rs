//! Where `/proc`, the control groups and the user names are read: the live system, or a tree made for a test.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use whyslow_model::Tid;
pub(super) use whyslow_model::text::bounded;

/// The root of the file system that holds `proc`, `sys/fs/cgroup` and `etc/passwd`.
#[derive(Clone, Debug)]
pub struct ProcRoot {
    root: PathBuf,
    live: bool,
    own_pid: Option<Tid>,
}

impl ProcRoot {
    /// The running system; this process is never selected.
    pub fn live() -> ProcRoot {
        ProcRoot { root: PathBuf::from("/"), live: true, own_pid: Some(std::process::id()) }
    }

    /// The tree below `root`: a made-up system, of which the kernel is asked nothing. The host's own tree mounted
    /// somewhere (`/host` in a container) works too, without what only the kernel can tell (peers of unix sockets).
    pub fn at(root: impl Into<PathBuf>) -> ProcRoot {
        ProcRoot { root: root.into(), live: false, own_pid: None }
    }

    /// With `pid` taken for ourselves.
    pub fn with_own_pid(mut self, pid: Tid) -> ProcRoot {
        self.own_pid = Some(pid);
        self
    }

    /// True for the running system.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Our own process id, as this tree numbers it.
    pub(super) fn own_pid(&self) -> Option<Tid> {
        self.own_pid
    }

    /// `path`, an absolute one, below this root.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// `/proc/PID/tail`; `/proc/PID` where `tail` is empty.
    pub(super) fn of(&self, pid: Tid, tail: &str) -> PathBuf {
        let mut path = self.path("/proc");
        path.push(pid.to_string());
        if !tail.is_empty() {
            path.push(tail);
        }
        path
    }

    /// The processes there are, in order.
    pub(super) fn pids(&self) -> io::Result<Vec<Tid>> {
        numbers(&self.path("/proc"))
    }

    /// The threads of a process, in order.
    pub(super) fn threads(&self, pid: Tid) -> io::Result<Vec<Tid>> {
        numbers(&self.of(pid, "task"))
    }
}

/// The names in a directory that are numbers, in order.
pub(super) fn numbers(directory: &Path) -> io::Result<Vec<Tid>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        // A process that ends while its directory is read ends the list, and is no error.
        let Ok(entry) = entry else { break };
        found.extend(decimal::<Tid>(entry.file_name().as_bytes()));
    }
    found.sort_unstable();
    Ok(found)
}

/// A file's first `most` bytes.
pub(super) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A decimal number that makes up all of `text`.
pub(super) fn decimal<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    text.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(text).ok()?.parse().ok()
}
