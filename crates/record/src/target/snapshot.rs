//! The state at attach as events: the processes, their threads, and what they have open.

use super::descriptors::{self, Open};
use super::identity::Identities;
use super::owner::Owner;
use super::ports::socket_inode;
use super::root::{ProcRoot, bounded};
use super::sockets::{self, Known};
use super::unix_peers::{self, UnixSocket};
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use whyslow_model::{CaptureNote, Event, FdKind, NoteKind, Sink, SocketEnds, SourceId, Tid};

/// Descriptors told of all processes together; a note says how many were left out.
const MAX_DESCRIPTORS: u64 = 1 << 20;
/// Sockets whose ends are sought.
const MAX_SOCKETS: usize = 1 << 18;
/// Links looked at to find who holds the other end of a unix socket: some 50 ms.
const MAX_HOLDER_LINKS: usize = 20_000;

/// How much a snapshot told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// Processes.
    pub processes: u64,
    /// Threads.
    pub threads: u64,
    /// Descriptors and what is open without a number.
    pub open: u64,
    /// Processes that had ended.
    pub gone: u64,
    /// Processes whose descriptors may not be looked at.
    pub unreadable: u64,
    /// Descriptors left out because there are too many.
    pub left_out: u64,
}

/// Tells what `pids` are and have open: an [`Event::Process`] for each process and each thread, an [`Event::Fd`] for
/// each open thing, and a note for what could not be seen. Processes that end meanwhile are told as far as they were
/// seen. Rows are as the lsof reader makes them; besides, unix sockets know their peers.
pub fn snapshot(pids: &[Tid], root: &ProcRoot, source: SourceId, sink: &mut dyn Sink) -> SnapshotSummary {
    let mut summary = SnapshotSummary::default();
    let identities = Identities::of(root);
    let mut sockets = Sockets { root, pending: Vec::new(), owners: Vec::new() };
    for pid in pids {
        let Some(info) = identities.of_process(*pid) else {
            summary.gone += 1;
            continue;
        };
        summary.processes += 1;
        let owner = Owner { source, pid: *pid, comm: info.comm.clone(), user: info.user.clone() };
        sink.push(Event::Process(info));
        for tid in root.threads(*pid).unwrap_or_default() {
            if let Some(thread) = identities.of_thread(*pid, tid) {
                summary.threads += 1;
                sink.push(Event::Process(thread));
            }
        }
        let index = sockets.owners.len();
        let mut refused = false;
        let looked = descriptors::each(root, &owner, |open| {
            if summary.open >= MAX_DESCRIPTORS || sockets.pending.len() >= MAX_SOCKETS {
                summary.left_out += 1;
                return;
            }
            summary.open += 1;
            match open {
                Open::Entry(entry) => {
                    // It is listed, and its link may not be read.
                    refused |= entry.name.is_none();
                    sink.push(Event::Fd(entry));
                }
                Open::Socket { fd, inode } => sockets.pending.push(Pending { owner: index, fd, inode }),
            }
        });
        let comm = owner.comm.clone().unwrap_or_default();
        sockets.owners.push(owner);
        let refusal = match looked {
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::SRCH) => None,
            Err(error) => Some(error),
            Ok(()) => refused.then_some(rustix::io::Errno::ACCESS),
        };
        if let Some(error) = refusal {
            summary.unreadable += 1;
            let text = format!(
                "the descriptors of {pid} ({comm}) cannot be looked at ({error}): calls on what it opened before have no names; run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
            );
            sink.push(note(source, Some(*pid), text));
        }
    }
    if summary.left_out > 0 {
        let text = format!(
            "{} of {} open descriptors are left out: choose fewer processes",
            summary.left_out,
            summary.left_out + summary.open
        );
        sink.push(note(source, None, text));
    }
    sockets.tell(sink);
    summary
}

/// Tells what `pids` and their threads are, as [`snapshot`] does, without what they have open.
pub fn processes(pids: &[Tid], root: &ProcRoot, sink: &mut dyn Sink) {
    let identities = Identities::of(root);
    for pid in pids {
        let Some(info) = identities.of_process(*pid) else { continue };
        sink.push(Event::Process(info));
        let threads = root.threads(*pid).unwrap_or_default();
        for thread in threads.into_iter().filter_map(|tid| identities.of_thread(*pid, tid)) {
            sink.push(Event::Process(thread));
        }
    }
}

fn note(source: SourceId, tid: Option<Tid>, text: String) -> Event<'static> {
    Event::Note(CaptureNote { kind: NoteKind::Tracer, source, line: None, text, tid })
}

/// A socket whose row was not looked up yet.
#[derive(Debug)]
struct Pending {
    owner: usize,
    fd: i32,
    inode: u64,
}

struct Sockets<'r> {
    root: &'r ProcRoot,
    pending: Vec<Pending>,
    owners: Vec<Owner>,
}

/// What tells network namespaces apart; where that cannot be seen, each process is taken to have its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Namespace {
    Seen((u64, u64)),
    OfProcess(Tid),
}

