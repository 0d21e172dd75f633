//! What only a recorder sees, beside the calls: the scheduler, wake-ups, stacks, block I/O, the network, and what
//! was lost or left out. Each struct is one row of the table of its name in a recording.

use crate::fd::{FdKind, SocketEnds};
use crate::ids::Tid;
use crate::stats::CallStats;
use crate::syscall::Syscall;
use crate::time::{Nanos, Timestamp};
use crate::via::Via;
use serde::Serialize;

/// Number of a stack within one recording ([`Stack`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct StackId(pub u32);

/// How a thread left the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftAs {
    /// Still able to run: it was preempted or it yielded.
    Runnable,
    /// Waiting, and a signal can end the wait (`S`).
    Sleeping,
    /// Waiting, and no signal can end the wait: disk, page faults, kernel locks (`D`).
    Uninterruptible,
    /// Stopped or traced (`T`, `t`).
    Stopped,
    /// It ended.
    Dead,
    /// Idle kernel thread, parked, or a state that the recorder does not know.
    Other,
}

/// One stretch of a thread on a CPU with the wait before it (table `sched`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// When it got the CPU.
    pub ts: Timestamp,
    /// The CPU.
    pub cpu: u16,
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// How it left the CPU.
    pub left_as: LeftAs,
    /// How long it ran.
    pub on_cpu: Nanos,
    /// How long it could have run before that but had no CPU (run-queue time).
    pub runnable: Nanos,
    /// How long it was blocked before that; zero where it was preempted, unknown where its start was not seen.
    pub blocked: Nanos,
}

/// Who had the CPU that a thread waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HadCpu {
    /// A thread: of another process, or another one of its own.
    Thread,
    /// Nobody: the CPU was to wake up, or the thread to be brought there.
    Idle,
    /// Whoever: its control group had used up its quota as it began to wait.
    Quota,
    /// Somebody, before the turns that the CPU remembered.
    Untold,
    /// The recorder: nobody's program, and gone with the recording.
    Recorder,
}

/// Who had the CPU that one thread waited for, added up in the kernel (table `meanwhile`). A recording may have several
/// rows of the same: they add up. All rows of a thread together are at most what it waited.
#[derive(Clone, Debug, PartialEq)]
pub struct Meanwhile {
    /// The process that waited.
    pub pid: Tid,
    /// Its thread.
    pub tid: Tid,
    /// Who had it.
    pub had: HadCpu,
    /// The process that ran; `None` where no thread did.
    pub runner: Option<Tid>,
    /// The name of its thread where it is of the process that waited, else the name of its process.
    pub comm: Option<String>,
    /// Turns.
    pub turns: u64,
    /// Of its wait.
    pub total: Nanos,
}

/// From where a thread was woken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakeContext {
    /// By another thread.
    Task,
    /// In a hardware interrupt: devices, timers.
    HardIrq,
    /// In a soft interrupt: network, block completion, timers.
    SoftIrq,
    /// By the kernel's idle task or where the recorder cannot tell.
    Other,
}

/// One wake-up (table `wakeups`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wakeup {
    /// When.
    pub ts: Timestamp,
    /// The CPU it was done on.
    pub cpu: u16,
    /// Who did it; `None` in an interrupt, where the thread that happened to run is not to blame.
    pub waker: Option<Tid>,
    /// From where.
    pub context: WakeContext,
    /// Who was woken.
    pub wakee: Tid,
}

/// What a stack was taken for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleKind {
    /// At a fixed rate while on a CPU (table `samples`): `weight` is the time between two samples.
    OnCpu,
    /// When it left the CPU to wait (table `offcpu`): `weight` is how long it was away,
    /// as far as it was seen: at least so long where it slept already as the recording began, or slept on at its end.
    OffCpu,
}

/// One stack of one thread at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampledStack {
    /// What for.
    pub kind: SampleKind,
    /// When it was taken.
    pub ts: Timestamp,
    /// The CPU.
    pub cpu: u16,
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// The time it stands for.
    pub weight: Nanos,
    /// The user part of the stack, if there is one and it could be read.
    pub user: Option<StackId>,
    /// The kernel part.
    pub kernel: Option<StackId>,
}

/// From where in its program a thread made a short call (table `call_stacks`): one of many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallStack {
    /// When it returned.
    pub ts: Timestamp,
    /// The CPU.
    pub cpu: u16,
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// Which call.
    pub call: Syscall,
    /// How long it took.
    pub took: Nanos,
    /// The user part of the stack.
    pub user: StackId,
}

