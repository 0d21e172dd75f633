//! Calls on descriptors: reads, writes, dup, close, connect, accept.

use super::*;

impl World {
    /// What fd `fd` of `process` is now.
    pub fn life_of(&self, process: ProcessId, fd: i32) -> Option<&FdLife> {
        self.open_at(process, fd).map(|(_, life)| life)
    }

    /// The same, with its place.
    pub fn open_at(&self, process: ProcessId, fd: i32) -> Option<(LifeId, &FdLife)> {
        let id = self.threads.process(process).slots.get(fd)?;
        Some((id, self.fds.get(id)?))
    }

    #[inline]
    pub(super) fn on_descriptor(&mut self, seen: &mut Seen<'_>) {
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
        if id == LifeId::NONE {
            return;
        }
        seen.life = Some(id);
        if note.is_some() {
            self.annotate(id, note);
        }
        let moves = call.syscall.info().moves;
        let Some(life) = self.fds.get_mut(id) else {
            return;
        };
        life.calls += 1;
        if moves != Moves::None {
            if let Moves::Read | Moves::Write = moves {
                by_use::learn(life, &mut self.asked_as, call, seen.bytes, moves == Moves::Read);
                record_io(life, call, seen.bytes, moves == Moves::Read);
                // open(2): O_NONBLOCK "has no effect for regular files".
                let is_read = moves == Moves::Read && life.kind == FdKind::File;
                if call.errno == Errno::EAGAIN && life.kind == FdKind::File
                    || is_read && by_use::is_read_as_it_comes(life, call, seen.bytes)
                {
                    self.is_fifo(id);
                    return self.described(seen, id);
                }
            }
            seen.kind = life.kind;
            seen.file = life.file;
            if life.file.is_none() && life.name.is_some() && is_file_like(life.kind) {
                seen.file = self.give_file(id);
            }
            return;
        }
        self.other_descriptor_call(seen, id);
        self.described(seen, id);
    }

    fn described(&self, seen: &mut Seen<'_>, id: LifeId) {
        if let Some(life) = self.fds.get(id) {
            seen.kind = life.kind;
            seen.file = life.file;
        }
    }

    /// What was taken for a file is a FIFO with a name.
    #[cold]
    fn is_fifo(&mut self, id: LifeId) {
        if self.fds.get(id).is_some_and(|life| life.file.is_none() && life.name.is_some()) {
            self.give_file(id);
        }
        let Some(life) = self.fds.get_mut(id) else { return };
        life.kind = FdKind::Pipe;
        if let Some(file) = life.file {
            self.files.get_mut(file).fifo = true;
        }
    }

    fn is_named_file(&self, id: LifeId) -> bool {
        let named = |life: &FdLife| life.kind == FdKind::File && (life.file.is_some() || life.name.is_some());
        self.fds.get(id).is_some_and(named)
    }

