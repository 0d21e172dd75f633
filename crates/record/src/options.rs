//! What to record, and of whom.

use crate::decode::{Payload, PrintOptions};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// How much of the calls is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Mode {
    /// No calls: nothing looks at them, and they cost nothing.
    None,
    /// Counts and times a thread and syscall.
    Counts,
    /// Each call.
    Full,
    /// Each call while the cost stays below its limit.
    #[default]
    Adaptive,
}

/// What to record, and of whom.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Processes to watch, with all their threads.
    pub pids: Vec<u32>,
    /// Single threads to watch.
    pub tids: Vec<u32>,
    /// Watch everything.
    pub all: bool,
    /// Watch the children of what is watched.
    pub follow: bool,
    /// Watch programs of this name (15 bytes at most) as they start.
    pub name: Option<String>,
    /// How much of the calls.
    pub mode: Mode,
    /// With [`Mode::Counts`]: calls are recorded one by one all the same where they are few (up to some 2,000 a second and CPU), all the time.
    pub few_in_full: bool,
    /// Highest share of its CPU time that the target may lose, for [`Mode::Adaptive`].
    pub max_overhead: f64,
    /// How long the recording is planned to take, over which [`Mode::Adaptive`] spreads its cost.
    pub planned: Duration,
    /// Record only these calls, by their number; all where `None`.
    pub calls: Option<Vec<u16>>,
    /// Bytes of payload to look at in reads and writes; 0 for none.
    pub payload: u32,
    /// Keep payload as it is. Else only what names an endpoint is kept, without secrets.
    pub keep_payload: bool,
    /// Keep secrets in the arguments of programs. Else they are replaced before they reach the disk.
    pub show_secrets: bool,
    /// Bytes of a payload to print; as many as are looked at where `None`.
    pub string_limit: Option<u32>,
    /// Print what each descriptor is (`3</etc/passwd>`).
    pub fd_names: bool,
    /// Bytes of a string (a path, an argument) to keep.
    pub text_cap: u32,
    /// Record the scheduler.
    pub sched: bool,
    /// Record who wakes whom; needs [`Options::sched`].
    pub wakeups: bool,
    /// Take the stacks of waits of a millisecond or more; needs [`Options::sched`].
    pub wait_stacks: bool,
    /// Stacks a second of what runs on each CPU; 0 for none.
    pub sample_hz: u32,
    /// Record the requests to block devices, of everybody.
    pub block: bool,
    /// Record what happens on TCP connections.
    pub net: bool,
    /// Record the signals delivered.
    pub signals: bool,
    /// Tell the page faults and switches of each thread.
    pub totals: bool,
    /// Add up what each thread does with each file.
    pub files: bool,
    /// Sample which work waits for the watched processes: in pipes, accept queues, sockets. Not of all processes.
    pub queues: bool,
    /// Other processes of this host that are taken in while recording because the target waits for them, at most; 0 for none. Not of
    /// all processes.
    pub follow_peers: usize,
    /// Folders to look for debug files in first.
    pub debug_dirs: Vec<PathBuf>,
    /// Functions of the kernel to count and time: names, patterns (`tcp_*`), `module:function`.
    pub probes: Vec<String>,
    /// It goes on for days and is cut into windows ([`crate::Session::cut`]): the recorder looks seldom, its buffers are small, few stacks of
    /// waits and few slow calls are taken, and threads that are blocked are not read.
    pub lasting: bool,
    /// Bytes of the rings of calls of all CPUs together.
    pub ring_bytes: u64,
    /// An existing folder for the spool, empty.
    pub spool: PathBuf,
    /// Bytes that may wait in the spool at once, for a [`FlightRing`](crate::FlightRing) that reads it as it grows; what comes beyond is
    /// dropped and counted. `None` for no bound.
    pub spool_room: Option<u64>,
    /// Begin with the first program that this process starts: what it does before is ours.
    pub from_exec_of: Option<u32>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pids: Vec::new(),
            tids: Vec::new(),
            all: false,
            follow: true,
            name: None,
            mode: Mode::default(),
            few_in_full: false,
            max_overhead: 0.05,
            planned: Duration::from_secs(10),
            calls: None,
            payload: 256,
            keep_payload: false,
            show_secrets: false,
            string_limit: None,
            fd_names: false,
            text_cap: 1023,
            sched: true,
            wakeups: true,
            wait_stacks: true,
            sample_hz: 99,
            block: true,
            net: true,
            signals: true,
            totals: true,
            files: false,
            queues: false,
            follow_peers: 0,
            debug_dirs: Vec::new(),
            probes: Vec::new(),
            lasting: false,
            ring_bytes: 64 << 20,
            spool: PathBuf::new(),
            spool_room: None,
            from_exec_of: None,
        }
    }
}

impl Options {
    /// Whether stacks are read beside the kernel's side: it walks frame pointers alone.
    #[cfg(feature = "bpf")]
    pub(crate) fn unwinds(&self) -> bool {
        self.sample_hz > 0
    }

    /// Whether one program records calls and files: neither of them may be given up then.
    #[cfg(feature = "bpf")]
    pub(crate) fn files_with_calls(&self) -> bool {
        self.files && matches!(self.mode, Mode::Counts | Mode::Full)
    }

    /// How calls are to be printed.
    pub(crate) fn print(&self) -> PrintOptions {
        PrintOptions {
            string_limit: self.string_limit.unwrap_or(self.payload.max(32)) as usize,
            fd_names: self.fd_names,
            payload: if self.keep_payload { Payload::AsItIs } else { Payload::Reduced },
        }
    }
}
