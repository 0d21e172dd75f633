//! Calls on paths: whom they name, what they open, create and remove.

use super::*;
use crate::User;
use whyslow_model::{FileIo, Nanos};

/// From this many calls on, a path's lines are kept as evidence.
const SPOKEN_OF: u64 = 4;
/// A call on a path this slow is kept as evidence, the first too.
const SLOW_ENOUGH: Nanos = Nanos::from_millis(1);

impl World {
    pub(super) fn on_path(&mut self, seen: &mut Seen<'_>, at: PathArg) {
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
        // Most paths are asked for once or twice and never spoken of: no line is kept of those.
        if facts.path_calls.count >= SPOKEN_OF || call.dur.or_zero() >= SLOW_ENOUGH.or_zero() {
            facts.exemplars.see(call);
        }
        facts.io_ns = facts.io_ns.saturating_add(call.dur.or_zero());
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
            _ if matches!(call.syscall.info().name, "mknod" | "mknodat") && !call.failed() => {
                self.files.get_mut(file).fifo = contains(call.args, b"S_IFIFO");
            }
            Syscall::MEMFD_CREATE => {
                if let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) {
                    let life = FdLife::new(seen.process, fd, FdKind::File, Origin::Anonymous);
                    self.open_life(seen, fd, life, contains(call.args, b"CLOEXEC"));
                }
            }
            _ => {}
        }
    }

    /// Takes in calls on a file that the kernel added up; tells who made them.
    pub(crate) fn file_io(&mut self, io: &FileIo) -> User {
        let thread = self.thread_accounted(io.tid, io.pid);
        let process = self.threads.thread(thread).process;
        let name = match (&io.path, io.file) {
            (Some(path), _) => path.clone(),
            (None, Some(id)) => format!("(inode {} of device {}:{})", id.inode, id.major, id.minor),
            (None, None) => format!("({})", io.kind.word()),
        };
        let id = self.files.intern(name.as_bytes());
        let facts = self.files.get_mut(id);
        facts.counted.see_sum(process, io);
        if let Some(size) = io.size.filter(|_| !facts.size_stated) {
            (facts.size, facts.size_stated) = (Some(size), true);
        }
        if facts.tid == 0 {
            facts.tid = io.tid;
        }
        if !facts.first.is_known() {
            facts.first = io.first;
        }
        if io.last.is_known() {
            facts.last = io.last;
        }
        self.files.sums += 1;
        User { process, tid: io.tid }
    }

    pub(super) fn opened(&mut self, seen: &mut Seen<'_>, file: FileId) {
        let call = seen.call;
        let Some(fd) = call.ok().and_then(|ret| i32::try_from(ret).ok()) else {
            self.files.get_mut(file).open_failures += call.failed() as u64;
            return;
        };
        let flags = OpenFlags::of(call.args);
        let creates = call.syscall == Syscall::CREAT || flags.creates;
        let facts = self.files.get_mut(file);
        facts.opens += 1;
        facts.creates += creates as u64;
        facts.sync_opens += flags.sync as u64;
        facts.append_opens += flags.append as u64;
        facts.open_now += 1;
        if creates && !flags.append {
            facts.exemplars.see(call);
            facts.created_here = true;
            (facts.written, facts.read_back) = (0, 0);
        }
        let kind = match facts.fifo {
            true => FdKind::Pipe,
            false if flags.directory => FdKind::Directory,
            false => FdKind::of_path(facts.path.as_bytes()),
        };
        let mut life = FdLife::new(seen.process, fd, kind, Origin::Open);
        life.file = Some(file);
        life.sync = flags.sync;
        life.append = flags.append;
        self.open_life(seen, fd, life, flags.cloexec);
        seen.file = Some(file);
    }

    /// The file that the path argument names: relative to the directory descriptor or the working directory
    /// where those are known. A path in a second argument that is empty means the descriptor itself.
    pub(super) fn resolve(&mut self, seen: &mut Seen<'_>, at: PathArg) -> Option<FileId> {
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
            join(&mut buffer, directory.as_bytes(), path);
        } else {
            buffer.extend_from_slice(path);
        }
        let file = self.files.intern(&buffer);
        self.path_buffer = buffer;
        Some(file)
    }

    /// The directory that a relative path starts from.
    pub(super) fn directory(
        &self,
        process: ProcessId,
        base: Option<&[u8]>,
    ) -> Option<std::borrow::Cow<'_, str>> {
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

    pub(super) fn cwd(&self, process: ProcessId) -> Option<std::borrow::Cow<'_, str>> {
        self.threads.process(process).cwd.as_deref().map(Into::into)
    }
}

/// Puts `path` behind `directory`. A walk of a tree climbs back by `..` (fts, find): each takes a name away, so
/// that a path stays one path however it was reached. Of links on the way nothing is known.
fn join(buffer: &mut Vec<u8>, directory: &[u8], mut path: &[u8]) {
    buffer.extend_from_slice(directory);
    while let Some(rest) = path.strip_prefix(b"..").filter(|rest| rest.is_empty() || rest[0] == b'/') {
        let slash = memchr::memrchr(b'/', buffer);
        let name = &buffer[slash.map_or(0, |slash| slash + 1)..];
        if matches!(name, b"" | b"." | b"..") {
            break;
        }
        match slash {
            Some(slash) => buffer.truncate(slash.max(1)),
            None => {
                buffer.clear();
                buffer.push(b'.');
            }
        }
        path = rest.strip_prefix(b"/").unwrap_or_default();
    }
    if path.is_empty() {
        return;
    }
    if buffer == b"." {
        buffer.clear();
    } else if !buffer.ends_with(b"/") {
        buffer.push(b'/');
    }
    buffer.extend_from_slice(path);
}

/// What open's flags say.
#[derive(Default)]
struct OpenFlags {
    /// O_CREAT or O_TRUNC.
    creates: bool,
    /// O_SYNC or O_DSYNC.
    sync: bool,
    append: bool,
    directory: bool,
    cloexec: bool,
}

impl OpenFlags {
    /// Reads the words behind the path.
    fn of(args: &[u8]) -> OpenFlags {
        let from = memchr::memrchr(b'"', args).map_or(0, |quote| quote + 1);
        let mut flags = OpenFlags::default();
        for word in args[from..].split(|byte| !byte.is_ascii_uppercase() && *byte != b'_') {
            match word {
                b"O_CREAT" | b"O_TRUNC" => flags.creates = true,
                b"O_SYNC" | b"O_DSYNC" => flags.sync = true,
                b"O_APPEND" => flags.append = true,
                b"O_DIRECTORY" => flags.directory = true,
                b"O_CLOEXEC" => flags.cloexec = true,
                _ => {}
            }
        }
        flags
    }
}

/// Calls that ask about a path and change nothing.
pub fn is_stat_family(syscall: Syscall) -> bool {
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
pub(super) fn answer_of<'a>(call: &Call<'a>) -> (Errno, &'a [u8]) {
    let answer = if call.errno.is_error() {
        b""
    } else {
        memchr::memchr(b'{', call.args).map_or(&b""[..], |from| &call.args[from..])
    };
    (call.errno, answer)
}
