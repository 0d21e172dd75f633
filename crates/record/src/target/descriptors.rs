//! What one process has open: `/proc/PID/fd` with `fdinfo`, and what is open without a number (`cwd`, `rtd`, `txt`,
//! mapped files).
//!
//! Paths are as the process's mount namespace has them (the kernel resolves the link there): `/etc/x` of a process in
//! a container is the container's. Below a plain chroot they are the host's.

use super::mappings;
use super::owner::Owner;
use super::ports::socket_inode;
use super::root::{ProcRoot, bounded, decimal};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Statx, StatxFlags};
use std::collections::HashMap;
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use whyslow_model::{FdEntry, FdKind};

/// One thing that is open.
#[derive(Debug)]
pub(super) enum Open {
    /// All is known. (Boxed: sockets are small.)
    Entry(Box<FdEntry>),
    /// A socket: the tables of its network namespace know more.
    Socket { fd: i32, inode: u64 },
}

/// Tells each open thing of a process. An error where its descriptors cannot be listed; what vanishes meanwhile is left
/// out.
pub(super) fn each(root: &ProcRoot, owner: &Owner, mut take: impl FnMut(Open)) -> rustix::io::Result<()> {
    let mut roles = |role: &str, link: &str| {
        let Ok(target) = std::fs::read_link(root.of(owner.pid, link)) else { return None };
        let stat = statx(rustix::fs::CWD, &root.of(owner.pid, link));
        let mut entry = owner.entry(None);
        entry.role = Some(role.to_string());
        path(target.as_os_str().as_bytes(), stat.as_ref(), &mut entry);
        let identity = entry.device.clone().zip(entry.inode);
        take(Open::Entry(Box::new(entry)));
        identity
    };
    roles("cwd", "cwd");
    roles("rtd", "root");
    let exe = roles("txt", "exe");
    mappings::each(root, owner, exe, |entry| take(Open::Entry(Box::new(entry))));
    let remote = mappings::remote_mounts(root, owner.pid);
    let links =
        rustix::fs::open(root.of(owner.pid, "fd"), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let infos =
        rustix::fs::open(root.of(owner.pid, "fdinfo"), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let infos = infos.ok();
    let mut buffer = Vec::new();
    for name in rustix::fs::Dir::read_from(&links)? {
        let Ok(name) = name else { break };
        let Some(fd) = decimal::<i32>(name.file_name().to_bytes()) else { continue };
        let one = One { links: links.as_fd(), infos: infos.as_ref(), name: name.file_name(), fd };
        if let Some(open) = one.look(owner, &remote, &mut buffer) {
            take(open);
        }
    }
    Ok(())
}

/// One descriptor under look.
struct One<'a> {
    links: BorrowedFd<'a>,
    infos: Option<&'a OwnedFd>,
    name: &'a CStr,
    fd: i32,
}

impl One<'_> {
    fn look(&self, owner: &Owner, remote: &HashMap<u64, String>, buffer: &mut Vec<u8>) -> Option<Open> {
        let target = match rustix::fs::readlinkat(self.links, self.name, std::mem::take(buffer)) {
            Ok(target) => target,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::SRCH) => return None,
            // It is there, and that is all there is to know.
            Err(_) => return Some(Open::Entry(Box::new(owner.entry(Some(self.fd))))),
        };
        let bytes = target.as_bytes();
        if let Some(inode) = socket_inode(bytes) {
            *buffer = target.into_bytes();
            return Some(Open::Socket { fd: self.fd, inode });
        }
        let mut entry = owner.entry(Some(self.fd));
        if bytes.first() == Some(&b'/') {
            let stat = statx(self.links, Path::new(std::ffi::OsStr::from_bytes(self.name.to_bytes())));
            path(bytes, stat.as_ref(), &mut entry);
            self.position(remote, &mut entry);
        } else {
            self.pathless(bytes, &mut entry);
        }
        // The owner's bits of the link tell how it is open, where fdinfo has not.
        if entry.readable.is_none()
            && let Ok(link) = rustix::fs::statat(self.links, self.name, AtFlags::SYMLINK_NOFOLLOW)
        {
            entry.readable = Some(link.st_mode & 0o400 != 0);
            entry.writable = Some(link.st_mode & 0o200 != 0);
        }
        *buffer = target.into_bytes();
        Some(Open::Entry(Box::new(entry)))
    }

    /// `pipe:[12]`, `anon_inode:[eventpoll]`, `anon_inode:inotify`, `net:[4026531840]`: named as lsof names them.
    fn pathless(&self, target: &[u8], entry: &mut FdEntry) {
        let at = memchr::memchr(b':', target).unwrap_or(target.len());
        let (what, inside) = (&target[..at], target.get(at + 1..).unwrap_or(b""));
        let number = inside.strip_prefix(b"[").and_then(|inside| inside.strip_suffix(b"]")).and_then(decimal);
        entry.inode = number;
        entry.name = Some(bounded(if number.is_some() { what } else { inside }));
        match what {
            b"pipe" => entry.kind = FdKind::Pipe,
            b"anon_inode" => {
                entry.kind = anonymous_kind(inside);
                if let Some(more) = self.anonymous_detail(inside) {
                    entry.name = Some(more);
                }
            }
            // A namespace.
            _ if number.is_some() => entry.kind = FdKind::Anonymous,
            _ => entry.name = Some(bounded(target)),
        }
    }

    /// What fdinfo tells of an anonymous inode (proc_pid_fdinfo(5)): `[eventpoll:3,4]`, `[eventfd:5]`, `[pidfd:77]`. Where the program gave epoll
    /// something else than the descriptor's number, that stands behind it: `[eventpoll:3=0x55d0c1b2c2a0]`.
    fn anonymous_detail(&self, inside: &[u8]) -> Option<String> {
        /// Watched descriptors that are listed, as lsof does.
        const LISTED: usize = 32;
        let name = inside.strip_prefix(b"[")?.strip_suffix(b"]")?;
        let label: &[u8] = match name {
            b"eventpoll" => b"tfd:",
            b"eventfd" => b"eventfd-id:",
            b"pidfd" => b"Pid:",
            _ => return None,
        };
        let info = self.info()?;
        let lines = info.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(label));
        let value = |rest: &[u8]| {
            let number = decimal::<i64>(rest.trim_ascii().split(|b| *b == b' ').next()?)?;
            Some((number, token(rest).filter(|token| i64::try_from(*token) != Ok(number))))
        };
        let mut values: Vec<(i64, Option<u64>)> = lines.filter_map(value).collect();
        values.sort_unstable();
        if values.is_empty() {
            return None;
        }
        let more = if values.len() > LISTED { ",..." } else { "" };
        let words = |(number, token): &(i64, Option<u64>)| match token {
            Some(token) => format!("{number}={token:#x}"),
            None => number.to_string(),
        };
        let list: Vec<String> = values.iter().take(LISTED).map(words).collect();
        Some(format!("[{}:{}{more}]", String::from_utf8_lossy(name), list.join(",")))
    }

    /// The offset of a file, how it is open, and the server it is on.
    fn position(&self, remote: &HashMap<u64, String>, entry: &mut FdEntry) {
        let Some(info) = self.info() else { return };
        let field = |label: &[u8]| {
            let line = info.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(label))?;
            decimal::<u64>(line.trim_ascii())
        };
        if matches!(entry.kind, FdKind::File | FdKind::Directory | FdKind::Proc) {
            entry.offset = field(b"pos:");
        }
        let flags = info.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"flags:"));
        let flags = flags.and_then(|octal| std::str::from_utf8(octal.trim_ascii()).ok());
        if let Some(flags) = flags.and_then(|octal| i32::from_str_radix(octal, 8).ok()) {
            let access = flags & libc::O_ACCMODE;
            let opened = flags & libc::O_PATH == 0;
            entry.readable = Some(opened && matches!(access, libc::O_RDONLY | libc::O_RDWR));
            entry.writable = Some(opened && matches!(access, libc::O_WRONLY | libc::O_RDWR));
        }
        if !remote.is_empty() {
            entry.mount = field(b"mnt_id:").and_then(|id| remote.get(&id)).cloned();
        }
    }

    fn info(&self) -> Option<Vec<u8>> {
        /// An epoll instance has a line for each of what may be 100,000 descriptors.
        const MOST: usize = 64 << 10;
        let file =
            rustix::fs::openat(self.infos?, self.name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .ok()?;
        let mut text = vec![0; 1024];
        let mut used = 0;
        loop {
            match rustix::io::read(&file, &mut text[used..]) {
                Ok(0) | Err(_) => break,
                Ok(got) => used += got,
            }
            if used == MOST {
                break;
            }
            if used == text.len() {
                text.resize((used * 4).min(MOST), 0);
            }
        }
        text.truncate(used);
        Some(text)
    }
}

