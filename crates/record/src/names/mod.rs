//! The descriptors of processes through time, by the names that strace `-y` shows: `/etc/passwd`, `socket:[12]`,
//! `pipe:[3]`, `anon_inode:[eventpoll]`.
//!
//! Filled by the snapshot at attach ([`FdNames::open_at_attach`]) and moved on by decoded calls. A call that makes a
//! descriptor must be taken in before it is printed with names ([`FdNames::before`]), one that ends a descriptor
//! after it ([`FdNames::after`]): for each call, call both, around the printing. What no call explains (a descriptor
//! received over a socket, made by a call that was lost) is looked up in `/proc` when it is asked for: it is then what
//! the number means now, which may be later than the call.

mod table;
#[cfg(test)]
mod tests;

use crate::decode::Names;
use std::borrow::Cow;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use table::Table;
use whyslow_model::{Call, FdEntry, FdKind, Syscall, Tid, text};

/// Processes whose tables are kept; those of more are looked up in `/proc`.
const MAX_PROCESSES: usize = 1 << 14;
/// Descriptors kept in all tables together, what a fork shares counted once.
const MAX_SLOTS: usize = 1 << 20;

/// `AT_FDCWD` (fcntl.h): the working directory in the place of a descriptor.
const AT_FDCWD: i32 = libc::AT_FDCWD;

/// What the descriptors of processes are called, at the point that the stream of calls has reached.
#[derive(Debug, Default)]
pub struct FdNames {
    tables: HashMap<Tid, Arc<Table>>,
    /// Processes that share the table of another (`CLONE_FILES` without `CLONE_THREAD`).
    shared: HashMap<Tid, Tid>,
    slots: usize,
    live: bool,
}

impl Names for FdNames {
    fn fd(&self, pid: u32, fd: i32) -> Option<Cow<'_, str>> {
        self.name(pid, fd).map(Cow::Borrowed).or_else(|| self.look(pid, fd).map(Cow::Owned))
    }
}

impl FdNames {
    /// For calls of running processes: what is not known is looked up in `/proc`.
    pub fn live() -> FdNames {
        FdNames { live: true, ..FdNames::default() }
    }

    /// For calls of a recording: what is not known stays so.
    pub fn recorded() -> FdNames {
        FdNames::default()
    }

    /// The name of a descriptor as far as snapshot and calls tell; `AT_FDCWD` is the working directory.
    pub fn name(&self, pid: Tid, fd: i32) -> Option<&str> {
        let table = self.tables.get(&self.owner(pid))?;
        if fd == AT_FDCWD { table.cwd.as_deref() } else { table.name(fd) }
    }

    /// Takes in a row of the snapshot at attach.
    pub fn open_at_attach(&mut self, entry: &FdEntry) {
        let (Some(pid), None) = (entry.pid, entry.tid) else { return };
        if entry.role.as_deref() == Some("cwd") {
            let cwd = entry.name.as_deref().map(Arc::from);
            return self.change(pid, |table| table.cwd = cwd);
        }
        let Some(fd) = entry.fd else { return };
        self.open(pid, fd, shown(entry).map(Into::into), false);
    }

