//! What the wait-for graph is made of: long calls, what they waited for, and who ended them.

use super::names::NameId;
use crate::args::WaitKind;
use crate::world::ids::{ObjectId, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Nanos, SourceId, Syscall, Timestamp};

/// The other side of a descriptor or a file, by the graph's names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct End {
    /// The descriptor; -1 where the call names none.
    pub fd: i32,
    /// What it leads to.
    pub name: NameId,
}

/// What a long call waited for or worked on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// A futex: a lock, a condition, a thread's own parking place.
    Lock {
        /// Its address, in the address space of the process.
        address: u64,
    },
    /// The end of a thread of the same process (pthread_join).
    Thread {
        /// That thread.
        tid: Tid,
    },
    /// The end of a child process.
    Child {
        /// The child that ended, or that a wait without an end names; `None` for any of several.
        pid: Option<Tid>,
    },
    /// A pipe or FIFO.
    Pipe(End),
    /// An eventfd.
    Event(End),
    /// A socket's other end.
    Peer(End),
    /// Any of several descriptors, of which none is known to have ended the wait.
    Several,
    /// A new connection.
    Accept(End),
    /// A time: a sleep, a timerfd, or a time limit that passed.
    Timer,
    /// A signal.
    Signal,
    /// A lock on a file (flock, fcntl).
    FileLock(End),
    /// A set of System V semaphores.
    Semaphore(End),
    /// A local file or directory: no wait by name, a slow call.
    File(End),
    /// A slow call on nothing that has a name: mmap, clone, brk.
    Call,
    /// Not known: what the descriptor leads to is not in the capture.
    Unknown,
}

/// How a long call ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ended {
    /// It got what it waited for, or an error about that.
    Done,
    /// Its own time limit passed.
    TimedOut,
    /// A signal came.
    Interrupted,
    /// It had not ended when the capture did.
    NotYet,
}

/// How it is known who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum How {
    /// The kernel's wake-up was recorded.
    Wakeup,
    /// The only futex wake at this address, in this process, during the wait.
    FutexWake,
    /// One of several futex wakes at this address that fit.
    OneOfSeveral,
    /// A futex wake at this address in another process that may share the memory.
    SharedFutex,
    /// A write to the other end of the same pipe, socket or eventfd; a read where the wait was for room.
    OtherEnd,
    /// The same for an end of a connection to one address, of which nothing else tells which connection it is.
    SameAddress,
    /// The last descriptor of the other end was closed.
    Closed,
    /// The thread that was waited for ended.
    Exit,
    /// The file's lock was given back.
    Unlocked,
    /// A semaphore of the same set was counted up.
    Semaphore,
    /// A signal was sent to the thread or its process.
    Signal,
}

impl How {
    /// How sure it is, 0 to 1.
    pub fn confidence(self) -> f64 {
        match self {
            How::Wakeup => 0.99,
            How::FutexWake | How::Exit | How::OtherEnd | How::Closed => 0.95,
            How::Unlocked => 0.8,
            How::Signal => 0.9,
            How::OneOfSeveral | How::Semaphore => 0.7,
            How::SharedFutex | How::SameAddress => 0.6,
        }
    }

    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            How::Wakeup => "the kernel's wake-up",
            How::FutexWake => "a futex wake",
            How::OneOfSeveral => "one of several futex wakes",
            How::SharedFutex => "a futex wake of another process",
            How::OtherEnd => "the other end of the descriptor",
            How::SameAddress => "a connection at that address",
            How::Closed => "the close of the other end",
            How::Exit => "its end",
            How::Unlocked => "the unlock of the file",
            How::Semaphore => "its operation on the semaphores",
            How::Signal => "its signal",
        }
    }
}

/// Who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waker {
    /// The thread.
    pub tid: Tid,
    /// When it did so, or began to.
    pub ts: Timestamp,
    /// How that is known.
    pub how: How,
}

