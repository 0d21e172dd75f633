//! What the ptrace recorder hands out.

use crate::raw::RawCall;

/// One thing that happened to a traced program. Times are ns of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub enum RawEvent<'a> {
    /// A call, when it has returned, or when it is known not to return while it is recorded.
    Call(RawCall<'a>),
    /// A signal that a thread is about to get.
    Signal(RawSignal),
    /// A thread that is traced from here on.
    Started {
        /// When.
        ts: u64,
        /// The process.
        pid: u32,
        /// The thread; the same number for the first thread of a process.
        tid: u32,
        /// The parent of the process, where it still could be asked for.
        parent: Option<u32>,
        /// How it came to be traced.
        origin: TraceOrigin,
    },
    /// A process runs another program now; of its threads only the one that did it lives on, under the process's number.
    Exec {
        /// When.
        ts: u64,
        /// The process.
        pid: u32,
        /// The thread's number until then.
        former_tid: u32,
    },
    /// A thread ended.
    Ended {
        /// When.
        ts: u64,
        /// The process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// How.
        how: ThreadEnd,
    },
}

/// How a thread came to be traced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceOrigin {
    /// It ran before the recording.
    Attached,
    /// It is the command that the recorder started.
    Command,
    /// A traced thread made it.
    Created,
}

/// How a thread ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadEnd {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// A signal, as the thread gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawSignal {
    /// When, ns of `CLOCK_MONOTONIC`.
    pub ts: u64,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Its number.
    pub signal: i32,
    /// `si_code`: who or what sent it (sigaction(2)).
    pub code: i32,
    /// The process that sent it and its user, where one did (`SI_USER`, `SI_QUEUE`, `SI_TKILL`), and the child's where
    /// it is a `SIGCHLD`.
    pub sender: Option<(u32, u32)>,
    /// The address of the fault, for `SIGSEGV`, `SIGBUS`, `SIGILL`, `SIGFPE` that the kernel raised.
    pub address: Option<u64>,
}

/// How a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordingEnd {
    /// All traced threads ended.
    AllEnded,
    /// The caller asked for it; what still ran goes on untraced.
    Stopped,
}

/// What a recording was, in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How it ended.
    pub ending: RecordingEnd,
    /// How the command ended, where one was started and it ended.
    pub command: Option<ThreadEnd>,
    /// Stops that were handled: what the tracing cost the program.
    pub stops: u64,
    /// Calls handed out.
    pub calls: u64,
    /// Calls of which a piece of memory could not be read.
    pub incomplete: u64,
    /// Calls whose number or arguments could not be read, because the thread was killed meanwhile: not handed out.
    pub lost: u64,
    /// Threads that did not stop within [`crate::ptrace::DETACH_LIMIT`] to be let go (in an uninterruptible wait). The
    /// kernel lets them go when the recording thread ends.
    pub left: Vec<u32>,
}
