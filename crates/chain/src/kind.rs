//! The kinds that time on a path is of: each nanosecond has one.

use whyslow_facts::WaitKind;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_model::{FdKind, Syscall};

/// What a thread did, or what it waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
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

impl Kind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Kind; 15] = [
        Kind::User,
        Kind::System,
        Kind::Between,
        Kind::RunQueue,
        Kind::Throttled,
        Kind::Lock,
        Kind::Disk,
        Kind::PageFault,
        Kind::Pipe,
        Kind::Peer,
        Kind::Poll,
        Kind::Timer,
        Kind::Child,
        Kind::Idle,
        Kind::Unknown,
    ];

    /// The word for it in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::System => "system",
            Kind::Between => "between-calls",
            Kind::RunQueue => "run-queue",
            Kind::Throttled => "throttled",
            Kind::Lock => "lock",
            Kind::Disk => "disk",
            Kind::PageFault => "page-fault",
            Kind::Pipe => "pipe",
            Kind::Peer => "peer",
            Kind::Poll => "poll",
            Kind::Timer => "timer",
            Kind::Child => "child",
            Kind::Idle => "idle",
            Kind::Unknown => "unknown",
        }
    }

    /// The kind of that word.
    pub fn of_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The kind of waits of which only the sum is kept.
    pub(super) fn of_short_wait(kind: WaitKind) -> Kind {
        match kind {
            WaitKind::Lock => Kind::Lock,
            WaitKind::Network => Kind::Peer,
            WaitKind::Pipe => Kind::Pipe,
            WaitKind::Timer => Kind::Timer,
            WaitKind::Child => Kind::Child,
            WaitKind::Poll => Kind::Poll,
            WaitKind::Accept => Kind::Idle,
            WaitKind::Other => Kind::Unknown,
        }
    }
}

/// What a wait is, seen by itself.
pub(super) fn of_wait(call: &LongCall) -> Kind {
    match (call.what, call.ended) {
        // A time limit is what was waited for, unless somebody's answer was.
        (Resource::Lock { .. } | Resource::Several | Resource::Signal, Ended::TimedOut) => Kind::Timer,
        (Resource::Lock { .. } | Resource::FileLock(_) | Resource::Semaphore(_), _) => Kind::Lock,
        (Resource::Thread { .. } | Resource::Child { .. }, _) => Kind::Child,
        (Resource::Pipe(_) | Resource::Event(_), _) => Kind::Pipe,
        (Resource::Peer(_), _) => Kind::Peer,
        (Resource::Several, _) => Kind::Poll,
        (Resource::Accept(_), _) => Kind::Idle,
        (Resource::Timer, _) => Kind::Timer,
        (Resource::File(_), _) => Kind::Disk,
        (Resource::Signal | Resource::Call | Resource::Unknown, _) => Kind::Unknown,
    }
}

/// What a slow call that is no wait by name is: on a file it waited for a device, unless it moved so much that copying
/// explains it.
pub(super) fn of_work(call: &LongCall) -> Kind {
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
        Resource::File(_) if slow && device => Kind::Disk,
        _ if syncs => Kind::Disk,
        Resource::Peer(_) | Resource::Pipe(_) if slow => Kind::Peer,
        _ => Kind::System,
    }
}