/// Where a line of evidence stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// The source.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The line of the result, where it is another one.
    pub end_line: u64,
}

/// What a thread had done up to a moment, as sums over its calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sums {
    /// In calls that work, ns.
    pub working_ns: u64,
    /// In waiting calls by kind, ns.
    pub waiting_ns: [u64; WaitKind::COUNT],
    /// Runnable without a CPU, ns. 0 where no recorder saw it.
    pub runnable_ns: u64,
}

/// A call of a thread that took long: a wait, or a slow piece of work.
#[derive(Clone, Copy, Debug)]
pub struct LongCall {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// When it was entered.
    pub from: Timestamp,
    /// When it returned; the last moment of the capture where it did not.
    pub to: Timestamp,
    /// The call.
    pub syscall: Syscall,
    /// What kind of wait it is by its call; `None` where its time is work.
    pub waits: Option<WaitKind>,
    /// What it waited for or worked on.
    pub what: Resource,
    /// The kind of the descriptor.
    pub fd_kind: FdKind,
    /// The same, as the accounts of threads name it.
    pub object: ObjectId,
    /// What the thread had asked on that socket before, where the payload tells.
    pub asked: NameId,
    /// How it ended.
    pub ended: Ended,
    /// Who ended it; `None` where the capture does not show it.
    pub waker: Option<Waker>,
    /// It was ended in an interrupt: by a device, the network or a timer, not by a thread.
    pub by_interrupt: bool,
    /// Bytes moved.
    pub bytes: u64,
    /// The value of the futex says that another thread has it: a mutex, never an idle wait.
    pub held: bool,
    /// The number that stands in the futex's value in the place of its owner's; some locks count readers there.
    pub owner: Option<Tid>,
    /// It has a time limit of its own.
    pub limited: bool,
    /// Where it stands.
    pub line: Line,
    /// The thread's sums when it was entered.
    pub before: Sums,
}

impl LongCall {
    /// A futex wait that its time limit ends sooner is a step of a longer one: Python waits for its interpreter's lock in steps of 5 ms
    /// (`sys.getswitchinterval`), which take twice that where CPUs are scarce.
    const STEP: Nanos = Nanos::from_millis(10);

    /// True for a futex wait whose own time limit ended it, and of which nothing says that another thread has the futex: runtimes sleep so
    /// (Java, Go, .NET).
    pub fn slept(&self) -> bool {
        let is_futex = matches!(self.what, Resource::Lock { .. });
        is_futex && self.ended == Ended::TimedOut && !self.held && self.dur() >= Self::STEP
    }

    /// How long it took.
    pub fn dur(&self) -> Nanos {
        self.to.since(self.from)
    }

    /// The address of a futex wait.
    pub fn lock(&self) -> Option<u64> {
        match self.what {
            Resource::Lock { address } => Some(address),
            _ => None,
        }
    }

    /// True for a wait that nobody makes without work in hand: for a lock that another has, for room in a pipe or socket.
    pub fn is_never_idle(&self) -> bool {
        let writes = self.syscall.info().moves == Moves::Write;
        self.waits.is_some() && (self.held || writes || matches!(self.what, Resource::FileLock(_)))
    }

    /// True for a wait by which threads hand each other work: at a condition, an eventfd, a pipe. Not for a lock that
    /// another has, nor for what comes over the network.
    pub(crate) fn is_for_work(&self) -> bool {
        match self.what {
            Resource::Lock { .. } => !self.held,
            Resource::Event(_) | Resource::Pipe(_) => self.waits.is_some(),
            _ => false,
        }
    }

    /// The sums when it returned.
    pub fn after(&self) -> Sums {
        let mut sums = self.before;
        let ns = self.dur().or_zero();
        let sum = match self.waits {
            Some(kind) => &mut sums.waiting_ns[kind as usize],
            None => &mut sums.working_ns,
        };
        *sum = sum.saturating_add(ns);
        sums
    }
}