    /// The facts of the file behind a life that a snapshot or annotation named.
    pub(super) fn give_file(&mut self, id: LifeId) -> Option<FileId> {
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
    pub(super) fn first_use(
        &mut self,
        process: ProcessId,
        fd: i32,
        call: &Call<'_>,
        note: Option<&[u8]>,
    ) -> LifeId {
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
        self.life_from_before(process, fd, kind, note)
    }

    /// The life of a descriptor that was open before the capture.
    fn life_from_before(&mut self, process: ProcessId, fd: i32, kind: FdKind, note: Option<&[u8]>) -> LifeId {
        if let Some(id) = note.and_then(|note| self.share_socket(process, fd, note)) {
            return id;
        }
        let mut life = FdLife::new(process, fd, kind, Origin::BeforeCapture);
        life.refs = 1;
        let id = self.fds.add(life);
        self.threads.process_mut(process).slots.set(fd, id, false);
        self.annotate(id, note);
        self.know_socket(process, id, note);
        id
    }

    /// Takes in what `-y` shows about a descriptor that nothing else told.
    pub(super) fn annotate(&mut self, id: LifeId, note: Option<&[u8]>) {
        let (Some(note), Some(life)) = (note, self.fds.get_mut(id)) else { return };
        if let Some(unix) = sockets::UnixNote::of(note) {
            return self.annotate_unix(id, unix);
        }
        if life.inode.is_none() {
            life.inode = note
                .strip_prefix(b"pipe:[")
                .and_then(text::decimal)
                .and_then(|(inode, _)| inode.try_into().ok());
        }
        let wants_name = life.name.is_none() && life.file.is_none();
        let wants_ends =
            life.kind.is_socket() && life.peer().is_none() && memchr::memmem::find(note, b"->").is_some();
        // connect tells the other end alone.
        let wants_local = life.kind.is_socket()
            && life.local().is_none()
            && life.kind != FdKind::Unix
            && memchr::memmem::find(note, b"->").is_some();
        let tells_more = wants_ends || wants_local || wants_name && note.starts_with(b"/");
        if !tells_more && life.kind != FdKind::Unknown {
            return;
        }
        let found = sockets::annotation(note);
        if life.kind == FdKind::Unknown || (wants_ends && life.kind == FdKind::Socket) {
            life.kind = found.kind;
        }
        if wants_name {
            life.name = found.path.map(Into::into);
        }
        if let Some(ends) = found.ends.filter(|_| wants_ends || wants_local || life.ends.is_none()) {
            let known = life.ends.get_or_insert_default();
            known.local = ends.local.or(known.local.take());
            known.peer = ends.peer.or(known.peer.take());
        }
    }

    /// Names the other ends of which the name was told later.
    pub(super) fn name_unix_peers(&mut self) {
        for (id, inode) in std::mem::take(&mut self.unix_others) {
            if let (Some(life), Some(name)) = (self.fds.get_mut(id), self.unix_names.get(&inode))
                && life.kind == FdKind::Unix
                && life.peer().is_none()
            {
                life.ends.get_or_insert_default().peer = Some(name.to_string());
            }
        }
    }

    /// A unix socket says the name that it is bound to, and of the other end the inode: whose name stands at the other end.
    fn annotate_unix(&mut self, id: LifeId, unix: sockets::UnixNote<'_>) {
        let Some(life) = self.fds.get_mut(id) else { return };
        if matches!(life.kind, FdKind::Unknown | FdKind::Socket) {
            life.kind = FdKind::Unix;
        }
        let is_told = life.inode == Some(unix.own);
        if is_told && (life.local().is_some() || life.peer().is_some()) {
            return;
        }
        life.inode = Some(unix.own);
        let own = if is_told { None } else { unix.path() };
        let other = unix.other.and_then(|other| self.unix_names.get(&other));
        if let (None, None, Some(inode)) = (&own, other, unix.other)
            && self.unix_others.len() < Self::MAX_NET_ROWS
        {
            self.unix_others.insert(id, inode);
        }
        if own.is_some() || other.is_some() {
            let ends = life.ends.get_or_insert_default();
            ends.local = ends.local.take().or_else(|| own.clone());
            ends.peer = ends.peer.take().or_else(|| other.map(|name| name.to_string()));
        }
        if let Some(own) = own.filter(|_| self.unix_names.len() < Self::MAX_NET_ROWS) {
            self.unix_names.insert(unix.own, own.into());
        }
    }

    pub(super) fn other_descriptor_call(&mut self, seen: &mut Seen<'_>, id: LifeId) {
        let call = seen.call;
        let process = seen.process;
        match call.syscall {
            // lseek(2): "fd is associated with a pipe, socket, or FIFO". A path leads to the last only.
            Syscall::LSEEK | Syscall::LLSEEK if call.errno == Errno::ESPIPE && self.is_named_file(id) => {
                self.is_fifo(id)
            }
            Syscall::LSEEK | Syscall::LLSEEK => {
                if let Some(life) = self.fds.get_mut(id) {
                    life.seeks.record(call.dur, call.failed(), 0);
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
                    if let Some(life) = self.fds.get_mut(id) {
                        life.listed = life.listed.saturating_add(bytes);
                    }
                }
            }
            Syscall::FSYNC | Syscall::FDATASYNC => {
                if self.fds.get(id).is_some_and(|life| life.file.is_none()) {
                    self.give_file(id);
                }
                if let Some(life) = self.fds.get_mut(id) {
                    life.syncs.record(call.dur, call.failed(), 0);
                    life.sync_exemplars.see(call);
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
            Syscall::BIND | Syscall::GETSOCKNAME => {
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
            Syscall::EPOLL_CTL => self.watched(process, call),
            Syscall::FCHDIR if !call.failed() => {
                let path =
                    self.fds.get(id).and_then(|life| life.file).map(|file| self.files.get(file).path.clone());
                self.threads.process_mut(process).cwd = path;
            }
            _ => {}
        }
    }

    pub(super) fn fstat(&mut self, id: LifeId, call: &Call<'_>) {
        let Some(life) = self.fds.get_mut(id).filter(|life| life.size.is_none()) else {
            return;
        };
        // A successful lseek made it a file for lack of better knowledge.
        if life.file.is_none()
            && matches!(life.kind, FdKind::Unknown | FdKind::File)
            && let Some(kind) = stated_kind(call.args)
        {
            life.kind = kind;
        }
        if self.is_named_file(id) && stated_kind(call.args) == Some(FdKind::Pipe) {
            return self.is_fifo(id);
        }
        let Some(at) = memchr::memmem::find(call.args, b"st_size=") else {
            return;
        };
        let Some(life) = self.fds.get_mut(id) else { return };
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

    pub(super) fn duplicate(&mut self, seen: &Seen<'_>, id: LifeId, cloexec: bool) {
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

    /// epoll_ctl: what the epoll will call the descriptor when it is ready.
    fn watched(&mut self, process: ProcessId, call: &Call<'_>) {
        let Some((fd, note)) = call.arg(2).and_then(text::descriptor) else {
            return;
        };
        let id = match self.threads.process(process).slots.get(fd) {
            Some(id) => id,
            None if fd >= 0 && !call.failed() => self.life_from_before(process, fd, FdKind::Unknown, note),
            None => return,
        };
        let token = crate::args::epoll::token(call.args);
        if let Some(life) = self.fds.get_mut(id) {
            life.calls += 1;
            life.epoll_token = token.or(life.epoll_token);
        }
    }

    pub(super) fn accepted(&mut self, seen: &mut Seen<'_>, listener: LifeId) {
        let call = seen.call;
        // One that nobody connects to yet is waited at, too. accept(2): EINVAL of one that does not listen.
        let is_none =
            matches!(call.errno, Errno::EINVAL | Errno::EBADF | Errno::ENOTSOCK | Errno::EOPNOTSUPP);
        let (kind, local) = match self.fds.get_mut(listener) {
            Some(life) => {
                life.listening |= !is_none;
                (life.kind, life.local().map(str::to_string))
            }
            None => (FdKind::Socket, None),
        };
        let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) else {
            return;
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
    pub(super) fn open_life(&mut self, seen: &mut Seen<'_>, fd: i32, mut life: FdLife, cloexec: bool) {
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
        self.know_socket(seen.process, id, returned);
        self.install(seen.process, fd, id, cloexec, seen.call.ts);
        seen.fd = Some(fd);
        seen.life = Some(id).filter(|id| *id != LifeId::NONE);
    }

    pub(super) fn install(&mut self, process: ProcessId, fd: i32, id: LifeId, cloexec: bool, ts: Timestamp) {
        if let Some(old) = self.threads.process_mut(process).slots.set(fd, id, cloexec) {
            self.unref(old, ts);
        }
    }

    pub(super) fn on_close(&mut self, seen: &mut Seen<'_>, fd: i32) {
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

    pub(super) fn close(&mut self, process: ProcessId, fd: i32, ts: Timestamp) {
        if let Some(id) = self.threads.process_mut(process).slots.take(fd) {
            self.unref(id, ts);
        }
    }

    /// One descriptor less refers to the life; the last one ends it.
    pub(super) fn unref(&mut self, id: LifeId, ts: Timestamp) {
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
}

#[inline]
pub(super) fn record_io(life: &mut FdLife, call: &Call<'_>, bytes: u64, read: bool) {
    let side = if read { &mut life.reads } else { &mut life.writes };
    let io: &mut IoStats = side.get_or_insert_default();
    io.record(call, bytes);
    io.after_seek += life.seek_pending as u64;
    life.seek_pending = false;
    life.turned_to_write = !read && life.last_was_read;
    if bytes > 0 {
        let given = given_offset(call);
        let from = given.unwrap_or(life.offset);
        let end = from.saturating_add(bytes);
        io.in_sequence += (from == life.last_end && life.last_was_read == read) as u64;
        life.last_was_read = read;
        life.last_end = end;
        life.extent = life.extent.max(end);
        if given.is_none() {
            life.offset = end;
        }
    } else if read && call.ok() == Some(0) && (is_receive(call) || !call.args.ends_with(b", 0")) {
        life.ends_read += u64::from(life.end_seen);
        life.end_seen = true;
        life.end_seen_at = call.end();
    }
}

/// recv and its like: their last argument is no length.
fn is_receive(call: &Call<'_>) -> bool {
    call.syscall.info().class == whyslow_model::syscall::Class::Network
}

/// The offset that a pread or pwrite names, its last argument: it leaves the descriptor's own offset alone.
fn given_offset(call: &Call<'_>) -> Option<u64> {
    if !matches!(call.syscall, Syscall::PREAD64 | Syscall::PWRITE64 | Syscall::PREADV | Syscall::PWRITEV) {
        return None;
    }
    let comma = memchr::memrchr(b',', call.args)?;
    u64::try_from(text::number(&call.args[comma + 1..])?).ok()
}

pub(super) fn set_kind(life: &mut FdLife, kind: FdKind) {
    if matches!(life.kind, FdKind::Unknown) || (kind == FdKind::Unix && life.kind == FdKind::Socket) {
        life.kind = kind;
    }
}

/// The kind that an fstat states: `{st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x3), ...}`.
fn stated_kind(args: &[u8]) -> Option<FdKind> {
    let mode = &args[memchr::memmem::find(args, b"st_mode=S_IF")? + b"st_mode=S_IF".len()..];
    Some(match mode.get(..3)? {
        b"REG" => FdKind::File,
        b"DIR" => FdKind::Directory,
        b"IFO" => FdKind::Pipe,
        b"SOC" => FdKind::Socket,
        // Numbers of devices: Documentation/admin-guide/devices.txt. 1:3 is null; 4, 5 and 136 on are terminals.
        b"CHR" if contains(mode, b"makedev(0x1, 0x3)") => FdKind::DevNull,
        b"CHR"
            if [&b"makedev(0x4,"[..], b"makedev(0x5,", b"makedev(0x88,"]
                .iter()
                .any(|tty| contains(mode, tty)) =>
        {
            FdKind::Terminal
        }
        b"CHR" | b"BLK" => FdKind::Device,
        _ => return None,
    })
}

pub(super) fn is_file_like(kind: FdKind) -> bool {
    matches!(kind, FdKind::File | FdKind::Directory | FdKind::DevNull | FdKind::Device | FdKind::Proc)
}
