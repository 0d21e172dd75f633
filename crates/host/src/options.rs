//! What to sample, and where it is read.

use std::path::{Path, PathBuf};

/// What to sample besides the host's own figures and the processes.
#[derive(Clone, Debug)]
pub struct SamplerOptions {
    /// Threads too, of processes that did something.
    pub threads: bool,
    /// Each socket: states, queues, peers. Listeners and the kernel's own counts are looked at in any case.
    pub sockets: bool,
    /// How many descriptors each process has open.
    pub fds: bool,
    /// Our own process too: what it takes is told as the cost of looking, and is nobody's trouble.
    pub own: bool,
    /// Where it is read.
    pub root: Root,
}

impl Default for SamplerOptions {
    fn default() -> SamplerOptions {
        SamplerOptions { threads: true, sockets: true, fds: false, own: false, root: Root::default() }
    }
}

/// Where /proc, /sys and /etc are: the running system, or a tree made for a test.
#[derive(Clone, Debug)]
pub struct Root {
    root: PathBuf,
    live: bool,
}

impl Default for Root {
    fn default() -> Root {
        Root { root: PathBuf::from("/"), live: true }
    }
}

impl Root {
    /// The tree below `root`, of which the kernel is asked nothing besides.
    pub fn at(root: impl Into<PathBuf>) -> Root {
        Root { root: root.into(), live: false }
    }

    /// True for the running system.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// `path`, an absolute one, below this root.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}
