//! Descriptors: what a process has open.

use crate::ids::{SourceId, Tid};
use serde::{Deserialize, Serialize};

/// The kind of thing behind a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum FdKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// `/dev/null`.
    DevNull,
    /// A terminal.
    Terminal,
    /// Another device.
    Device,
    /// A file of `/proc` or `/sys`: made by the kernel as it is read.
    Proc,
    /// A pipe or FIFO.
    Pipe,
    /// A TCP socket (of either address family).
    Tcp,
    /// A UDP socket.
    Udp,
    /// A unix socket.
    Unix,
    /// A netlink socket.
    Netlink,
    /// A socket of another or an unknown protocol.
    Socket,
    /// An epoll instance.
    Epoll,
    /// An eventfd.
    Event,
    /// A timerfd.
    Timer,
    /// A signalfd.
    Signal,
    /// An inotify or fanotify instance.
    Inotify,
    /// Another anonymous inode.
    Anonymous,
    /// Not known: opened before the capture began, or by a call that is not in it.
    #[default]
    Unknown,
}

impl FdKind {
    /// True for all kinds of sockets.
    pub fn is_socket(self) -> bool {
        use FdKind::*;
        matches!(self, Tcp | Udp | Unix | Netlink | Socket)
    }

    /// True where a read or write waits for somebody else instead of doing work.
    pub fn waits_for_peer(self) -> bool {
        use FdKind::*;
        self.is_socket() || matches!(self, Pipe | Terminal | Event | Timer | Signal | Inotify)
    }

    /// The kind that a path tells: `/dev/null`, `/dev/pts/0`, `/proc/…`, else a file.
    pub fn of_path(path: &[u8]) -> FdKind {
        if path.starts_with(b"/dev/") {
            return match path {
                b"/dev/null" => FdKind::DevNull,
                b"/dev/tty" | b"/dev/console" => FdKind::Terminal,
                _ if path.starts_with(b"/dev/pts/") || path.starts_with(b"/dev/tty") => FdKind::Terminal,
                _ if path.starts_with(b"/dev/shm/") => FdKind::File,
                _ => FdKind::Device,
            };
        }
        if path.starts_with(b"/proc/") || path.starts_with(b"/sys/") {
            return FdKind::Proc;
        }
        FdKind::File
    }

    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        use FdKind::*;
        match self {
            File => "file",
            Directory => "directory",
            DevNull => "/dev/null",
            Terminal => "terminal",
            Device => "device",
            Proc => "proc",
            Pipe => "pipe",
            Tcp => "tcp",
            Udp => "udp",
            Unix => "unix",
            Netlink => "netlink",
            Socket => "socket",
            Epoll => "epoll",
            Event => "eventfd",
            Timer => "timerfd",
            Signal => "signalfd",
            Inotify => "inotify",
            Anonymous => "anon",
            Unknown => "unknown",
        }
    }

    /// The kind of that word.
    pub fn of_word(word: &str) -> Option<FdKind> {
        use FdKind::*;
        let all = [
            File, Directory, DevNull, Terminal, Device, Proc, Pipe, Tcp, Udp, Unix, Netlink, Socket, Epoll,
            Event, Timer, Signal, Inotify, Anonymous, Unknown,
        ];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// The two ends of a socket, as text (`10.0.0.1:6379`, `[::1]:80`, `*:8715`, `/run/x.sock`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SocketEnds {
    /// Our end, if known.
    pub local: Option<String>,
    /// The other end; `None` for a listening or unconnected socket, or where unknown.
    pub peer: Option<String>,
}

/// One row of a snapshot of open descriptors (lsof, `/proc/PID/fd`, `/proc/net/*`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FdEntry {
    /// Where it was read.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The process; `None` where the snapshot shows none (`/proc/net/tcp`).
    pub pid: Option<Tid>,
    /// The thread, in snapshots with a row for each thread (`lsof -K`): the threads of a process share their
    /// descriptors, so these rows repeat those of the process.
    pub tid: Option<Tid>,
    /// The name of the process, if shown.
    pub comm: Option<String>,
    /// User name or number, if shown.
    pub user: Option<String>,
    /// The number; `None` for what is open without one (cwd, txt, mem, rtd) or not shown.
    pub fd: Option<i32>,
    /// What stands in place of a number: `cwd`, `txt`, `mem`, `rtd`, `DEL`.
    pub role: Option<String>,
    /// Open for reading; `None` where not shown.
    pub readable: Option<bool>,
    /// Open for writing; `None` where not shown.
    pub writable: Option<bool>,
    /// What it is.
    pub kind: FdKind,
    /// Path of a file, or the tool's text for anything else (`[eventpoll]`, `can't identify protocol`).
    pub name: Option<String>,
    /// True where the file was removed while open (` (deleted)`, which is not part of `name`).
    pub deleted: bool,
    /// Server and export of a file on a network file system, where shown: `nas1:/export/home`.
    pub mount: Option<String>,
    /// The ends of a socket.
    pub ends: Option<SocketEnds>,
    /// State of a TCP socket: `ESTABLISHED`, `LISTEN`, `CLOSE_WAIT`.
    pub state: Option<String>,
    /// Inode number, which ties the rows of several snapshots together.
    pub inode: Option<u64>,
    /// Device as shown: `253,16`.
    pub device: Option<String>,
    /// Size of a file, bytes.
    pub size: Option<u64>,
    /// Offset, bytes.
    pub offset: Option<u64>,
    /// Bytes waiting to be sent and to be read on a socket; for a listening one the second counts the
    /// connections that wait to be accepted.
    pub queues: Option<(u64, u64)>,
}
