//! The world that calls act on: threads, processes, descriptors and files, moved through time by each call.

mod by_use;
mod descriptors;
pub mod fds;
pub mod file_users;
pub mod files;
pub mod ids;
mod lifecycle;
mod made;
mod paths;
pub mod rounds;
pub mod runners;
mod same_socket;
pub mod slots;
mod snapshots;
#[cfg(test)]
mod tests;
pub mod threads;

pub use paths::is_stat_family;

use crate::args::futex;
use crate::args::sockets;
use crate::args::{WaitKind, wait_kind};
use crate::exemplar::Exemplar;
use crate::io::IoStats;
use crate::world::fds::{FdLife, Fds, Origin};
use crate::world::files::{Files, merge_io};
use crate::world::ids::FileId;
use crate::world::ids::LifeId;
use crate::world::ids::{ProcessId, ThreadId};
use crate::world::slots::Slots;
use crate::world::threads::{ThreadFacts, Threads};
use hashbrown::{HashMap, HashSet};
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{FdArg, Moves, PathArg, Waits};
use whyslow_model::{
    Call, CallFlags, CallStats, CaptureKind, Errno, Exit, FdEntry, FdKind, ProcessInfo, ProgramName,
    SaturatingSum, Signal, SocketEnds, SourceId, SourceInfo, Syscall, ThreadCounts, Timestamp, TraceStart,
    syscall::SyscallNames, text,
};

/// A call with everything the world knows about it: what folds see.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The call.
    pub call: &'a Call<'a>,
    /// Its thread.
    pub thread: ThreadId,
    /// Its process.
    pub process: ProcessId,
    /// The descriptor it works on. For open, accept, socket and their like: the one it made.
    pub fd: Option<i32>,
    /// What that descriptor is (for close: was).
    pub life: Option<LifeId>,
    /// The kind of that.
    pub kind: FdKind,
    /// The file it works on: by path, or the one behind the descriptor.
    pub file: Option<FileId>,
    /// What it waits for; `None` where its time is work.
    pub waits: Option<WaitKind>,
    /// Of a futex call: the address, the operation, and the arguments behind it.
    pub futex: Option<(u64, &'a [u8], &'a [u8])>,
    /// Bytes it moved.
    pub bytes: u64,
    /// A stat-family call that gave the same answer for this path as the time before.
    pub same_answer: bool,
}

/// Threads, processes, descriptors and files.
#[derive(Debug, Default)]
pub struct World {
    /// Threads and processes.
    pub threads: Threads,
    /// Descriptors.
    pub fds: Fds,
    /// Files.
    pub files: Files,
    /// Names of syscalls outside the table.
    pub names: SyscallNames,
    /// Calls.
    pub calls: u64,
    /// Processes that SIGKILL ended, and when: the first ones.
    pub killed: Vec<(ProcessId, Timestamp)>,
    /// SIGKILL signals that processes of the capture sent.
    pub kills_sent: u64,
    /// Calls that were only counted.
    pub counted: u64,
    /// Signals by process and name.
    pub signals: Vec<SignalFacts>,
    /// What the processes are asked for by clients.
    asked_as: by_use::AskedAs,
    /// Rows of snapshots.
    pub snapshot_rows: u64,
    /// Descriptor rows that belong to no process (`/proc/net/*`), by inode.
    net_rows: HashMap<u64, FdEntry>,
    /// The names that ends of unix sockets are bound to, by inode.
    unix_names: HashMap<u64, Box<str>>,
    /// Of unix sockets the inode of the other end, whose name is not known yet.
    unix_others: HashMap<LifeId, u64>,
    /// The lives of sockets that are known by their inode or by both ends.
    sockets: HashMap<(ProcessId, Box<[u8]>), LifeId>,
    /// Processes named by snapshots.
    snapshot_pids: Vec<ProcessId>,
    /// What epolls call descriptors, by snapshots.
    epoll_tokens: HashMap<(ProcessId, i32), u64>,
    /// The processes that threads of unknown origin belong to, by the family of their trace.
    roots: HashMap<SourceId, Root>,
    /// What the files of several traces are called, by family.
    trace_names: HashMap<SourceId, Box<str>>,
    /// Threads that are the first of a process, and known to be so beforehand.
    first_threads: HashSet<Tid>,
    /// Processes that are called as the file of their trace.
    named_by_trace: HashSet<ProcessId>,
    /// The families of traces, where there are several traces.
    families: HashMap<SourceId, SourceId>,
    /// Clones in flight: the thread that called, whether it makes a thread, and the child if it was seen already.
    in_flight: Vec<(ThreadId, bool, Option<Tid>)>,
    /// Children that were made but not seen yet.
    unborn: HashMap<Tid, Unborn>,
    /// What is told of threads that did nothing yet: their process and name.
    told_threads: HashMap<Tid, (ProcessId, Box<str>)>,
    hasher: foldhash::fast::RandomState,
    path_buffer: Vec<u8>,
}

