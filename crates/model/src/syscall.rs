//! Syscalls by small number: name, class, where their descriptor and path stand, whether they wait.

mod rows;

use rows::ROWS;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A syscall (or, in an ltrace capture, a library function): an index into [`Syscall::info`] for the known
/// ones; names outside the table get numbers from [`Syscall::FIRST_UNLISTED`] on, given by a [`SyscallNames`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Syscall(pub u16);

/// What a syscall deals with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Takes a path.
    File,
    /// Works on an open descriptor.
    Descriptor,
    /// Sockets.
    Network,
    /// Memory mappings.
    Memory,
    /// Processes and threads.
    Process,
    /// Identity and limits of the process.
    Identity,
    /// Signals and interval timers.
    Signal,
    /// Clocks and POSIX timers.
    Time,
    /// Waits for an event, a child or a time.
    Wait,
    /// Locks and message passing.
    Sync,
    /// The rest.
    Other,
}

/// Whether the time in the call is waiting (for somebody else) or the call's own work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Its time is work.
    Never,
    /// Its purpose is to wait: poll, nanosleep, wait4, accept.
    Always,
    /// It waits on a socket, pipe or terminal and works on a file: read, write, recvfrom.
    ByDescriptor,
    /// The operation among its arguments decides: futex, fcntl.
    ByArguments,
}

/// Which argument is the descriptor that the call works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FdArg {
    /// None.
    None,
    /// The first.
    First,
}

/// Which argument is the path that the call works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathArg {
    /// None.
    None,
    /// The first.
    First,
    /// The second, behind a directory descriptor.
    Second,
}

/// Whether the result is a number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moves {
    /// No.
    None,
    /// Bytes read from the descriptor.
    Read,
    /// Bytes written to the descriptor.
    Write,
    /// Bytes moved between two descriptors: sendfile, splice.
    Move,
}

/// What is known of one syscall.
#[derive(Debug)]
pub struct SyscallInfo {
    /// The name as strace prints it.
    pub name: &'static str,
    /// What it deals with.
    pub class: Class,
    /// Whether its time is waiting.
    pub waits: Waits,
    /// Where its descriptor stands.
    pub fd: FdArg,
    /// Where its path stands.
    pub path: PathArg,
    /// Whether its result counts bytes.
    pub moves: Moves,
}

static UNLISTED: SyscallInfo = SyscallInfo {
    name: "?",
    class: Class::Other,
    waits: Waits::Never,
    fd: FdArg::None,
    path: PathArg::None,
    moves: Moves::None,
};

impl Syscall {
    /// The first number given to names outside the table.
    pub const FIRST_UNLISTED: u16 = 1024;
    /// A name that is not in the table, before a [`SyscallNames`] gave it a number.
    pub const UNLISTED: Syscall = Syscall(u16::MAX);

    /// The syscall of that name, for constants: a name outside the table does not compile.
    pub const fn known(name: &str) -> Syscall {
        let mut i = 0;
        while i < ROWS.len() {
            if const_eq(ROWS[i].name.as_bytes(), name.as_bytes()) {
                return Syscall(i as u16);
            }
            i += 1;
        }
        panic!("no such syscall in the table")
    }

    /// The syscall of that name, if it is in the table.
    #[inline]
    pub fn lookup(name: &[u8]) -> Option<Syscall> {
        INDEX.get(name)
    }

    /// What is known of it; a name outside the table knows nothing.
    #[inline]
    pub fn info(self) -> &'static SyscallInfo {
        ROWS.get(self.0 as usize).unwrap_or(&UNLISTED)
    }

    /// True for a name of the table.
    #[inline]
    pub fn is_listed(self) -> bool {
        (self.0 as usize) < ROWS.len()
    }

    /// All syscalls of the table.
    pub fn all() -> impl Iterator<Item = Syscall> {
        (0..ROWS.len() as u16).map(Syscall)
    }
}

