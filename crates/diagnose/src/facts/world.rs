//! The world that calls act on: threads, processes, descriptors and files, moved through time by each call.

use super::fds::{FdLife, Fds, LifeId, Origin, Slots};
use super::files::{FileId, Files, merge_io};
use super::io::IoStats;
use super::sockets;
use super::threads::{ProcessId, ThreadId, Threads};
use super::waits::{WaitKind, wait_kind};
use hashbrown::HashMap;
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{FdArg, Moves, PathArg};
use whyslow_model::{
    Call, CallFlags, CallStats, CaptureKind, Errno, Exit, FdEntry, FdKind, ProcessInfo, Signal, SocketEnds,
    SourceInfo, Syscall, Timestamp, syscall::Names, text,
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
    pub names: Names,
    /// Calls.
    pub calls: u64,
    /// Signals by name and process.
    pub signals: HashMap<(ProcessId, String), u64>,
    /// Rows of snapshots.
    pub snapshot_rows: u64,
    /// Descriptor rows that belong to no process (`/proc/net/*`), by inode.
    net_rows: HashMap<u64, FdEntry>,
    /// Processes named by snapshots.
    snapshot_pids: Vec<ProcessId>,
    /// The process that threads of unknown origin belong to.
    root: Option<ProcessId>,
    /// Clones in flight: the thread that called, whether it makes a thread, and the child if it was seen already.
    in_flight: Vec<(ThreadId, bool, Option<Tid>)>,
    /// Children that were made but not seen yet.
    unborn: HashMap<Tid, Unborn>,
    hasher: foldhash::fast::RandomState,
    path_buffer: Vec<u8>,
}

#[derive(Debug)]
struct Unborn {
    parent: ProcessId,
    is_thread: bool,
    slots: Option<Slots>,
}

