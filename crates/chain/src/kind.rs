//! The kinds that time on a path is of: each nanosecond has one.

use whyslow_facts::WaitKind;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_model::{FdKind, Syscall};

/// What a thread did, or what it waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum PathKind {
    /// On a CPU between calls; known only where a recorder saw the scheduler.
    User,
    /// In calls that work.
    System,
    /// Between calls, or on the way back from a wait: on a CPU or in the run queue, a trace of calls cannot tell.
    Between,
    /// Able to run, without a CPU.
    RunQueue,
    /// Able to run, but the CPU quota of its control group was used up.
    Throttled,
    /// A futex or a lock on a file.
    Lock,
    /// A local file or device.
    Disk,
    /// A page that was not in memory.
    PageFault,
    /// A pipe or eventfd.
    Pipe,
    /// The other end of a socket.
    Peer,
    /// Any of several descriptors.
    Poll,
    /// A time.
    Timer,
    /// The end of a child or of another thread.
    Child,
    /// A new client.
    Idle,
    /// The capture does not show it.
    Unknown,
}

impl PathKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [PathKind; 15] = [
        PathKind::User,
        PathKind::System,
        PathKind::Between,
        PathKind::RunQueue,
        PathKind::Throttled,
        PathKind::Lock,
        PathKind::Disk,
        PathKind::PageFault,
        PathKind::Pipe,
        PathKind::Peer,
        PathKind::Poll,
        PathKind::Timer,
        PathKind::Child,
        PathKind::Idle,
        PathKind::Unknown,
    ];

    /// The word for it in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            PathKind::User => "user",
            PathKind::System => "system",
            PathKind::Between => "between-calls",
            PathKind::RunQueue => "run-queue",
            PathKind::Throttled => "throttled",
            PathKind::Lock => "lock",
            PathKind::Disk => "disk",
            PathKind::PageFault => "page-fault",
            PathKind::Pipe => "pipe",
            PathKind::Peer => "peer",
            PathKind::Poll => "poll",
            PathKind::Timer => "timer",
            PathKind::Child => "child",
            PathKind::Idle => "idle",
            PathKind::Unknown => "unknown",
        }
    }

    /// The kind of that word.
    pub fn of_word(word: &str) -> Option<PathKind> {
        PathKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The kind of waits of which only the sum is kept.
    pub(super) fn of_short_wait(kind: WaitKind) -> PathKind {
        match kind {
            WaitKind::Lock => PathKind::Lock,
            WaitKind::Network => PathKind::Peer,
            WaitKind::Pipe => PathKind::Pipe,
            WaitKind::Timer => PathKind::Timer,
            WaitKind::Child => PathKind::Child,
            WaitKind::Poll => PathKind::Poll,
            WaitKind::Accept => PathKind::Idle,
            WaitKind::Other => PathKind::Unknown,
        }
    }
}

/// What a wait is, seen by itself.
pub(super) fn of_wait(call: &LongCall) -> PathKind {
    match (call.what, call.ended) {
        // A time limit is what was waited for, unless somebody's answer was.
        (Resource::Lock { .. } | Resource::Several | Resource::Signal, Ended::TimedOut) => PathKind::Timer,
        (Resource::Lock { .. } | Resource::FileLock(_) | Resource::Semaphore(_), _) => PathKind::Lock,
        (Resource::Thread { .. } | Resource::Child { .. }, _) => PathKind::Child,
        (Resource::Pipe(_) | Resource::Event(_), _) => PathKind::Pipe,
        (Resource::Peer(_), _) => PathKind::Peer,
        (Resource::Several, _) => PathKind::Poll,
        (Resource::Accept(_), _) => PathKind::Idle,
        (Resource::Timer, _) => PathKind::Timer,
        (Resource::File(_), _) => PathKind::Disk,
        (Resource::Signal | Resource::Call | Resource::Unknown, _) => PathKind::Unknown,
    }
}

/// What a slow call that is no wait by name is: on a file it waited for a device, unless it moved so much that copying
/// explains it.
pub(super) fn of_work(call: &LongCall) -> PathKind {
    /// Copying from the page cache is faster than this on any machine, bytes a second.
    const COPIES: u64 = 500_000_000;
    let copied_ns = call.bytes.saturating_mul(1_000_000_000 / COPIES);
    let slow = call.dur().or_zero() / 2 > copied_ns;
    let syncs = matches!(
        call.syscall,
        Syscall::FSYNC | Syscall::FDATASYNC | Syscall::SYNC | Syscall::SYNCFS | Syscall::MSYNC
    );
    let device = !matches!(call.fd_kind, FdKind::Proc | FdKind::DevNull | FdKind::Terminal);
    match call.what {
        Resource::File(_) if slow && device => PathKind::Disk,
        _ if syncs => PathKind::Disk,
        Resource::Peer(_) | Resource::Pipe(_) if slow => PathKind::Peer,
        _ => PathKind::System,
    }
}