    /// What a call made, before the call is printed.
    pub fn before(&mut self, call: &Call<'_>) {
        let pid = call.pid.unwrap_or(call.tid);
        let returned = call.ok().and_then(|value| i32::try_from(value).ok());
        let Some(new) = returned else { return };
        let cloexec = has(call.args, b"CLOEXEC");
        match call.syscall {
            Syscall::OPEN | Syscall::CREAT => self.opened(pid, new, AT_FDCWD, call.arg(0), cloexec),
            Syscall::OPENAT | Syscall::OPENAT2 => {
                let directory = call.first_fd().map_or(AT_FDCWD, |(fd, _)| fd);
                self.opened(pid, new, directory, call.arg(1), cloexec);
            }
            Syscall::SOCKET | Syscall::ACCEPT | Syscall::ACCEPT4 => self.found(pid, new, "socket:[", cloexec),
            Syscall::SOCKETPAIR => self.pair(pid, call.arg(3), "socket:[", cloexec),
            Syscall::PIPE | Syscall::PIPE2 => self.pair(pid, call.arg(0), "pipe:[", cloexec),
            Syscall::DUP | Syscall::DUP2 | Syscall::DUP3 => self.duplicated(pid, call, new, cloexec),
            Syscall::FCNTL | Syscall::FCNTL64 if has(call.args, b"F_DUPFD") => {
                self.duplicated(pid, call, new, cloexec);
            }
            Syscall::EPOLL_CREATE | Syscall::EPOLL_CREATE1 => {
                self.anonymous(pid, new, "[eventpoll]", cloexec)
            }
            Syscall::EVENTFD | Syscall::EVENTFD2 => self.anonymous(pid, new, "[eventfd]", cloexec),
            Syscall::TIMERFD_CREATE => self.anonymous(pid, new, "[timerfd]", cloexec),
            Syscall::SIGNALFD | Syscall::SIGNALFD4 => self.anonymous(pid, new, "[signalfd]", cloexec),
            Syscall::INOTIFY_INIT | Syscall::INOTIFY_INIT1 => self.anonymous(pid, new, "inotify", cloexec),
            // pidfd_open(2): close-on-exec is always set.
            Syscall::PIDFD_OPEN => self.anonymous(pid, new, "[pidfd]", true),
            Syscall::IO_URING_SETUP => self.anonymous(pid, new, "[io_uring]", true),
            Syscall::USERFAULTFD => self.anonymous(pid, new, "[userfaultfd]", cloexec),
            Syscall::MEMFD_CREATE => {
                let name =
                    call.arg(0).and_then(text::quoted).map(|(name, _)| text::lossy(&text::unescape(name)));
                self.open(pid, new, name.map(|name| format!("/memfd:{name}").into()), cloexec);
            }
            Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK => self.forked(pid, call, new),
            _ => {}
        }
    }

    /// What a call ended or changed, after the call is printed.
    pub fn after(&mut self, call: &Call<'_>) {
        let pid = call.pid.unwrap_or(call.tid);
        // The kernel frees the number whatever else close returns (close(2)); only EBADF says that there was none.
        if call.syscall == Syscall::CLOSE {
            if let Some((fd, _)) = call.first_fd() {
                self.closed(pid, fd);
            }
            return;
        }
        if call.ok().is_none() {
            return;
        }
        match call.syscall {
            Syscall::CLOSE_RANGE => self.closed_range(pid, call),
            Syscall::FCNTL | Syscall::FCNTL64 if has(call.args, b"F_SETFD") => {
                if let Some((fd, _)) = call.first_fd() {
                    let on = has(call.args, b"FD_CLOEXEC");
                    self.change_known(pid, |table| table.set_cloexec(fd, on));
                }
            }
            Syscall::CHDIR => {
                let cwd = call.arg(0).and_then(|path| self.path(pid, AT_FDCWD, path));
                self.change(pid, |table| table.cwd = cwd.map(Into::into));
            }
            Syscall::FCHDIR => {
                let cwd = call.first_fd().and_then(|(fd, _)| self.name(pid, fd)).map(Arc::from);
                self.change(pid, |table| table.cwd = cwd);
            }
            Syscall::EXECVE | Syscall::EXECVEAT => self.executed(pid),
            _ => {}
        }
    }

    /// The end of a process (of its last thread).
    pub fn exited(&mut self, pid: Tid) {
        if self.shared.remove(&pid).is_some() {
            return;
        }
        // Who shares its table keeps it.
        let heir = self.shared.iter().find(|(_, owner)| **owner == pid).map(|(heir, _)| *heir);
        let Some(table) = self.tables.remove(&pid) else { return };
        match heir {
            Some(heir) => {
                self.shared.remove(&heir);
                self.shared.values_mut().filter(|owner| **owner == pid).for_each(|owner| *owner = heir);
                self.tables.insert(heir, table);
            }
            None => self.dropped(table),
        }
    }