/// What epoll calls a descriptor that it watches: `tfd: 5 events: 19 data: 55d0c1b2c2a0 pos:0 ino:1f sdev:8`, in hexadecimal.
fn token(rest: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(rest).ok()?;
    let (_, data) = text.split_once("data:")?;
    u64::from_str_radix(data.split_whitespace().next()?, 16).ok()
}

/// The kind behind `anon_inode:`: `[eventpoll]`, `[eventfd]`, `inotify`.
pub(crate) fn anonymous_kind(name: &[u8]) -> FdKind {
    let name = name.strip_prefix(b"[").unwrap_or(name);
    match name.split(|byte| matches!(byte, b']' | b':' | b' ')).next().unwrap_or(name) {
        b"eventpoll" => FdKind::Epoll,
        b"eventfd" => FdKind::Event,
        b"timerfd" => FdKind::Timer,
        b"signalfd" => FdKind::Signal,
        b"inotify" | b"fanotify" => FdKind::Inotify,
        _ => FdKind::Anonymous,
    }
}

/// What the kernel has in its memory of a file: never waits for a server that does not answer.
fn statx(directory: impl AsFd, path: &Path) -> Option<Statx> {
    let wanted = StatxFlags::BASIC_STATS;
    rustix::fs::statx(directory, path, AtFlags::STATX_DONT_SYNC, wanted).ok()
}

