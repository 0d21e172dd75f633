//! Events: what every source (strace text, a recording, the live kernel) is turned into.

use crate::access::{Logged, PercentileTable};
use crate::capture::{CaptureNote, SourceInfo, TraceStart};
use crate::counts::CountTable;
use crate::errno::Errno;
use crate::fd::FdEntry;
use crate::host::FigureTable;
use crate::ids::SourceId;
pub use crate::ids::Tid;
use crate::live::{
    BlockIo, CallStack, Cost, FileIo, Followed, Loss, Meanwhile, NetEvent, RecordedSpan, SampledStack, Stack,
    Stretch, ThreadCounts, ThreadTotals, Wakeup,
};
use crate::parked::Parked;
use crate::profile::CapturedProfile;
use crate::syscall::Syscall;
use crate::text;
use crate::time::{Nanos, Timestamp};
use serde::{Deserialize, Serialize};

/// What a call returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ret {
    /// A number (an address counts as one; -1 on error).
    Value(i64),
    /// `?`: the capture does not show it (the call was restarted, or the process ended in it).
    Unknown,
}

impl Ret {
    /// The value, if shown.
    #[inline]
    pub fn value(self) -> Option<i64> {
        match self {
            Ret::Value(value) => Some(value),
            Ret::Unknown => None,
        }
    }
}

/// What is special about a captured call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallFlags(u8);

impl CallFlags {
    /// Its end is not in the capture.
    pub const END_NOT_SEEN: CallFlags = CallFlags(1);
    /// Its start is not in the capture: where its times are known all the same, they are of the part that is.
    pub const START_NOT_SEEN: CallFlags = CallFlags(2);
    /// A library call (ltrace), not a syscall.
    pub const LIBRARY: CallFlags = CallFlags(4);
    /// Shown in two halves (`<unfinished ...>` and `resumed`), joined here.
    pub const JOINED: CallFlags = CallFlags(8);
    /// The capture states no durations: its own is the time to the capture's next line, at most what it was to wait.
    pub const UP_TO_NEXT: CallFlags = CallFlags(16);

    /// True where all of `other` are set.
    #[inline]
    pub fn contains(self, other: CallFlags) -> bool {
        self.0 & other.0 == other.0
    }
    /// With `other` set too.
    #[inline]
    pub fn with(self, other: CallFlags) -> CallFlags {
        CallFlags(self.0 | other.0)
    }
}

/// One syscall. Text borrows from the reader's buffer and lives for the length of a [`Sink::push`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Where it was read.
    pub source: SourceId,
    /// The line it starts on, from 1 (for a recording: the row).
    pub line: u64,
    /// The line its result stands on; equal to `line` where it is in one piece.
    pub end_line: u64,
    /// The thread.
    pub tid: Tid,
    /// Its process, where the source tells it with the call.
    pub pid: Option<Tid>,
    /// The CPU on which it returned, where the source tells it.
    pub cpu: Option<u16>,
    /// When it was entered.
    pub ts: Timestamp,
    /// How long it took, as the capture states it.
    pub dur: Nanos,
    /// Which call; [`Syscall::UNLISTED`] where the name is not in the table: then see `name`.
    pub syscall: Syscall,
    /// The name as captured.
    pub name: &'a [u8],
    /// The text between the parentheses. For a joined call, of both halves.
    pub args: &'a [u8],
    /// What it returned.
    pub ret: Ret,
    /// The error; [`Errno::NONE`] on success.
    pub errno: Errno,
    /// The text behind the returned value (`(Timeout)`, `([{fd=5, revents=POLLIN}])`, `<socket:[12]>`, an
    /// error's text), without the duration.
    pub ret_note: &'a [u8],
    /// What is special about it.
    pub flags: CallFlags,
    /// The line it starts on, as captured; empty where the source is no text (a recording): then the other fields
    /// tell the same.
    pub raw: &'a [u8],
    /// The line its result stands on, where that is another one; else empty.
    pub raw_end: &'a [u8],
}