macro_rules! constants {
    ($($constant:ident = $name:literal),* $(,)?) => {
        #[allow(missing_docs)]
        impl Syscall { $(pub const $constant: Syscall = Syscall::known($name);)* }
    };
}
constants! {
    ACCEPT = "accept", ACCEPT4 = "accept4", ACCESS = "access", BIND = "bind", BRK = "brk", CHDIR = "chdir",
    CLOCK_GETTIME = "clock_gettime", CLOCK_GETTIME64 = "clock_gettime64", CLOCK_NANOSLEEP = "clock_nanosleep",
    CLONE = "clone", CLONE3 = "clone3", CLOSE = "close", CLOSE_RANGE = "close_range", CONNECT = "connect",
    COPY_FILE_RANGE = "copy_file_range", CREAT = "creat", DUP = "dup", DUP2 = "dup2", DUP3 = "dup3",
    EPOLL_CREATE = "epoll_create", EPOLL_CREATE1 = "epoll_create1", EPOLL_CTL = "epoll_ctl",
    EPOLL_PWAIT = "epoll_pwait", EPOLL_PWAIT2 = "epoll_pwait2", EPOLL_WAIT = "epoll_wait",
    EVENTFD = "eventfd", EVENTFD2 = "eventfd2", EXECVE = "execve", EXECVEAT = "execveat", EXIT = "exit",
    EXIT_GROUP = "exit_group", FACCESSAT = "faccessat", FACCESSAT2 = "faccessat2", FCHDIR = "fchdir",
    FCNTL = "fcntl", FCNTL64 = "fcntl64", FDATASYNC = "fdatasync", FORK = "fork", FSTAT = "fstat",
    FSTAT64 = "fstat64", FSTATAT64 = "fstatat64", FSYNC = "fsync", FTRUNCATE = "ftruncate", FUTEX = "futex",
    FUTEX_TIME64 = "futex_time64", GETCWD = "getcwd", GETDENTS = "getdents", GETDENTS64 = "getdents64",
    GETEUID = "geteuid", GETPID = "getpid", GETRANDOM = "getrandom", GETSOCKNAME = "getsockname",
    GETPEERNAME = "getpeername", GETSOCKOPT = "getsockopt", GETTIMEOFDAY = "gettimeofday", GETUID = "getuid",
    INOTIFY_INIT = "inotify_init", INOTIFY_INIT1 = "inotify_init1", IO_URING_SETUP = "io_uring_setup",
    IOCTL = "ioctl", KILL = "kill", LISTEN = "listen", LSEEK = "lseek", LSTAT = "lstat", LSTAT64 = "lstat64",
    LLSEEK = "_llseek", MADVISE = "madvise", MEMFD_CREATE = "memfd_create", MKDIR = "mkdir",
    MKDIRAT = "mkdirat", MMAP = "mmap", MMAP2 = "mmap2", MPROTECT = "mprotect", MREMAP = "mremap",
    MSYNC = "msync", MUNMAP = "munmap", NANOSLEEP = "nanosleep", NEWFSTATAT = "newfstatat", OPEN = "open",
    OPENAT = "openat", OPENAT2 = "openat2", PIDFD_OPEN = "pidfd_open", PIPE = "pipe", PIPE2 = "pipe2",
    POLL = "poll", PPOLL = "ppoll", PREAD64 = "pread64", PREADV = "preadv", PREADV2 = "preadv2",
    PSELECT6 = "pselect6", PWRITE64 = "pwrite64", PWRITEV = "pwritev", PWRITEV2 = "pwritev2",
    READ = "read", READLINK = "readlink", READLINKAT = "readlinkat", READV = "readv", RECV = "recv",
    RECVFROM = "recvfrom", RECVMMSG = "recvmmsg", RECVMSG = "recvmsg", RENAME = "rename",
    RENAMEAT = "renameat", RENAMEAT2 = "renameat2", RESTART_SYSCALL = "restart_syscall", RMDIR = "rmdir",
    RT_SIGACTION = "rt_sigaction", RT_SIGRETURN = "rt_sigreturn", SCHED_YIELD = "sched_yield",
    SELECT = "select", NEWSELECT = "_newselect", SEND = "send", SENDFILE = "sendfile", SENDMMSG = "sendmmsg",
    SENDMSG = "sendmsg", SENDTO = "sendto", SETSOCKOPT = "setsockopt", SIGNALFD = "signalfd", SIGNALFD4 = "signalfd4",
    SOCKET = "socket", SOCKETPAIR = "socketpair", SPLICE = "splice", STAT = "stat", STAT64 = "stat64",
    STATX = "statx", SYNC = "sync", SYNCFS = "syncfs", SYNC_FILE_RANGE = "sync_file_range", TGKILL = "tgkill",
    TIME = "time", TIMERFD_CREATE = "timerfd_create", UNLINK = "unlink", UNLINKAT = "unlinkat",
    VFORK = "vfork", WAIT4 = "wait4", WAITID = "waitid", WRITE = "write", WRITEV = "writev",
    SEMOP = "semop", PAUSE = "pause", SHUTDOWN = "shutdown", USERFAULTFD = "userfaultfd",
}