/// A path as the link shows it. ` (deleted)` is the kernel's where the file has no name left; a name may end so, too.
fn path(target: &[u8], stat: Option<&Statx>, entry: &mut FdEntry) {
    let stripped = target.strip_suffix(b" (deleted)");
    // memfd and other files that never had a name have no links either.
    let deleted = stripped.is_some() && stat.is_none_or(|stat| stat.stx_nlink == 0);
    let path = stripped.filter(|_| deleted).unwrap_or(target);
    entry.deleted = deleted;
    entry.name = Some(bounded(path));
    entry.kind = FdKind::of_path(path);
    let Some(stat) = stat else { return };
    let device = |major: u32, minor: u32| Some(format!("{major},{minor}"));
    entry.inode = Some(stat.stx_ino);
    entry.device = device(stat.stx_dev_major, stat.stx_dev_minor);
    match u32::from(stat.stx_mode) & libc::S_IFMT {
        libc::S_IFREG => {
            // A regular file below /dev is just that.
            if matches!(entry.kind, FdKind::Device | FdKind::Terminal | FdKind::DevNull) {
                entry.kind = FdKind::File;
            }
            entry.size = Some(stat.stx_size);
        }
        libc::S_IFDIR => {
            entry.kind = FdKind::Directory;
            entry.size = Some(stat.stx_size);
        }
        libc::S_IFCHR => {
            if !matches!(entry.kind, FdKind::DevNull | FdKind::Terminal) {
                entry.kind = FdKind::Device;
            }
            entry.device = device(stat.stx_rdev_major, stat.stx_rdev_minor);
        }
        libc::S_IFBLK => {
            entry.kind = FdKind::Device;
            entry.device = device(stat.stx_rdev_major, stat.stx_rdev_minor);
        }
        libc::S_IFIFO => entry.kind = FdKind::Pipe,
        _ => {}
    }
}