impl World {
    /// Children remembered that never showed up (a trace without `-f`).
    const MAX_UNBORN: usize = 1024;
    /// Rows of `/proc/net/*` kept for joining by inode.
    const MAX_NET_ROWS: usize = 100_000;
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
            bytes,
            same_answer: false,
        };
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
        facts.see(call.ts, call.dur);
        facts.calls += 1;
        facts.by_syscall.entry(syscall).record(call.dur, call.failed(), bytes);
        if let Some(ns) = call.dur.get() {
            match seen.waits {
                Some(kind) => facts.waiting_ns[kind as usize] += ns,
                None => facts.working_ns += ns,
            }
        }
        seen
    }

    // --- threads and processes ---

    #[inline]
    fn thread_of(&mut self, call: &Call<'_>) -> ThreadId {
        match self.threads.find(call.tid) {
            Some(thread) => thread,
            None => self.new_thread(call.tid, Some(call.syscall)),
        }
    }

    /// A thread seen for the first time: a child of a known clone, or of the process that is traced.
    #[cold]
    fn new_thread(&mut self, tid: Tid, first_call: Option<Syscall>) -> ThreadId {
        if let Some(unborn) = self.unborn.remove(&tid) {
            return self.be_born(tid, unborn.parent, unborn.is_thread, unborn.slots);
        }
        if let Some(pending) = self.in_flight.iter_mut().rev().find(|(_, _, child)| child.is_none()) {
            pending.2 = Some(tid);
            let (parent, is_thread) = (pending.0, pending.1);
            let parent = self.threads.thread(parent).process;
            return self.be_born(tid, parent, is_thread, None);
        }
        if let Some(process) = self.threads.find_process(tid) {
            self.root.get_or_insert(process);
            return self.threads.add_thread(tid, process);
        }
        let process = match (self.root, self.snapshot_pids.as_slice()) {
            // One process in the snapshot: the trace is of its threads.
            (None, [only]) => *only,
            (None, _) => self.threads.add_process((tid != 0).then_some(tid)),
            // A program that starts is no thread of another one.
            (Some(_), _) if first_call == Some(Syscall::EXECVE) => self.threads.add_process(Some(tid)),
            (Some(root), _) => root,
        };
        self.root.get_or_insert(process);
        self.threads.add_thread(tid, process)
    }

    fn be_born(&mut self, tid: Tid, parent: ProcessId, is_thread: bool, slots: Option<Slots>) -> ThreadId {
        if is_thread {
            return self.threads.add_thread(tid, parent);
        }
        let child = self.threads.add_process(Some(tid));
        let slots = slots.unwrap_or_else(|| self.threads.process(parent).slots.clone());
        let inherited: Vec<LifeId> = slots.iter().map(|(_, life)| life).collect();
        for id in inherited {
            if let Some(life) = self.fds.get_mut(id) {
                life.refs += 1;
            }
        }
        let (exe, comm, user, cwd) = {
            let from = self.threads.process(parent);
            (from.exe.clone(), from.comm.clone(), from.user.clone(), from.cwd.clone())
        };
        let process = self.threads.process_mut(child);
        process.slots = slots;
        process.parent = Some(parent);
        process.started = true;
        (process.exe, process.comm, process.user, process.cwd) = (exe, comm, user, cwd);
        self.threads.add_thread(tid, child)
    }

    /// The first half of a call whose end comes later: what takes effect at once.
    pub(crate) fn enter(&mut self, call: &Call<'_>) {
        let thread = self.thread_of(call);
        self.threads.thread_mut(thread).see(call.ts, whyslow_model::Nanos::ZERO);
        match call.syscall {
            // The kernel frees the number before close returns: another thread may get it meanwhile.
            Syscall::CLOSE => {
                let process = self.threads.thread(thread).process;
                if let Some((fd, _)) = call.first_fd() {
                    self.close(process, fd, call.ts);
                }
            }
            Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK => {
                self.in_flight.retain(|(caller, _, _)| *caller != thread);
                self.in_flight.push((thread, makes_thread(call.args), None));
            }
            _ => {}
        }
    }

    fn cloned(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let early = self.in_flight.iter().position(|(caller, _, _)| *caller == seen.thread);
        let seen_already = early.and_then(|at| self.in_flight.swap_remove(at).2);
        let Some(child) = call.ok().and_then(|ret| Tid::try_from(ret).ok()).filter(|child| *child != 0)
        else {
            return;
        };
        if seen_already == Some(child) || self.threads.find(child).is_some() {
            return;
        }
        if self.unborn.len() >= Self::MAX_UNBORN {
            self.unborn.clear();
        }
        let is_thread = makes_thread(call.args);
        let slots = (!is_thread).then(|| self.threads.process(seen.process).slots.clone());
        self.unborn.insert(child, Unborn { parent: seen.process, is_thread, slots });
    }

    fn executed(&mut self, seen: &Seen<'_>) {
        if seen.call.ok().is_none() {
            return;
        }
        let path = seen.file.map(|file| self.files.get(file).path.clone());
        let process = self.threads.process_mut(seen.process);
        process.exe = path;
        process.started = true;
        if process.pid.is_none() && seen.call.tid != 0 {
            self.threads.set_pid(seen.process, seen.call.tid);
        }
        for life in self.threads.process_mut(seen.process).slots.take_cloexec() {
            self.unref(life, seen.call.end());
        }
    }

    pub(crate) fn exit(&mut self, exit: &Exit<'_>) {
        let Some(thread) = self.threads.find(exit.tid) else {
            return;
        };
        self.threads.thread_mut(thread).see(exit.ts, whyslow_model::Nanos::ZERO);
        let process = self.threads.thread(thread).process;
        self.threads.thread_exited(thread);
        let living = self.threads.iter().any(|(_, other)| other.process == process && !other.exited);
        if !living || self.threads.process(process).pid == Some(exit.tid) {
            for life in self.threads.process_mut(process).slots.clear() {
                self.unref(life, exit.ts);
            }
            if !living {
                self.threads.process_exited(process);
            }
        }
    }

    pub(crate) fn signal(&mut self, signal: &Signal<'_>) {
        let process = self
            .threads
            .find(signal.tid)
            .map_or(ProcessId(u32::MAX), |thread| self.threads.thread(thread).process);
        if self.signals.len() < 1024 {
            *self.signals.entry((process, text::lossy(signal.name))).or_default() += 1;
        }
    }

    pub(crate) fn process_info(&mut self, info: ProcessInfo) {
        let process = self.process_numbered(info.pid);
        let facts = self.threads.process_mut(process);
        if let Some(comm) = info.comm {
            facts.comm.get_or_insert(comm.into());
        }
        if let Some(user) = info.user {
            facts.user.get_or_insert(user.into());
        }
    }

    fn process_numbered(&mut self, pid: Tid) -> ProcessId {
        match self.threads.find_process(pid) {
            Some(process) => process,
            None => self.threads.add_process(Some(pid)),
        }
    }

    pub(crate) fn source(&mut self, info: &SourceInfo) {
        if matches!(info.kind, CaptureKind::Lsof | CaptureKind::ProcFd | CaptureKind::ProcNet) {
            self.join_inodes();
        }
    }

    // --- descriptors ---

    /// What fd `fd` of `process` is now.
    pub fn life_of(&self, process: ProcessId, fd: i32) -> Option<&FdLife> {
        self.fds.get(self.threads.process(process).slots.get(fd)?)
    }

    #[inline]
    fn on_descriptor(&mut self, seen: &mut Seen<'_>) {
        let call = seen.call;
        let Some((fd, note)) = call.first_fd() else {
            return;
        };
        if fd < 0 {
            return;
        }
        seen.fd = Some(fd);
        if call.errno == Errno::EBADF {
            return;
        }
        if call.syscall == Syscall::CLOSE {
            return self.on_close(seen, fd);
        }
        let id = match self.threads.process(seen.process).slots.get(fd) {
            Some(id) => id,
            None => self.first_use(seen.process, fd, call, note),
        };
        seen.life = Some(id);
        if note.is_some() {
            self.annotate(id, note);
        }
        let moves = call.syscall.info().moves;
        let Some(life) = self.fds.get_mut(id) else {
            return;
        };
        if moves != Moves::None {
            if let Moves::Read | Moves::Write = moves {
                record_io(life, call, seen.bytes, moves == Moves::Read);
            }
            seen.kind = life.kind;
            seen.file = life.file;
            if life.file.is_none() && life.name.is_some() && is_file_like(life.kind) {
                seen.file = self.give_file(id);
            }
            return;
        }
        self.other_descriptor_call(seen, id);
        if let Some(life) = self.fds.get(id) {
            seen.kind = life.kind;
            seen.file = life.file;
        }
    }

    /// The facts of the file behind a life that a snapshot or annotation named.
    fn give_file(&mut self, id: LifeId) -> Option<FileId> {
        let name = self.fds.get(id)?.name.clone()?;
        let file = self.files.intern(name.as_bytes());
        let life = self.fds.get_mut(id)?;
        life.file = Some(file);
        let (size, ts) = (life.size, life.opened);
        let facts = self.files.get_mut(file);
        facts.open_now += 1;
        if let Some(size) = size {
            facts.size = Some(size);
            facts.size_stated = true;
        }
        if !facts.first.is_known() {
            facts.first = ts;
        }
        Some(file)
    }

    #[cold]
    fn first_use(&mut self, process: ProcessId, fd: i32, call: &Call<'_>, note: Option<&[u8]>) -> LifeId {
        let mut kind = match call.syscall {
            Syscall::EPOLL_WAIT | Syscall::EPOLL_PWAIT | Syscall::EPOLL_PWAIT2 | Syscall::EPOLL_CTL => {
                FdKind::Epoll
            }
            Syscall::GETDENTS | Syscall::GETDENTS64 => FdKind::Directory,
            Syscall::LSEEK
            | Syscall::LLSEEK
            | Syscall::PREAD64
            | Syscall::PWRITE64
            | Syscall::FSYNC
            | Syscall::FDATASYNC => FdKind::File,
            _ if call.syscall.info().class == whyslow_model::syscall::Class::Network => FdKind::Socket,
            _ => FdKind::Unknown,
        };
        if call.failed() {
            kind = FdKind::Unknown;
        }
        let mut life = FdLife::new(process, fd, kind, Origin::BeforeCapture);
        life.refs = 1;
        let id = self.fds.add(life);
        self.threads.process_mut(process).slots.set(fd, id, false);
        self.annotate(id, note);
        id
    }

    /// Takes in what `-y` shows about a descriptor that nothing else told.
    fn annotate(&mut self, id: LifeId, note: Option<&[u8]>) {
        let (Some(note), Some(life)) = (note, self.fds.get_mut(id)) else {
            return;
        };
        let wants_name = life.name.is_none() && life.file.is_none();
        let wants_ends =
            life.kind.is_socket() && life.peer().is_none() && memchr::memmem::find(note, b"->").is_some();
        if !(wants_name && note.first() == Some(&b'/')) && !wants_ends && life.kind != FdKind::Unknown {
            return;
        }
        let found = sockets::annotation(note);
        if life.kind == FdKind::Unknown || (wants_ends && life.kind == FdKind::Socket) {
            life.kind = found.kind;
        }
        if wants_name {
            life.name = found.path.map(Into::into);
        }
        if let Some(ends) = found.ends.filter(|_| wants_ends || life.ends.is_none()) {
            life.ends = Some(Box::new(ends));
        }
    }

    fn other_descriptor_call(&mut self, seen: &mut Seen<'_>, id: LifeId) {
        let call = seen.call;
        let process = seen.process;
        match call.syscall {
            Syscall::LSEEK | Syscall::LLSEEK => {
                if let Some(life) = self.fds.get_mut(id) {
                    life.seeks += 1;
                    life.seek_pending = true;
                    if life.kind == FdKind::Unknown && call.ok().is_some() {
                        life.kind = FdKind::File;
                    }
                    if let Some(offset) = call.ok() {
                        life.offset = offset.max(0) as u64;
                        // SEEK_END with offset 0 tells the size.
                        life.extent = life.extent.max(life.offset);
                    }
                }
            }
            Syscall::FSTAT | Syscall::FSTAT64 => self.fstat(id, call),
            Syscall::GETDENTS | Syscall::GETDENTS64 => {
                if let Some(file) = self.fds.get_mut(id).and_then(|life| {
                    life.kind = FdKind::Directory;
                    life.file
                }) {
                    let bytes = call.ok().map_or(0, |n| n.max(0) as u64);
                    self.files.get_mut(file).directory_reads.record(call.dur, call.failed(), bytes);
                }
            }
            Syscall::FSYNC | Syscall::FDATASYNC => {
                if let Some(file) = self.fds.get(id).and_then(|life| life.file).or_else(|| self.give_file(id))
                {
                    self.files.get_mut(file).syncs.record(call.dur, call.failed(), 0);
                }
            }
            Syscall::DUP => self.duplicate(seen, id, false),
            Syscall::DUP2 => self.duplicate(seen, id, false),
            Syscall::DUP3 => self.duplicate(seen, id, contains(call.args, b"O_CLOEXEC")),
            Syscall::FCNTL | Syscall::FCNTL64 => {
                let (fd, args) = (seen.fd.unwrap_or(-1), call.args);
                if contains(args, b"F_DUPFD") {
                    self.duplicate(seen, id, contains(args, b"F_DUPFD_CLOEXEC"));
                } else if contains(args, b"F_SETFD") {
                    self.threads.process_mut(process).slots.set_cloexec(fd, contains(args, b"FD_CLOEXEC"));
                }
            }
            Syscall::LISTEN => {
                if let Some(life) = self.fds.get_mut(id).filter(|_| !call.failed()) {
                    life.listening = true;
                }
            }
            Syscall::BIND => {
                if let Some((kind, local)) = sockets::address(call.args).filter(|_| !call.failed())
                    && let Some(life) = self.fds.get_mut(id)
                {
                    set_kind(life, kind);
                    life.ends.get_or_insert_default().local = Some(local);
                }
            }
            Syscall::CONNECT | Syscall::GETPEERNAME => {
                if let Some((kind, peer)) = sockets::address(call.args)
                    && let Some(life) = self.fds.get_mut(id)
                {
                    set_kind(life, kind);
                    life.ends.get_or_insert_default().peer = Some(peer);
                }
            }
            Syscall::ACCEPT | Syscall::ACCEPT4 => self.accepted(seen, id),
            Syscall::FCHDIR => {
                if !call.failed() {
                    let path = self
                        .fds
                        .get(id)
                        .and_then(|life| life.file)
                        .map(|file| self.files.get(file).path.clone());
                    self.threads.process_mut(process).cwd = path;
                }
            }
            _ => {}
        }
    }

    fn fstat(&mut self, id: LifeId, call: &Call<'_>) {
        let Some(life) = self.fds.get_mut(id).filter(|life| life.size.is_none()) else {
            return;
        };
        let Some(at) = memchr::memmem::find(call.args, b"st_size=") else {
            return;
        };
        let Some((size, _)) = text::decimal(&call.args[at + b"st_size=".len()..]) else {
            return;
        };
        life.size = u64::try_from(size).ok();
        if let (Some(file), Some(size)) = (life.file, life.size) {
            let facts = self.files.get_mut(file);
            facts.size = Some(facts.size.unwrap_or(0).max(size));
            facts.size_stated = true;
        }
    }

    fn duplicate(&mut self, seen: &Seen<'_>, id: LifeId, cloexec: bool) {
        let Some(new) = seen.call.ok().and_then(|ret| i32::try_from(ret).ok()) else {
            return;
        };
        if seen.fd == Some(new) {
            return;
        }
        if let Some(life) = self.fds.get_mut(id) {
            life.refs += 1;
        }
        self.install(seen.process, new, id, cloexec, seen.call.end());
    }

    fn accepted(&mut self, seen: &mut Seen<'_>, listener: LifeId) {
        let call = seen.call;
        let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) else {
            return;
        };
        let (kind, local) = match self.fds.get_mut(listener) {
            Some(life) => {
                life.listening = true;
                (life.kind, life.local().map(str::to_string))
            }
            None => (FdKind::Socket, None),
        };
        let peer = sockets::address(call.args);
        let kind = match (&peer, kind) {
            (_, FdKind::Tcp | FdKind::Unix) => kind,
            (Some((FdKind::Unix, _)), _) => FdKind::Unix,
            // An accepted internet socket is a stream.
            (Some(_), _) => FdKind::Tcp,
            (None, kind) => kind,
        };
        let mut life = FdLife::new(seen.process, fd, kind, Origin::Accept);
        life.ends = Some(Box::new(SocketEnds { local, peer: peer.map(|(_, peer)| peer) }));
        self.open_life(seen, fd, life, contains(call.args, b"CLOEXEC"));
    }

    /// Puts a new life at `fd`, and makes it what the call is about.
    fn open_life(&mut self, seen: &mut Seen<'_>, fd: i32, mut life: FdLife, cloexec: bool) {
        life.refs = 1;
        life.opened = seen.call.end();
        if !life.opened.is_known() {
            life.opened = seen.call.ts;
        }
        life.opened_by = (seen.call.tid, seen.call.line);
        seen.kind = life.kind;
        let id = self.fds.add(life);
        let returned =
            seen.call.ret_note.strip_prefix(b"<").map(|note| note.strip_suffix(b">").unwrap_or(note));
        self.annotate(id, returned);
        self.install(seen.process, fd, id, cloexec, seen.call.ts);
        seen.fd = Some(fd);
        seen.life = Some(id);
    }

    fn install(&mut self, process: ProcessId, fd: i32, id: LifeId, cloexec: bool, ts: Timestamp) {
        if let Some(old) = self.threads.process_mut(process).slots.set(fd, id, cloexec) {
            self.unref(old, ts);
        }
    }

    fn on_close(&mut self, seen: &mut Seen<'_>, fd: i32) {
        // In two halves: it took effect at its start.
        if seen.call.flags.contains(CallFlags::JOINED) {
            return;
        }
        seen.life = self.threads.process(seen.process).slots.get(fd);
        if let Some(life) = seen.life.and_then(|id| self.fds.get(id)) {
            seen.kind = life.kind;
            seen.file = life.file;
        }
        self.close(seen.process, fd, seen.call.ts);
    }

    fn close(&mut self, process: ProcessId, fd: i32, ts: Timestamp) {
        if let Some(id) = self.threads.process_mut(process).slots.take(fd) {
            self.unref(id, ts);
        }
    }

    /// One descriptor less refers to the life; the last one ends it.
    fn unref(&mut self, id: LifeId, ts: Timestamp) {
        let Some(life) = self.fds.get_mut(id) else {
            return;
        };
        life.refs = life.refs.saturating_sub(1);
        if life.refs > 0 {
            return;
        }
        life.closed = ts;
        if let Some(file) = life.file {
            take_into_file(life, self.files.get_mut(file));
            self.files.get_mut(file).open_now = self.files.get(file).open_now.saturating_sub(1);
        }
        self.fds.ended(id);
    }

    // --- paths ---

    fn on_path(&mut self, seen: &mut Seen<'_>, at: PathArg) {
        let call = seen.call;
        let Some(file) = self.resolve(seen, at) else {
            return;
        };
        seen.file = Some(file);
        let thread_tid = call.tid;
        let is_stat = is_stat_family(call.syscall);
        let answer = if is_stat { self.hasher.hash_one(answer_of(call)) | 1 } else { 0 };
        let facts = self.files.get_mut(file);
        facts.path_calls.record(call.dur, call.failed(), 0);
        facts.exemplars.see(call);
        facts.io_ns += call.dur.or_zero();
        if facts.path_calls.count == 1 {
            facts.tid = thread_tid;
            facts.first = call.ts;
        } else if facts.tid != thread_tid {
            facts.shared = true;
        }
        if call.ts.is_known() {
            facts.last = call.ts;
        }
        if is_stat {
            facts.stats += 1;
            facts.stats_missing += (call.errno == Errno::ENOENT) as u64;
            seen.same_answer = facts.last_answer == answer;
            facts.stats_same += seen.same_answer as u64;
            facts.last_answer = answer;
        }
        match call.syscall {
            Syscall::OPEN | Syscall::OPENAT | Syscall::OPENAT2 | Syscall::CREAT => self.opened(seen, file),
            Syscall::UNLINK | Syscall::UNLINKAT if !call.failed() => {
                let facts = self.files.get_mut(file);
                facts.unlinks += 1;
                if facts.created_here {
                    self.files.temp_ended(file, call.ts);
                }
            }
            Syscall::RENAME | Syscall::RENAMEAT | Syscall::RENAMEAT2 if !call.failed() => {
                // A file that is renamed into place was made to stay.
                self.files.get_mut(file).created_here = false;
            }
            Syscall::CHDIR if !call.failed() => {
                let path = self.files.get(file).path.clone();
                self.threads.process_mut(seen.process).cwd = Some(path);
            }
            Syscall::EXECVE | Syscall::EXECVEAT => self.executed(seen),
            Syscall::MEMFD_CREATE => {
                if let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) {
                    let life = FdLife::new(seen.process, fd, FdKind::File, Origin::Anonymous);
                    self.open_life(seen, fd, life, contains(call.args, b"CLOEXEC"));
                }
            }
            _ => {}
        }
    }

    fn opened(&mut self, seen: &mut Seen<'_>, file: FileId) {
        let call = seen.call;
        let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) else {
            self.files.get_mut(file).open_failures += call.failed() as u64;
            return;
        };
        // The flags stand behind the path; a path that holds `O_SYNC` is not worth a parser.
        let flags = call.args;
        let creates =
            call.syscall == Syscall::CREAT || contains(flags, b"O_CREAT") || contains(flags, b"O_TRUNC");
        let sync = contains(flags, b"O_SYNC") || contains(flags, b"O_DSYNC");
        let append = contains(flags, b"O_APPEND");
        let facts = self.files.get_mut(file);
        facts.opens += 1;
        facts.creates += creates as u64;
        facts.sync_opens += sync as u64;
        facts.append_opens += append as u64;
        facts.open_now += 1;
        if creates && !append {
            facts.created_here = true;
            (facts.written, facts.read_back) = (0, 0);
        }
        let kind = if contains(flags, b"O_DIRECTORY") {
            FdKind::Directory
        } else {
            FdKind::of_path(facts.path.as_bytes())
        };
        let mut life = FdLife::new(seen.process, fd, kind, Origin::Open);
        life.file = Some(file);
        life.sync = sync;
        life.append = append;
        self.open_life(seen, fd, life, contains(flags, b"O_CLOEXEC"));
        seen.file = Some(file);
    }

    /// The file that the path argument names: relative to the directory descriptor or the working directory
    /// where those are known. A path in a second argument that is empty means the descriptor itself.
    fn resolve(&mut self, seen: &mut Seen<'_>, at: PathArg) -> Option<FileId> {
        let args = seen.call.args;
        let (base, rest) = match at {
            PathArg::First => (None, args),
            _ => {
                let comma = memchr::memchr(b',', args)?;
                (Some(&args[..comma]), args[comma + 1..].trim_ascii_start())
            }
        };
        let (path, _) = text::quoted(rest)?;
        if path.first() == Some(&b'/') {
            return Some(self.files.intern(path));
        }
        if path.is_empty() {
            let (fd, note) = text::descriptor(base?)?;
            seen.fd = Some(fd);
            let id = self.threads.process(seen.process).slots.get(fd)?;
            seen.life = Some(id);
            self.annotate(id, note);
            let life = self.fds.get(id)?;
            seen.kind = life.kind;
            seen.file = life.file;
            if life.size.is_none() {
                self.fstat(id, seen.call);
            }
            return None;
        }
        let mut buffer = std::mem::take(&mut self.path_buffer);
        buffer.clear();
        if let Some(directory) = self.directory(seen.process, base) {
            buffer.extend_from_slice(directory.as_bytes());
            if !buffer.ends_with(b"/") {
                buffer.push(b'/');
            }
        }
        buffer.extend_from_slice(path);
        let file = self.files.intern(&buffer);
        self.path_buffer = buffer;
        Some(file)
    }

    /// The directory that a relative path starts from.
    fn directory(&self, process: ProcessId, base: Option<&[u8]>) -> Option<std::borrow::Cow<'_, str>> {
        match base {
            Some(base) if !base.starts_with(b"AT_FDCWD") => {
                let (fd, note) = text::descriptor(base)?;
                if let Some(note) = note.filter(|note| note.starts_with(b"/")) {
                    return Some(text::lossy(note).into());
                }
                let life = self.life_of(process, fd)?;
                let path = life.file.map(|file| &*self.files.get(file).path).or(life.name.as_deref())?;
                Some(path.into())
            }
            Some(base) => {
                let note = base.strip_prefix(b"AT_FDCWD<").and_then(|note| note.strip_suffix(b">"));
                note.map(|note| text::lossy(note).into()).or_else(|| self.cwd(process))
            }
            None => self.cwd(process),
        }
    }

    fn cwd(&self, process: ProcessId) -> Option<std::borrow::Cow<'_, str>> {
        self.threads.process(process).cwd.as_deref().map(Into::into)
    }

    // --- the rest ---

    fn on_other(&mut self, seen: &mut Seen<'_>) {
        let call = seen.call;
        match call.syscall {
            Syscall::SOCKET => self.made(seen, sockets::kind_of_socket_args(call.args), Origin::Socket),
            Syscall::EPOLL_CREATE | Syscall::EPOLL_CREATE1 => {
                self.made(seen, FdKind::Epoll, Origin::Anonymous)
            }
            Syscall::EVENTFD | Syscall::EVENTFD2 => self.made(seen, FdKind::Event, Origin::Anonymous),
            Syscall::TIMERFD_CREATE => self.made(seen, FdKind::Timer, Origin::Anonymous),
            Syscall::SIGNALFD | Syscall::SIGNALFD4 => self.made(seen, FdKind::Signal, Origin::Anonymous),
            Syscall::INOTIFY_INIT | Syscall::INOTIFY_INIT1 => {
                self.made(seen, FdKind::Inotify, Origin::Anonymous)
            }
            Syscall::PIDFD_OPEN | Syscall::IO_URING_SETUP | Syscall::USERFAULTFD => {
                self.made(seen, FdKind::Anonymous, Origin::Anonymous);
            }
            Syscall::PIPE | Syscall::PIPE2 => self.made_pair(seen, 0, FdKind::Pipe),
            Syscall::SOCKETPAIR => self.made_pair(seen, 3, sockets::kind_of_socket_args(call.args)),
            Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK => self.cloned(seen),
            Syscall::CLOSE_RANGE => {
                let from = call.arg(0).and_then(text::number);
                let to = call.arg(1).and_then(text::number);
                if let (Some(from), Some(to), false) =
                    (from, to, call.failed() || contains(call.args, b"CLOSE_RANGE_CLOEXEC"))
                {
                    for life in self.threads.process_mut(seen.process).slots.take_range(from, to) {
                        self.unref(life, call.ts);
                    }
                }
            }
            Syscall::GETCWD => {
                if let Some((path, false)) = text::quoted(call.args).filter(|_| !call.failed()) {
                    self.threads.process_mut(seen.process).cwd = Some(text::lossy(path).into());
                }
            }
            _ => {}
        }
    }

    fn made(&mut self, seen: &mut Seen<'_>, kind: FdKind, origin: Origin) {
        if let Some(fd) = seen.call.ok().and_then(|ret| i32::try_from(ret).ok()) {
            let life = FdLife::new(seen.process, fd, kind, origin);
            self.open_life(seen, fd, life, contains(seen.call.args, b"CLOEXEC"));
        }
    }

    /// `pipe2([3, 4], O_CLOEXEC)`, `socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4])`.
    fn made_pair(&mut self, seen: &mut Seen<'_>, arg: usize, kind: FdKind) {
        if seen.call.ok() != Some(0) {
            return;
        }
        let Some(pair) = seen.call.arg(arg).and_then(|text| text.strip_prefix(b"[")) else {
            return;
        };
        let cloexec = contains(seen.call.args, b"CLOEXEC");
        for fd in text::arguments(pair).filter_map(text::descriptor).map(|(fd, _)| fd).take(2) {
            let life = FdLife::new(seen.process, fd, kind, Origin::Pair);
            self.open_life(seen, fd, life, cloexec);
        }
    }

    // --- snapshots ---

    pub(crate) fn snapshot(&mut self, entry: FdEntry) {
        self.snapshot_rows += 1;
        let Some(pid) = entry.pid else {
            if let Some(inode) =
                entry.inode.filter(|inode| *inode != 0 && self.net_rows.len() < Self::MAX_NET_ROWS)
            {
                self.net_rows.insert(inode, entry);
            }
            return;
        };
        let process = self.process_numbered(pid);
        if !self.snapshot_pids.contains(&process) && self.snapshot_pids.len() < 4096 {
            self.snapshot_pids.push(process);
        }
        let facts = self.threads.process_mut(process);
        if let Some(comm) = entry.comm {
            facts.comm.get_or_insert(comm.into());
        }
        if let Some(user) = entry.user {
            facts.user.get_or_insert(user.into());
        }
        if entry.role.as_deref() == Some("cwd") {
            facts.cwd = entry.name.map(Into::into);
            return;
        }
        let Some(fd) = entry.fd else { return };
        if self.snapshot_rows > Self::MAX_SNAPSHOT_FDS {
            return;
        }
        let mut life = FdLife::new(process, fd, entry.kind, Origin::Snapshot);
        life.refs = 1;
        life.name = entry.name.filter(|_| entry.ends.is_none()).map(Into::into);
        life.ends = entry.ends.map(Box::new);
        life.listening = entry.state.as_deref() == Some("LISTEN");
        life.state = entry.state.map(Into::into);
        life.inode = entry.inode;
        life.size = entry.size;
        life.offset = entry.offset.unwrap_or(0);
        life.opened_by = (0, entry.line);
        let id = self.fds.add(life);
        self.install(process, fd, id, false, Timestamp::UNKNOWN);
    }

    /// Gives sockets that only show an inode the ends that `/proc/net/*` shows for it.
    fn join_inodes(&mut self) {
        if self.net_rows.is_empty() {
            return;
        }
        let open: Vec<LifeId> = self
            .fds
            .open()
            .filter(|(_, life)| life.ends.is_none() && life.inode.is_some())
            .map(|(id, _)| id)
            .collect();
        for id in open {
            let Some(life) = self.fds.get_mut(id) else {
                continue;
            };
            if let Some(row) = life.inode.and_then(|inode| self.net_rows.get(&inode)) {
                life.kind = row.kind;
                life.ends = row.ends.clone().map(Box::new);
                life.state = row.state.clone().map(Into::into);
                life.listening = row.state.as_deref() == Some("LISTEN");
            }
        }
    }

    // --- the end ---

    /// Adds what open descriptors did to the facts of their files.
    pub(crate) fn finish(&mut self) {
        let open: Vec<LifeId> = self.fds.open().map(|(id, _)| id).collect();
        for id in open {
            if let Some(life) = self.fds.get_mut(id)
                && let Some(file) = life.file
            {
                take_into_file(life, self.files.get_mut(file));
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

#[inline]
fn record_io(life: &mut FdLife, call: &Call<'_>, bytes: u64, read: bool) {
    let side = if read { &mut life.reads } else { &mut life.writes };
    let io: &mut IoStats = side.get_or_insert_default();
    io.record(call, bytes);
    io.after_seek += life.seek_pending as u64;
    life.seek_pending = false;
    life.turned_to_write = !read && life.last_was_read;
    if bytes > 0 {
        life.last_was_read = read;
        life.offset += bytes;
        life.extent = life.extent.max(life.offset);
    } else if read && call.ok() == Some(0) && !call.args.ends_with(b", 0") {
        life.end_seen = true;
        life.end_seen_at = call.end();
    }
}

/// Moves a life's statistics into its file's; the life keeps its counts for the views.
fn take_into_file(life: &FdLife, facts: &mut super::FileFacts) {
    facts.seeks += life.seeks;
    if facts.created_here {
        facts.read_back += life.reads.as_ref().map_or(0, |io| io.calls.bytes);
        facts.written += life.writes.as_ref().map_or(0, |io| io.calls.bytes);
        facts.io_ns +=
            [&life.reads, &life.writes].into_iter().flatten().map(|io| io.calls.total_ns).sum::<u64>();
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

fn set_kind(life: &mut FdLife, kind: FdKind) {
    if matches!(life.kind, FdKind::Unknown) || (kind == FdKind::Unix && life.kind == FdKind::Socket) {
        life.kind = kind;
    }
}

fn is_file_like(kind: FdKind) -> bool {
    matches!(kind, FdKind::File | FdKind::Directory | FdKind::DevNull | FdKind::Device | FdKind::Proc)
}

/// Calls that ask about a path and change nothing.
pub(crate) fn is_stat_family(syscall: Syscall) -> bool {
    matches!(
        syscall,
        Syscall::STAT
            | Syscall::LSTAT
            | Syscall::STAT64
            | Syscall::LSTAT64
            | Syscall::NEWFSTATAT
            | Syscall::FSTATAT64
            | Syscall::STATX
            | Syscall::ACCESS
            | Syscall::FACCESSAT
            | Syscall::FACCESSAT2
            | Syscall::READLINK
            | Syscall::READLINKAT
    )
}

/// What a stat-family call answered: the error, or the text behind the path.
fn answer_of<'a>(call: &Call<'a>) -> (Errno, &'a [u8]) {
    let answer = if call.errno.is_error() {
        b""
    } else {
        memchr::memchr(b'{', call.args).map_or(&b""[..], |from| &call.args[from..])
    };
    (call.errno, answer)
}

/// clone's CLONE_THREAD: the child is a thread of the caller's process.
fn makes_thread(args: &[u8]) -> bool {
    contains(args, b"CLONE_THREAD")
}

#[inline]
fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}