/// Signals of one name that one process got.
#[derive(Debug)]
pub struct SignalFacts {
    /// The process.
    pub process: ProcessId,
    /// The name: `SIGPIPE`.
    pub name: Box<str>,
    /// How many.
    pub count: u64,
    /// The thread that got the first.
    pub tid: Tid,
    /// The first.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// The line of the first.
    pub exemplar: Exemplar,
}

/// The process that threads of unknown origin belong to.
#[derive(Clone, Copy, Debug)]
struct Root {
    process: ProcessId,
    /// Its number was taken from the first thread seen.
    guessed: bool,
}

#[derive(Debug)]
struct Unborn {
    parent: ProcessId,
    is_thread: bool,
    slots: Option<Slots>,
}

impl World {
    /// Kinds of signals (by process) told apart.
    const MAX_SIGNALS: usize = 256;
    const MAX_KILLED: usize = 1_024;
    /// Children remembered that never showed up (a trace without `-f`).
    const MAX_UNBORN: usize = 1024;
    /// Clones in flight at once.
    const MAX_IN_FLIGHT: usize = 256;
    /// Names of threads that did nothing yet.
    const MAX_THREAD_NAMES: usize = 8192;
    /// Descriptors that living processes inherited, about.
    const MAX_INHERITED: usize = 1 << 16;
    /// Rows of `/proc/net/*` kept for joining by inode.
    const MAX_NET_ROWS: usize = 50_000;
    /// Rows of snapshots that become descriptors.
    const MAX_SNAPSHOT_FDS: u64 = 100_000;

    /// Takes one call in.
    #[inline]
    pub(crate) fn call<'a>(&mut self, call: &'a Call<'a>) -> Seen<'a> {
        self.calls += 1;
        let thread = self.thread_of(call);
        let process = self.threads.thread(thread).process;
        let info = call.syscall.info();
        let bytes = call.bytes();
        let mut seen = Seen {
            call,
            thread,
            process,
            fd: None,
            life: None,
            kind: FdKind::Unknown,
            file: None,
            waits: None,
            futex: if futex::is_futex(call.syscall) { futex::futex(call.args) } else { None },
            bytes,
            same_answer: false,
        };
        if call.syscall == Syscall::KILL && !call.failed() {
            self.kills_sent += contains(call.args, b"SIGKILL") as u64;
        }
        if info.fd == FdArg::First {
            self.on_descriptor(&mut seen);
        } else if info.path != PathArg::None {
            self.on_path(&mut seen, info.path);
        } else {
            self.on_other(&mut seen);
        }
        seen.waits = wait_kind(call.syscall, call.args, seen.kind);

        let syscall =
            if call.syscall == Syscall::UNLISTED { self.names.intern(call.name) } else { call.syscall };
        let facts = self.threads.thread_mut(thread);
        facts.hold_against_last(call);
        facts.see(call.ts, call.dur);
        if call.ts.is_known() && (!facts.last_call.is_known() || call.ts > facts.last_call) {
            facts.last_call = call.ts;
        }
        facts.calls += 1;
        let took_connection =
            matches!(call.syscall, Syscall::ACCEPT | Syscall::ACCEPT4) && !call.errno.is_error();
        let useful = bytes > 0 || took_connection;
        facts.useful += useful as u64;
        let stats = facts.by_syscall.entry(syscall);
        stats.record(call.dur, call.failed(), bytes);
        if let Some(ns) = call.dur.get() {
            match seen.waits {
                Some(kind) => {
                    stats.waiting_ns = stats.waiting_ns.saturating_add(ns);
                    let waited = &mut facts.waiting_ns[kind as usize];
                    *waited = waited.saturating_add(ns);
                    if let Some(time) =
                        facts.sched.as_deref_mut().filter(|time| time.ran_through(call.ts, call.dur))
                    {
                        time.unblocked_ns[kind as usize] =
                            time.unblocked_ns[kind as usize].saturating_add(ns);
                    }
                }
                None => facts.working_ns = facts.working_ns.saturating_add(ns),
            }
        }
        if useful && !wakes_only(&seen) {
            self.threads.process_mut(process).useful += 1;
        }
        seen
    }

    /// The names that ends of unix sockets are bound to, by inode.
    pub fn unix_names(&self) -> &HashMap<u64, Box<str>> {
        &self.unix_names
    }

    /// Takes names that others know.
    pub(crate) fn know_unix_names(&mut self, names: &HashMap<u64, Box<str>>) {
        self.unix_names.extend(names.iter().map(|(inode, name)| (*inode, name.clone())));
    }

