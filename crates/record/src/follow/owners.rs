//! Who holds a socket or pipe: the descriptors of all processes by inode number, listed when one is sought that is not known.

use crate::clock::thread_cpu_ns;
use crate::target::ports::socket_inode;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use std::collections::{HashMap, HashSet};
use whyslow_model::text;

/// Processes and descriptors that are listed.
const MOST_PROCESSES: usize = 8_192;
const MOST_DESCRIPTORS: usize = 1 << 17;
/// What lists of all processes may cost in the long run, of one CPU.
const SHARE: f64 = 0.000_5;
/// Lists that are made as soon as they are wanted: most of a chain is found by them.
const AT_ONCE: u32 = 2;
/// Between two lists of all, and of one process, at least; and of all at most, ns.
const ALL_EVERY_NS: u64 = 500_000_000;
const ONE_EVERY_NS: u64 = 200_000_000;
const ALL_AT_MOST_NS: u64 = 60_000_000_000;
/// More holders of one end share it by inheritance, and say not who is meant.
const MOST_HOLDERS: usize = 4;

/// A descriptor of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Holder {
    pub(super) pid: u32,
    fd: i32,
}

impl Holder {
    fn path(self) -> String {
        format!("/proc/{}/fd/{}", self.pid, self.fd)
    }

    fn holds(self, inode: u64) -> bool {
        rustix::fs::readlinkat(CWD, self.path(), Vec::new())
            .is_ok_and(|link| number_of(link.as_bytes(), &self.path()) == Some(inode))
    }

    /// The owner's bits of the link tell how it is open (proc_pid_fd(5)).
    fn is_open_for(self, writes: bool) -> bool {
        let bit = if writes { 0o200 } else { 0o400 };
        rustix::fs::statat(CWD, self.path(), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| stat.st_mode & bit != 0)
    }
}

/// `socket:[12]`, `pipe:[13]`.
pub(super) fn inode_of(link: &[u8]) -> Option<u64> {
    socket_inode(link).or_else(|| pipe_inode(link))
}

/// The number of what a link of `/proc/PID/fd` leads to, where it is a socket or a pipe, one with a name too.
fn number_of(link: &[u8], path: &str) -> Option<u64> {
    inode_of(link).or_else(|| if link.starts_with(b"/dev/") { None } else { named_pipe(link, path) })
}

/// The number of a FIFO that the descriptor at `path` has open. Inodes are counted by each file system: the highest bit tells it from the
/// numbers of pipes and sockets, and the device's number tells two file systems apart.
pub(super) fn named_pipe(link: &[u8], path: &str) -> Option<u64> {
    let stat = link.starts_with(b"/").then(|| rustix::fs::stat(path).ok())??;
    let is_fifo = FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    is_fifo.then(|| 1 << 63 | (stat.st_ino ^ stat.st_dev.rotate_left(40)) >> 1)
}