/// How the note begins that tells how long a thread sleeps in a call.
const ASLEEP: &[u8] = b"(asleep ";

impl<'a> Call<'a> {
    /// A call of which only the name and arguments are known: for tests and for sources to fill in.
    pub fn new(name: &'a str, args: &'a str) -> Call<'a> {
        Call {
            source: SourceId(0),
            line: 1,
            end_line: 1,
            tid: 0,
            pid: None,
            cpu: None,
            ts: Timestamp::UNKNOWN,
            dur: Nanos::UNKNOWN,
            syscall: Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED),
            name: name.as_bytes(),
            args: args.as_bytes(),
            ret: Ret::Unknown,
            errno: Errno::NONE,
            ret_note: b"",
            flags: CallFlags::default(),
            raw: b"",
            raw_end: b"",
        }
    }

    /// When it returned; unknown where start or duration is.
    #[inline]
    pub fn end(&self) -> Timestamp {
        self.ts.plus(self.dur)
    }

    /// True where it returned an error that the program saw.
    #[inline]
    pub fn failed(&self) -> bool {
        self.errno.is_error() && !self.errno.is_restart()
    }

    /// The returned value where the call succeeded and shows one.
    #[inline]
    pub fn ok(&self) -> Option<i64> {
        match self.ret {
            Ret::Value(value) if !self.errno.is_error() => Some(value),
            _ => None,
        }
    }

    /// How long the thread had slept in it as the recording ended, of a call that had begun before: known where the recorder noted it
    /// ([`Call::asleep_note`]). It may have run for a moment meanwhile: the call lasts at least so long.
    pub fn asleep(&self) -> Nanos {
        let both =
            self.flags.contains(CallFlags::START_NOT_SEEN) && self.flags.contains(CallFlags::END_NOT_SEEN);
        let ns =
            || text::decimal(self.ret_note.strip_prefix(ASLEEP)?).and_then(|(ns, _)| u64::try_from(ns).ok());
        Some(both).filter(|both| *both).and_then(|_| ns()).map_or(Nanos::UNKNOWN, Nanos::new)
    }

    /// The note of a call that was under way all along: `(asleep 47103000000 ns)`.
    pub fn asleep_note(asleep: Nanos) -> String {
        format!("{}{} ns)", String::from_utf8_lossy(ASLEEP), asleep.or_zero())
    }

    /// Argument `n` (from 0), trimmed; splits at the commas that stand outside strings and brackets.
    #[inline]
    pub fn arg(&self, n: usize) -> Option<&'a [u8]> {
        text::argument(self.args, n)
    }

    /// The descriptor in the first argument, with the text strace `-y` shows behind it (`3</etc/passwd>`).
    #[inline]
    pub fn first_fd(&self) -> Option<(i32, Option<&'a [u8]>)> {
        text::descriptor(self.args)
    }

    /// Bytes moved: the result of a successful read or write call, else 0.
    #[inline]
    pub fn bytes(&self) -> u64 {
        if self.syscall.info().moves == crate::syscall::Moves::None {
            return 0;
        }
        self.ok().map_or(0, |n| n.max(0) as u64)
    }
}

/// A signal delivered to a thread.
#[derive(Clone, Copy, Debug)]
pub struct Signal<'a> {
    /// Where it was read.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The thread.
    pub tid: Tid,
    /// When.
    pub ts: Timestamp,
    /// Its name: `SIGPIPE`.
    pub name: &'a [u8],
    /// The siginfo text, if any: `{si_signo=SIGPIPE, …}`.
    pub info: &'a [u8],
    /// The line as captured.
    pub raw: &'a [u8],
}

/// The end of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Exit<'a> {
    /// Where it was read.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The thread.
    pub tid: Tid,
    /// When.
    pub ts: Timestamp,
    /// Exit status; `None` where a signal killed it.
    pub status: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<&'a [u8]>,
}