impl Sockets<'_> {
    fn tell(&self, sink: &mut dyn Sink) {
        let namespaces: Vec<Namespace> = self
            .owners
            .iter()
            .map(|owner| {
                let seen = sockets::namespace(self.root, owner.pid);
                seen.map_or(Namespace::OfProcess(owner.pid), Namespace::Seen)
            })
            .collect();
        let mut by_namespace: HashMap<Namespace, Vec<&Pending>> = HashMap::new();
        for pending in &self.pending {
            by_namespace.entry(namespaces[pending.owner]).or_default().push(pending);
        }
        for sockets in by_namespace.values() {
            // Any process of a namespace shows all of it.
            if let Some(first) = sockets.first() {
                self.tell_namespace(self.owners[first.owner].pid, sockets, sink);
            }
        }
    }

    fn tell_namespace(&self, pid: Tid, pending: &[&Pending], sink: &mut dyn Sink) {
        let wanted: HashSet<u64> = pending.iter().map(|socket| socket.inode).collect();
        let known = sockets::read_tables(self.root, pid, &wanted);
        let has_unix = known.values().any(|known| known.kind == FdKind::Unix);
        let unix = has_unix.then(|| unix_peers::of_namespace(self.root, pid)).flatten();
        let peers = unix.map(|unix| Peers::new(self, unix, &wanted));
        for socket in pending {
            let owner = &self.owners[socket.owner];
            let mut entry = owner.entry(Some(socket.fd));
            entry.readable = Some(true);
            entry.writable = Some(true);
            entry.inode = Some(socket.inode);
            let mut row = match known.get(&socket.inode) {
                Some(known) => known.clone(),
                // It is in no table: never bound or connected, or of another protocol.
                None => self.by_protocol(owner.pid, socket.fd),
            };
            if let (FdKind::Unix, Some(peers)) = (row.kind, &peers) {
                peers.tell(socket.inode, &mut row);
            }
            row.tell(&mut entry);
            sink.push(Event::Fd(Box::new(entry)));
        }
    }

    /// What the socket file system says of a socket: the name of its protocol.
    fn by_protocol(&self, pid: Tid, fd: i32) -> Known {
        let mut name = [0; 64];
        let path = self.root.of(pid, &format!("fd/{fd}"));
        let got = rustix::fs::getxattr(path, "system.sockprotoname", name.as_mut_slice()).unwrap_or(0);
        let name = name[..got].strip_suffix(b"\0").unwrap_or(&name[..got]);
        let kind = match name {
            b"TCP" | b"TCPv6" => FdKind::Tcp,
            b"UDP" | b"UDPv6" => FdKind::Udp,
            b"NETLINK" => FdKind::Netlink,
            _ if name.starts_with(b"UNIX") => FdKind::Unix,
            _ => FdKind::Socket,
        };
        let name = (!name.is_empty()).then(|| format!("protocol: {}", bounded(name)));
        Known { kind, name, ..Known::default() }
    }
}

/// Who is at the other end of unix sockets.
struct Peers {
    sockets: HashMap<u64, UnixSocket>,
    /// By inode number: `77,nginx,5u`, as lsof's `+E` shows it.
    holders: HashMap<u64, String>,
}

impl Peers {
    fn new(seen: &Sockets<'_>, sockets: HashMap<u64, UnixSocket>, wanted: &HashSet<u64>) -> Peers {
        let of_wanted = wanted.iter().filter_map(|inode| sockets.get(inode)?.peer);
        // A named end is told by its name.
        let mut sought: HashSet<u64> =
            of_wanted.filter(|peer| sockets.get(peer).is_none_or(|socket| socket.name.is_none())).collect();
        let mut peers = Peers { sockets, holders: HashMap::new() };
        for pending in &seen.pending {
            if sought.remove(&pending.inode) {
                let owner = &seen.owners[pending.owner];
                peers.held(pending.inode, owner.pid, owner.comm.as_deref().unwrap_or(""), pending.fd);
            }
        }
        peers.search_host(seen, sought);
        peers
    }

    fn held(&mut self, inode: u64, pid: Tid, comm: &str, fd: i32) {
        self.holders.insert(inode, format!("{pid},{comm},{fd}u"));
    }

    /// Looks through the other processes, up to a limit: the peer is not always found.
    fn search_host(&mut self, seen: &Sockets<'_>, mut sought: HashSet<u64>) {
        let known: HashSet<Tid> = seen.owners.iter().map(|owner| owner.pid).collect();
        let mut links = 0;
        for pid in seen.root.pids().unwrap_or_default().into_iter().filter(|pid| !known.contains(pid)) {
            let Ok(directory) = std::fs::read_dir(seen.root.of(pid, "fd")) else { continue };
            for entry in directory.flatten() {
                if sought.is_empty() || links >= MAX_HOLDER_LINKS {
                    return;
                }
                links += 1;
                let Ok(target) = std::fs::read_link(entry.path()) else { continue };
                let inode = socket_inode(target.as_os_str().as_bytes()).filter(|inode| sought.remove(inode));
                if let (Some(inode), Some(fd)) = (inode, super::root::decimal(entry.file_name().as_bytes())) {
                    let comm = super::process::Stat::read(seen.root, pid);
                    self.held(inode, pid, &comm.map_or(String::new(), |stat| bounded(&stat.comm)), fd);
                }
            }
        }
    }

    fn tell(&self, inode: u64, row: &mut Known) {
        let Some(peer) = self.sockets.get(&inode).and_then(|socket| socket.peer) else { return };
        let name = self.sockets.get(&peer).and_then(|socket| socket.name.clone());
        let text = name.or_else(|| self.holders.get(&peer).cloned()).unwrap_or_else(|| format!("INO={peer}"));
        let local = row.ends.take().and_then(|ends| ends.local);
        row.ends = Some(SocketEnds { local, peer: Some(text) });
    }
}