/// Modules of frames that are a language's own, as its runtime told them: the place has the source file with its path.
pub const LANGUAGES: [&str; 7] = ["[go]", "[java]", "[node]", "[perl]", "[php]", "[python]", "[ruby]"];

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StackFrame {
    /// The address, as sampled.
    pub address: u64,
    /// The function; `None` where no symbol is known.
    pub function: Option<String>,
    /// The file that holds the code: `/lib/x86_64-linux-gnu/libc.so.6`, `[kernel]`, `[jit]`; or one of [`LANGUAGES`].
    pub module: Option<String>,
    /// Source file and line, where debug information or the runtime tells.
    pub place: Option<String>,
}

impl StackFrame {
    /// True for a frame of a language, as its runtime told it.
    pub fn is_of_language(&self) -> bool {
        self.module.as_deref().is_some_and(|module| LANGUAGES.contains(&module))
    }

    /// The source file of its place, without the line.
    pub fn source_file(&self) -> Option<&str> {
        let place = self.place.as_deref()?;
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        Some(if line.bytes().all(|byte| byte.is_ascii_digit()) { file } else { place })
    }
}

/// A stack by its number (tables `stacks`, `frames`). Comes before the first [`SampledStack`] that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Its number.
    pub id: StackId,
    /// The frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// True where more frames were there than the recorder keeps, or where the unwinding stopped early.
    pub cut: bool,
}

/// A file as the kernel knows it. The inode number of a file that is gone is given to another one, with another
/// generation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct InodeId {
    /// Major number of its file system's device.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
    /// Its inode number there.
    pub inode: u64,
    /// Its generation; 0 on file systems that keep none.
    pub generation: u32,
}

/// A way to use a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOp {
    /// read, pread and their like, and the file that sendfile, splice and copy_file_range take from.
    Read,
    /// write, pwrite and their like, and the file that those put into.
    Write,
    /// fsync and fdatasync.
    Sync,
    /// An open that succeeded.
    Open,
}

/// What one thread did with one file in one way, added up in the kernel (table `files`). A recording may have several rows
/// of the same: they add up.
#[derive(Clone, Debug, PartialEq)]
pub struct FileIo {
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// In which way.
    pub op: FileOp,
    /// What kind of file; pipes and the like are added up by kind.
    pub kind: FdKind,
    /// Its path as the process saw it; with `…/` in front where it was too long to be kept whole. `None` for what has no
    /// path, and where it was lost.
    pub path: Option<String>,
    /// The service that a socket leads to: the other end where the process connected, its own where it accepted. All connections to a
    /// service add up.
    pub ends: SocketEnds,
    /// Its size when it was first used, bytes; `None` where unknown, and of an empty one.
    pub size: Option<u64>,
    /// Reads or writes that began where the thread's one before ended; `None` where unknown, and of what has no places.
    pub in_order: Option<u64>,
    /// The file.
    pub file: Option<InodeId>,
    /// When the first of the calls returned.
    pub first: Timestamp,
    /// When the last did.
    pub last: Timestamp,
    /// Calls.
    pub calls: u64,
    /// Of these, failed ones.
    pub errors: u64,
    /// Of these, those whose duration is known.
    pub timed: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Sum of the known durations; unknown where none is.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// One request to a block device (table `block_io`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockIo {
    /// When it was made, and began to wait for the scheduler of the device; unknown where the source does not tell.
    pub queued: Timestamp,
    /// When it was handed to the device.
    pub issued: Timestamp,
    /// When it was completed; unknown where the recording ended before.
    pub completed: Timestamp,
    /// The device: `253:0`.
    pub device: String,
    /// The first sector (512 bytes).
    pub sector: u64,
    /// Its size.
    pub bytes: u64,
    /// `read`, `write`, `flush`, `discard`; with `+sync`, `+fua`, `+meta`, `+ahead` (read ahead of need) where set.
    pub op: String,
    /// The process that was running when it was issued: not always the one that caused it.
    pub pid: Option<Tid>,
    /// The thread.
    pub tid: Option<Tid>,
    /// The file whose pages it carries, which tells for whom the kernel writes back; `None` for direct I/O, for a file
    /// system's own data, and where the source does not tell.
    pub file: Option<InodeId>,
}