/// `pipe:[13]`.
pub(super) fn pipe_inode(link: &[u8]) -> Option<u64> {
    let digits = link.strip_prefix(b"pipe:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The lists.
#[derive(Debug, Default)]
pub(super) struct Owners {
    held: HashMap<u64, Vec<Holder>>,
    descriptors: usize,
    /// A process of each network namespace that was seen, by the namespace.
    pub(super) namespaces: HashMap<(u64, u64), u32>,
    listed: u32,
    due: u64,
    /// When single processes were listed last.
    looked: HashMap<u32, u64>,
    own: u32,
    /// CPU time of lists of all processes, ns.
    pub(super) spent_ns: u64,
}

impl Owners {
    pub(super) fn new(own: u32) -> Owners {
        Owners { own, ..Owners::default() }
    }

    /// The processes that hold it. `hints` are those that held its like before: they are looked through first.
    pub(super) fn of(&mut self, inode: u64, hints: &[u32], now: u64) -> Vec<Holder> {
        let found = self.known(inode);
        if !found.is_empty() {
            return found;
        }
        for pid in hints.iter().take(MOST_HOLDERS) {
            if self.looked.get(pid).is_none_or(|last| now >= last + ONE_EVERY_NS) {
                self.looked.insert(*pid, now);
                self.list(*pid);
            }
        }
        let found = self.known(inode);
        if !found.is_empty() || !self.list_all(now) {
            return found;
        }
        self.known(inode)
    }

    /// The processes that held it when they were listed.
    pub(super) fn listed(&self, inode: u64) -> Vec<u32> {
        let holders = self.held.get(&inode).map_or(&[][..], Vec::as_slice);
        let mut pids: Vec<u32> = holders.iter().map(|holder| holder.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// Of these the ones that have it open so.
    pub(super) fn open_for(holders: Vec<Holder>, writes: bool) -> Vec<Holder> {
        holders.into_iter().filter(|holder| holder.is_open_for(writes)).collect()
    }

    /// Those of the lists that still hold it; none where it is many.
    fn known(&mut self, inode: u64) -> Vec<Holder> {
        let Some(holders) = self.held.get_mut(&inode) else { return Vec::new() };
        holders.retain(|holder| holder.holds(inode));
        let pids: HashSet<u32> = holders.iter().map(|holder| holder.pid).collect();
        if pids.len() > MOST_HOLDERS { Vec::new() } else { holders.clone() }
    }

    /// Lists all processes, where it is time for that.
    fn list_all(&mut self, now: u64) -> bool {
        if self.listed > 0 && now < self.due {
            return false;
        }
        let began = thread_cpu_ns();
        self.held.clear();
        self.namespaces.clear();
        self.looked.clear();
        self.descriptors = 0;
        let mut left = MOST_PROCESSES;
        if let Ok(entries) = std::fs::read_dir("/proc") {
            for entry in entries.flatten() {
                let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                    continue;
                };
                if left == 0 || self.descriptors >= MOST_DESCRIPTORS {
                    break;
                }
                left -= 1;
                if pid != self.own && self.list(pid) > 0 {
                    let namespace = crate::target::sockets::namespace(&crate::target::ProcRoot::live(), pid);
                    if let Some(namespace) = namespace {
                        self.namespaces.entry(namespace).or_insert(pid);
                    }
                }
            }
        }
        self.listed += 1;
        let spent = thread_cpu_ns() - began;
        self.spent_ns += spent;
        let pause = (spent as f64 / SHARE) as u64;
        let pause = if self.listed < AT_ONCE { ALL_EVERY_NS } else { pause };
        self.due = now + pause.clamp(ALL_EVERY_NS, ALL_AT_MOST_NS);
        true
    }

    /// Lists one process; tells how many sockets and pipes it holds.
    fn list(&mut self, pid: u32) -> usize {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = rustix::fs::open(format!("/proc/{pid}/fd"), flags, Mode::empty());
        let Ok(links) = links else { return 0 };
        let Ok(entries) = Dir::read_from(&links) else { return 0 };
        let (mut found, mut buffer) = (0, Vec::new());
        for entry in entries.flatten() {
            let Some(fd) = entry.file_name().to_str().ok().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let Ok(link) = rustix::fs::readlinkat(&links, entry.file_name(), buffer) else {
                buffer = Vec::new();
                continue;
            };
            let path = || format!("/proc/{pid}/fd/{fd}");
            let named = || number_of(link.as_bytes(), &path());
            if let Some(inode) = inode_of(link.as_bytes()).or_else(named) {
                let holders = self.held.entry(inode).or_default();
                let holder = Holder { pid, fd };
                found += 1;
                if !holders.contains(&holder) && self.descriptors < MOST_DESCRIPTORS {
                    holders.push(holder);
                    self.descriptors += 1;
                }
            }
            buffer = link.into_bytes();
        }
        found
    }
}

/// The name of a process (proc_pid_comm(5)).
pub(super) fn name_of(pid: u32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(text::bounded(name.trim_ascii_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_reader_of_a_pipe_is_found_and_its_writer_told_apart() {
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().expect("sleep");
        let ours = child.stdin.as_ref().expect("a pipe");
        let link = std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(ours)));
        let inode = pipe_inode(link.expect("a link").to_str().expect("text").as_bytes()).expect("a pipe");
        let mut owners = Owners::new(0);
        let found = owners.of(inode, &[], 1);
        let pids = |holders: Vec<Holder>| holders.iter().map(|holder| holder.pid).collect::<Vec<_>>();
        assert!(pids(Owners::open_for(found.clone(), false)).contains(&child.id()), "{found:?}");
        assert!(!pids(Owners::open_for(found, true)).contains(&child.id()));
        child.kill().expect("killed");
        child.wait().expect("ended");
        // What does not hold it any more is forgotten, though nothing was listed again.
        assert!(!pids(owners.of(inode, &[], 2)).contains(&child.id()));
    }

    #[test]
    fn who_has_a_pipe_with_a_name_open_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("orders");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        // Open both ways, no open waits for the other end.
        let both = || std::fs::File::options().read(true).write(true).open(&path).expect("open");
        let mut child = Command::new("sleep").arg("60").stdin(both()).spawn().expect("sleep");
        let ours = both();
        let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&ours));
        let link = path.to_str().expect("text").as_bytes();
        let number = named_pipe(link, &own).expect("a pipe");
        let found = Owners::new(0).of(number, &[], 1);
        assert!(found.iter().any(|holder| holder.pid == child.id()), "{found:?}");
        assert_eq!(named_pipe(b"/etc/passwd", "/etc/passwd"), None);
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    #[test]
    fn lists_of_all_are_paced() {
        let mut owners = Owners::new(0);
        assert!(owners.list_all(1));
        assert!(!owners.list_all(ALL_EVERY_NS / 2));
        assert!(owners.list_all(1 + ALL_EVERY_NS));
        assert!(!owners.list_all(2 + ALL_EVERY_NS));
        assert!(owners.list_all(2 + 2 * ALL_AT_MOST_NS));
    }
}