    fn owner(&self, pid: Tid) -> Tid {
        self.shared.get(&pid).copied().unwrap_or(pid)
    }

    /// Slots are counted for the last table that holds them.
    fn dropped(&mut self, table: Arc<Table>) {
        if let Ok(table) = Arc::try_unwrap(table) {
            self.slots = self.slots.saturating_sub(table.len());
        }
    }

    fn change(&mut self, pid: Tid, change: impl FnOnce(&mut Table)) {
        let owner = self.owner(pid);
        if !self.tables.contains_key(&owner) && self.tables.len() >= MAX_PROCESSES {
            return;
        }
        self.tables.entry(owner).or_default();
        self.change_known(pid, change);
    }

    fn change_known(&mut self, pid: Tid, change: impl FnOnce(&mut Table)) {
        let owner = self.owner(pid);
        let Some(table) = self.tables.get_mut(&owner) else { return };
        // A fork shares the table until one of the two changes it.
        let copied = Arc::strong_count(table) > 1;
        let before = if copied { 0 } else { table.len() };
        let table = Arc::make_mut(table);
        change(table);
        self.slots = (self.slots + table.len()).saturating_sub(before);
    }

    /// Puts a descriptor in its place. Without a name it is one that nothing is known of.
    fn open(&mut self, pid: Tid, fd: i32, name: Option<Arc<str>>, cloexec: bool) {
        let room = self.slots < MAX_SLOTS;
        self.change(pid, |table| match name {
            Some(name) if room && fd >= 0 => table.open(fd, name, cloexec),
            // What was there before is there no more.
            _ => table.close(fd),
        });
    }

    fn anonymous(&mut self, pid: Tid, fd: i32, name: &str, cloexec: bool) {
        self.open(pid, fd, Some(format!("anon_inode:{name}").into()), cloexec);
    }

    /// A descriptor whose name has a number that only the kernel knows.
    fn found(&mut self, pid: Tid, fd: i32, prefix: &str, cloexec: bool) {
        // By now another kind of thing may have its number.
        let name = self.look(pid, fd).filter(|name| name.starts_with(prefix));
        self.open(pid, fd, name.map(Into::into), cloexec);
    }

    fn pair(&mut self, pid: Tid, fds: Option<&[u8]>, prefix: &str, cloexec: bool) {
        let Some(list) = fds.and_then(|text| text.strip_prefix(b"[")) else { return };
        let list: Vec<i32> =
            text::arguments(list).filter_map(text::descriptor).map(|(fd, _)| fd).take(2).collect();
        list.into_iter().for_each(|fd| self.found(pid, fd, prefix, cloexec));
    }

    fn duplicated(&mut self, pid: Tid, call: &Call<'_>, new: i32, cloexec: bool) {
        let Some((old, _)) = call.first_fd().filter(|(old, _)| *old != new) else { return };
        let name = self.name(pid, old).map(Arc::from).or_else(|| self.look(pid, old).map(Into::into));
        self.open(pid, new, name, cloexec);
    }

    fn opened(&mut self, pid: Tid, fd: i32, directory: i32, path: Option<&[u8]>, cloexec: bool) {
        let asked = path.and_then(|path| self.path(pid, directory, path));
        let is = self.look(pid, fd).filter(|is| is.starts_with('/'));
        let name = match (asked, is) {
            // The kernel has followed links by then. Another last name: maybe a link, maybe another file by now.
            (Some(asked), Some(is)) if last_name(&asked) == last_name(&is) => Some(is),
            (None, Some(is)) => Some(is),
            (asked, _) => asked,
        };
        self.open(pid, fd, name.map(Into::into), cloexec);
    }