/// What happened on a TCP connection (table `net`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetKind {
    /// Our connect was answered: `took` is the time of the handshake.
    Connected,
    /// A connection of a listening socket of ours was set up.
    Accepted,
    /// A segment was sent again.
    Retransmit,
    /// A connection was refused or reset by the other end.
    Reset,
    /// The backlog of a listening socket of ours was full.
    ListenOverflow,
    /// The connection ended: `took` is how long it lived.
    Closed,
}

/// One event of a TCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetEvent {
    /// When.
    pub ts: Timestamp,
    /// What.
    pub kind: NetKind,
    /// The process, where it ran in one's context.
    pub pid: Option<Tid>,
    /// Our end: `10.0.0.1:34512`.
    pub local: String,
    /// The other end.
    pub peer: String,
    /// See the kinds.
    pub took: Nanos,
    /// Smoothed round-trip time as the kernel knows it then.
    pub rtt: Nanos,
}

/// The calls of one syscall in one thread, counted in the kernel (table `counts`).
#[derive(Clone, Debug)]
pub struct ThreadCounts {
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// Which call; [`Syscall::UNLISTED`] where the name is not in the table.
    pub syscall: Syscall,
    /// The name.
    pub name: String,
    /// From when on it was counted.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// Count, errors, time, percentiles.
    pub stats: CallStats,
}

/// What a recorder wrote down in a span of time (table `spans`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// Each call.
    Full,
    /// Counts of the calls.
    Counts,
    /// No calls.
    None,
}

/// One span of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedSpan {
    /// Its start.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
    /// What was written down of the syscalls.
    pub calls: Coverage,
}

/// Rows (of the table `files`: calls) of one table that were lost in one span of time (table `losses`). A table that lost nothing has a row
/// with `lost` zero for the whole recording, so that `lost + seen = produced` can be checked for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The table: `syscalls`, `sched`, `samples`.
    pub table: String,
    /// The first loss, or the start of the recording.
    pub from: Timestamp,
    /// The last loss, or its end.
    pub to: Timestamp,
    /// Rows lost.
    pub lost: u64,
    /// Rows that the kernel side had to tell, lost ones included.
    pub produced: u64,
    /// What was left out on purpose, to keep the cost of the recording within its limit; none of those produced.
    pub refused: u64,
}

impl Loss {
    /// In the place of a table: copies that samples and waits are unwound by, which are rows of none.
    pub const COPIES: &'static str = "copies";

    /// True where it is rows of a table that were lost.
    pub fn is_of_rows(&self) -> bool {
        self.table != Loss::COPIES
    }
}

/// What a recording cost, as the recorder measured it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Share of its own CPU time that the target spent in our probes, 0 to 1; unknown where it used less than the kernel's
    /// tick (10 ms).
    pub target_share: Option<f64>,
    /// Time that was spent in our probes.
    pub added: Nanos,
    /// CPU time of the recorder itself.
    pub recorder_cpu: Nanos,
    /// Added to one recorded call.
    pub per_call: Nanos,
}

/// A process that was taken into a recording because the target was seen to wait for it, or it for the target (table `followed`). It is not
/// what was asked about.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Followed {
    /// When it was taken in: of what it did before nothing is recorded.
    pub ts: Timestamp,
    /// The process.
    pub pid: Tid,
    /// Its name.
    pub comm: String,
    /// The process that waits for it: one of the target, or one that was taken in before. Where `hop` is 0: the process of the target that
    /// it waits for.
    pub waiter: Tid,
    /// What it is waited for at: `127.0.0.1:5432`, `a pipe`, `the lock of /srv/orders.lock`. Where `hop` is 0: at what it waits.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub via: Via,
    /// The part of the target's waiting that was for it, and its like at the same address, by looks some times a second, 0 to 1. Where `hop`
    /// is 0: the part of the looks at it in which it waited for the target.
    pub share: f64,
    /// Waits from the target to it: 1 where the target itself waits for it, 0 where it waits for the target.
    pub hop: u32,
}

impl Followed {
    /// True for one that waits for the target.
    pub fn is_caller(&self) -> bool {
        self.hop == 0
    }
}

/// Page faults of a thread and other figures that are kept a thread (table `process_stats`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadTotals {
    /// The process.
    pub pid: Tid,
    /// The thread.
    pub tid: Tid,
    /// Page faults that its user code took.
    pub page_faults: Option<u64>,
    /// Of these, with a read from disk.
    pub major_faults: Option<u64>,
    /// Times it gave up the CPU by itself.
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from it.
    pub involuntary_switches: Option<u64>,
}