/// What a source knows of a process or thread besides its calls (lsof's COMMAND and USER, strace's `-N`
/// and `--decode-pids`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessInfo {
    /// The process.
    pub pid: Tid,
    /// The thread, where the source shows one besides the process.
    pub tid: Option<Tid>,
    /// The name (`comm`), perhaps cut by the tool that showed it.
    pub comm: Option<String>,
    /// User name or number.
    pub user: Option<String>,
    /// The parent process.
    pub parent: Option<Tid>,
    /// The program's file.
    pub exe: Option<String>,
    /// Its arguments, joined by spaces, cut at 4 KiB.
    pub cmdline: Option<String>,
    /// User id.
    pub uid: Option<u32>,
    /// Control group: the path in the unified hierarchy, else in that of the cpu controller.
    pub cgroup: Option<String>,
    /// Container id (the first 12 digits), as the control group's path tells it.
    pub container: Option<String>,
    /// When it began, which may be before the recording.
    pub start: Timestamp,
    /// When it ended; unknown where it did not.
    pub end: Timestamp,
    /// Limit of open descriptors (soft), of the process.
    pub fd_limit: Option<u64>,
    /// It has just begun to run another program (execve(2)): what was known of the former one is over.
    pub executed: bool,
}

/// One thing that a source tells.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A call, complete (or the part of it that the capture has). In order of completion.
    Call(&'a Call<'a>),
    /// The first half of a call that did not end yet: arguments may be partial, the result is unknown. The
    /// same call follows as [`Event::Call`].
    Enter(&'a Call<'a>),
    /// A signal.
    Signal(Signal<'a>),
    /// The end of a thread.
    Exit(Exit<'a>),
    /// One frame of the stack (`-k`) of the thread's last call, innermost first.
    Frame {
        /// The thread.
        tid: Tid,
        /// As printed: `/lib/libc.so.6(strftime+0x1f) [0x9d3af]`.
        text: &'a [u8],
    },
    /// A process or thread, by name.
    Process(ProcessInfo),
    /// An open descriptor, as a snapshot shows it (boxed: it is large, and calls pass through the same type).
    Fd(Box<FdEntry>),
    /// A table of counts.
    Counts(CountTable),
    /// A request, as an access log tells it.
    Logged(&'a Logged<'a>),
    /// A table of percentiles.
    Percentiles(Box<PercentileTable>),
    /// Figures of the host and what is on it.
    Figures(Box<FigureTable>),
    /// A profile, whole or damaged.
    Profile(Box<CapturedProfile>),
    /// A remark about the capture.
    Note(CaptureNote),
    /// A stretch of a thread on a CPU.
    Stretch(Stretch),
    /// A wake-up.
    Wakeup(Wakeup),
    /// A stack, before the samples that name it.
    Stack(Stack),
    /// A stack of a thread at a time.
    Sample(SampledStack),
    /// The stack of a short call.
    CallStack(CallStack),
    /// A request to a block device.
    BlockIo(Box<BlockIo>),
    /// Calls on a file, added up in the kernel.
    FileIo(Box<FileIo>),
    /// Who had the CPU that a thread waited for.
    Meanwhile(Box<Meanwhile>),
    /// Goroutines that waited at one place, counted.
    Parked(Box<Parked>),
    /// An event of a TCP connection.
    Net(Box<NetEvent>),
    /// Calls counted in the kernel.
    ThreadCounts(Box<ThreadCounts>),
    /// Figures of a thread over the recording.
    ThreadTotals(ThreadTotals),
    /// What was written down of a span of time.
    Span(RecordedSpan),
    /// What was lost of a table.
    Loss(Loss),
    /// What the recording cost.
    Cost(Cost),
    /// A process was taken in because the target waits for it.
    Followed(Box<Followed>),
    /// One of several traces begins: before its first call.
    Trace(Box<TraceStart>),
    /// A source, read to its end.
    Source(SourceInfo),
}

/// Takes events, in time order.
pub trait Sink {
    /// Takes one.
    fn push(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Sink for F {
    fn push(&mut self, event: Event<'_>) {
        self(event)
    }
}