    /// The absolute path that an argument means; `None` where it was cut, or the directory is not known.
    fn path(&self, pid: Tid, directory: i32, argument: &[u8]) -> Option<String> {
        let (quoted, false) = text::quoted(argument)? else { return None };
        let path = text::lossy(&text::unescape(quoted));
        if path.starts_with('/') {
            return Some(plain(&path));
        }
        let from = match self.name(pid, directory) {
            Some(name) => name.to_string(),
            None => self.look(pid, directory)?,
        };
        from.starts_with('/').then(|| plain(&format!("{from}/{path}")))
    }

    fn closed(&mut self, pid: Tid, fd: i32) {
        self.change_known(pid, |table| table.close(fd));
    }

    fn closed_range(&mut self, pid: Tid, call: &Call<'_>) {
        let number = |n| call.arg(n).and_then(text::number);
        let (Some(from), Some(to)) = (number(0), number(1)) else { return };
        let cloexec = has(call.args, b"CLOSE_RANGE_CLOEXEC");
        self.change_known(pid, |table| table.close_range(from, to, cloexec));
    }

    fn executed(&mut self, pid: Tid) {
        // It has a table of its own from here on (execve(2)).
        if let Some(owner) = self.shared.remove(&pid)
            && let Some(table) = self.tables.get(&owner)
        {
            self.tables.insert(pid, Arc::clone(table));
        }
        self.change_known(pid, Table::close_on_exec);
    }

    fn forked(&mut self, pid: Tid, call: &Call<'_>, child: i32) {
        let Some(child) = Tid::try_from(child).ok().filter(|child| *child != 0) else { return };
        if has(call.args, b"CLONE_THREAD") {
            return;
        }
        let owner = self.owner(pid);
        // A child that is seen before its parent's call returns has begun a table of its own.
        let is_known = self.tables.contains_key(&child)
            || self.shared.contains_key(&child)
            || self.shared.values().any(|owner| *owner == child);
        if is_known || child == owner || self.tables.len() + self.shared.len() >= MAX_PROCESSES {
            return;
        }
        if has(call.args, b"CLONE_FILES") {
            self.shared.insert(child, owner);
        } else if let Some(table) = self.tables.get(&owner) {
            self.tables.insert(child, Arc::clone(table));
        }
    }

    /// What the number means now.
    fn look(&self, pid: Tid, fd: i32) -> Option<String> {
        if !self.live {
            return None;
        }
        let link = if fd == AT_FDCWD {
            PathBuf::from(format!("/proc/{pid}/cwd"))
        } else {
            PathBuf::from(format!("/proc/{pid}/fd/{fd}"))
        };
        let target = std::fs::read_link(link).ok()?;
        let target = target.as_os_str().as_bytes();
        // strace shows it behind the name.
        Some(text::lossy(target.strip_suffix(b" (deleted)").unwrap_or(target)))
    }
}

/// The name of a row of the snapshot, in strace's form.
fn shown(entry: &FdEntry) -> Option<String> {
    let numbered = |what: &str| entry.inode.map(|inode| format!("{what}:[{inode}]"));
    let name = entry.name.as_deref().unwrap_or("");
    match entry.kind {
        kind if kind.is_socket() => numbered("socket"),
        _ if name.starts_with('/') => Some(name.to_string()),
        FdKind::Pipe => numbered("pipe"),
        FdKind::Epoll
        | FdKind::Event
        | FdKind::Timer
        | FdKind::Signal
        | FdKind::Inotify
        | FdKind::Anonymous => {
            match name.split_once(':') {
                // `[eventpoll:3,4]`: the detail is lsof's, not the kernel's name.
                Some((bare, _)) if bare.starts_with('[') => Some(format!("anon_inode:{bare}]")),
                _ if name.starts_with('[') || name == "inotify" => Some(format!("anon_inode:{name}")),
                // A namespace.
                _ => numbered(name).filter(|_| !name.is_empty()),
            }
        }
        _ => None,
    }
}

fn has(args: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(args, word).is_some()
}

fn last_name(path: &str) -> Option<&str> {
    path.rsplit('/').find(|part| !part.is_empty())
}

/// The path without `.`, `..` and doubled slashes, as far as that can be told without following links.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