    /// Adds what open descriptors did to the facts of their files.
    pub(crate) fn finish(&mut self) {
        self.number_root();
        self.name_by_traces();
        self.name_unix_peers();
        let open: Vec<LifeId> = self.fds.open().map(|(id, _)| id).collect();
        for id in open {
            if let Some(life) = self.fds.get_mut(id)
                && let Some(file) = life.file
            {
                take_into_file(life, self.files.get_mut(file));
            }
        }
    }

    /// Takes in calls that were only counted.
    pub(crate) fn thread_counts(&mut self, counts: &ThreadCounts) {
        let syscall = match counts.syscall {
            Syscall::UNLISTED => self.names.intern(counts.name.as_bytes()),
            syscall => syscall,
        };
        self.counted = self.counted.saturating_add(counts.stats.count);
        // Counts are told at the end, also of threads that have ended.
        let thread = self.thread_accounted(counts.tid, counts.pid);
        let thread = self.threads.thread_mut(thread);
        thread.counted.get_or_insert_default().entry(syscall).merge(&counts.stats);
    }

    /// Where no call was recorded by itself, the counts are all there is: they stand for the calls.
    pub(crate) fn take_counts_for_calls(&mut self) {
        for thread in self.threads.iter_mut() {
            let Some(counted) = thread.counted.take() else { continue };
            for (syscall, stats) in counted.iter() {
                thread.calls = thread.calls.saturating_add(stats.count);
                let mut stats = stats.clone();
                match wait_kind(syscall, b"", FdKind::Unknown) {
                    Some(kind) => {
                        stats.waiting_ns = stats.total_ns;
                        let waited = &mut thread.waiting_ns[kind as usize];
                        *waited = waited.saturating_add(stats.total_ns);
                    }
                    // Whether a read waits depends on the descriptor, which counts do not tell.
                    None if syscall.info().waits == Waits::Never => {
                        thread.working_ns = thread.working_ns.saturating_add(stats.total_ns);
                    }
                    None => {}
                }
                thread.by_syscall.entry(syscall).merge(&stats);
            }
        }
    }

    /// All calls of all threads by syscall.
    pub fn syscalls(&self) -> Vec<(String, CallStats)> {
        let mut all: HashMap<Syscall, CallStats> = HashMap::new();
        for (_, thread) in self.threads.iter() {
            for (syscall, stats) in thread.by_syscall.iter() {
                all.entry(syscall).or_default().merge(stats);
            }
        }
        all.into_iter().map(|(syscall, stats)| (self.names.name(syscall).to_string(), stats)).collect()
    }
}

/// Moves a life's statistics into its file's; the life keeps its counts for the views.
fn take_into_file(life: &FdLife, facts: &mut crate::FileFacts) {
    facts.seeks.merge(&life.seeks);
    if life.syncs.count > 0 {
        facts.syncs.merge(&life.syncs);
        facts.sync_exemplars.merge(&life.sync_exemplars);
    }
    facts.rounds.see(life);
    facts.users.see_life(life);
    if facts.created_here {
        let bytes = |io: &Option<Box<IoStats>>| io.as_ref().map_or(0, |io| io.calls.bytes);
        facts.read_back = facts.read_back.saturating_add(bytes(&life.reads));
        facts.written = facts.written.saturating_add(bytes(&life.writes));
        let io = [&life.reads, &life.writes].into_iter().flatten().map(|io| io.calls.total_ns);
        facts.io_ns = facts.io_ns.saturating_add(io.saturating_sum());
    }
    merge_io(&mut facts.reads, life.reads.as_deref());
    merge_io(&mut facts.writes, life.writes.as_deref());
    if facts.path_calls.count == 0 && facts.tid == 0 {
        facts.tid = facts
            .reads
            .iter()
            .chain(facts.writes.iter())
            .find_map(|io| io.exemplars.first.as_ref())
            .map_or(0, |first| first.tid);
    }
    if !facts.size_stated {
        facts.size = Some(facts.size.unwrap_or(0).max(life.extent)).filter(|size| *size > 0);
    }
}

/// True for a call that wakes a thread of the same process, or takes that in: on an eventfd, also where only the eight bytes that
/// each such call moves tell what it is (eventfd(2)).
fn wakes_only(seen: &Seen<'_>) -> bool {
    match seen.kind {
        FdKind::Event => true,
        FdKind::Unknown => {
            seen.bytes == 8
                && matches!(seen.call.syscall, Syscall::READ | Syscall::WRITE)
                && contains(seen.call.args, br"\0\0\0")
        }
        _ => false,
    }
}

#[inline]
fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}