const fn const_eq(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Open addressing over the table, keyed by length and the first and last bytes of a name.
struct Index {
    slots: Box<[u16; Index::SLOTS]>,
}

static INDEX: LazyLock<Index> = LazyLock::new(Index::build);

impl Index {
    /// Four times the table, so that most names are found at the first look.
    const SLOTS: usize = 2048;

    fn build() -> Index {
        let mut slots = Box::new([u16::MAX; Index::SLOTS]);
        for (i, row) in ROWS.iter().enumerate() {
            let mut at = Index::slot(row.name.as_bytes());
            while slots[at] != u16::MAX {
                at = (at + 1) % Index::SLOTS;
            }
            slots[at] = i as u16;
        }
        Index { slots }
    }

    #[inline]
    fn slot(name: &[u8]) -> usize {
        let mut head = [0u8; 8];
        let mut tail = [0u8; 8];
        let n = name.len().min(8);
        head[..n].copy_from_slice(&name[..n]);
        tail[..n].copy_from_slice(&name[name.len() - n..]);
        let mixed = u64::from_le_bytes(head)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(23)
            .wrapping_add(u64::from_le_bytes(tail))
            .wrapping_add(name.len() as u64)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 48) as usize % Index::SLOTS
    }

    #[inline]
    fn get(&self, name: &[u8]) -> Option<Syscall> {
        let mut at = Index::slot(name);
        loop {
            let i = self.slots[at];
            if i == u16::MAX {
                return None;
            }
            if ROWS[i as usize].name.as_bytes() == name {
                return Some(Syscall(i));
            }
            at = (at + 1) % Index::SLOTS;
        }
    }
}

/// Numbers for names outside the table, in order of appearance. Bounded: past the cap all share one number.
#[derive(Debug, Default, Clone)]
pub struct SyscallNames {
    unlisted: Vec<Box<str>>,
    numbers: HashMap<Box<[u8]>, u16>,
}

impl SyscallNames {
    /// More names than any kernel adds or any ltrace log of a sane program shows.
    const CAP: usize = 4096;

    /// The number of `name`, listed or not; a new name is remembered.
    pub fn intern(&mut self, name: &[u8]) -> Syscall {
        if let Some(listed) = Syscall::lookup(name) {
            return listed;
        }
        if let Some(number) = self.numbers.get(name) {
            return Syscall(*number);
        }
        if self.unlisted.len() >= SyscallNames::CAP {
            return Syscall::UNLISTED;
        }
        let number = Syscall::FIRST_UNLISTED + self.unlisted.len() as u16;
        self.unlisted.push(String::from_utf8_lossy(name).into());
        self.numbers.insert(name.into(), number);
        Syscall(number)
    }

    /// The name of `syscall`.
    pub fn name(&self, syscall: Syscall) -> &str {
        if syscall.is_listed() {
            return syscall.info().name;
        }
        let i = (syscall.0 as usize).wrapping_sub(Syscall::FIRST_UNLISTED as usize);
        self.unlisted.get(i).map_or("(other)", |name| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_unique_and_found_by_name() {
        assert!(ROWS.is_sorted_by(|a, b| a.name < b.name));
        assert!(ROWS.len() < Syscall::FIRST_UNLISTED as usize);
        for syscall in Syscall::all() {
            assert_eq!(Syscall::lookup(syscall.info().name.as_bytes()), Some(syscall));
        }
        assert_eq!(Syscall::lookup(b"no_such_call"), None);
        assert_eq!(Syscall::lookup(b""), None);
    }

    #[test]
    fn unlisted_names_keep_their_number() {
        let mut names = SyscallNames::default();
        let first = names.intern(b"frobnicate");
        assert_eq!(names.intern(b"frobnicate"), first);
        assert_ne!(names.intern(b"frobnicate2"), first);
        assert_eq!(names.name(first), "frobnicate");
        assert_eq!(names.intern(b"read"), Syscall::READ);
    }
}
