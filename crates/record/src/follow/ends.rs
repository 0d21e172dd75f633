//! From a descriptor that a thread waits at to the processes at its other end: sockets by sock_diag(7), also across network
//! namespaces, pipes by who has them open. A socket is looked at once, by a descriptor of ours for it that is closed at once.

use super::owners::{Holder, Owners, named_pipe, pipe_inode};
use crate::target::ProcRoot;
use crate::target::diag::{Diag, number};
use crate::target::inet_diag::{InetTold, LISTEN, question, question_of_one};
use crate::target::ports::socket_inode;
use crate::target::sockets::{connected, namespace};
use crate::target::unix_peers::{UnixSocket, UnixTold, question_of_one as unix_question_of_one};
use rustix::fs::AtFlags;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use whyslow_model::Via;
use whyslow_model::text;

/// Sockets and services that are remembered; of more all are looked at anew.
const MOST_SOCKETS: usize = 4_096;
/// Network namespaces that the other end is sought in.
const MOST_SPACES: usize = 32;
/// What is not known is asked again after that long, ns.
const AGAIN_NS: u64 = 1_000_000_000;
/// Who listens is asked again after that long, ns.
const LISTENERS_NS: u64 = 2_000_000_000;

/// Whom a descriptor leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// To who asks of us: a listener, an accepted connection, a terminal.
    Work,
    /// To nobody who is known here: another host, a file.
    Nobody,
    /// To these processes.
    Processes(Vec<u32>, String),
    /// To one of those behind that address; which one is not known.
    Service(String),
}

/// What is known of one socket.
#[derive(Clone, Debug)]
struct Known {
    end: End,
    /// The other end's inode number, as far as it was found.
    far: Option<u64>,
    /// When that was sought last.
    sought: u64,
}

impl Known {
    fn is_stale(&self, now: u64) -> bool {
        self.far.is_none() && self.end != End::Listens && now >= self.sought + AGAIN_NS
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    Listens,
    Tcp { local: SocketAddr, remote: SocketAddr, accepted: bool },
    Unix { via: String, accepted: bool },
    Other,
}

/// A network namespace.
struct Space {
    id: Option<(u64, u64)>,
    diag: Option<Diag>,
    /// Listening sockets, by port.
    listening: HashMap<u16, u64>,
    listed: u64,
}

/// The sockets that were looked at, and who holds what.
pub(super) struct Ends {
    sockets: HashMap<u64, Known>,
    spaces: Vec<Space>,
    owners: Owners,
    /// Who held the other end of such connections before.
    services: HashMap<String, Vec<u32>>,
}

impl Ends {
    pub(super) fn new(own: u32) -> Ends {
        Ends {
            sockets: HashMap::new(),
            spaces: Vec::new(),
            owners: Owners::new(own),
            services: HashMap::new(),
        }
    }

    /// CPU time that lists of all processes took so far, ns.
    pub(super) fn listing_ns(&self) -> u64 {
        self.owners.spent_ns
    }

    /// The way to the sockets of the namespace of `pid`, opened while we have the right to.
    pub(super) fn prepare(&mut self, pid: u32) {
        self.space(pid);
    }

    fn space(&mut self, pid: u32) -> usize {
        let root = ProcRoot::live();
        let id = namespace(&root, pid);
        if let Some(at) = self.spaces.iter().position(|space| space.id == id) {
            return at;
        }
        if self.spaces.len() >= MOST_SPACES {
            self.spaces.remove(MOST_SPACES - 1);
        }
        let diag = Diag::of_namespace(&root, pid);
        self.spaces.push(Space { id, diag, listening: HashMap::new(), listed: 0 });
        self.spaces.len() - 1
    }

    /// Who is at the other end of the descriptor `fd` of `pid`, which waits to read or to write there.
    pub(super) fn of(&mut self, pid: u32, fd: i32, writes: bool, now: u64) -> Found {
        let link = rustix::fs::readlinkat(rustix::fs::CWD, format!("/proc/{pid}/fd/{fd}"), Vec::new());
        let Ok(link) = link else { return Found::Nobody };
        let link = link.as_bytes();
        if let Some(inode) = pipe_inode(link) {
            return self.pipe(pid, inode, writes, "a pipe".to_string(), now);
        }
        match socket_inode(link) {
            Some(inode) => self.socket(pid, fd, inode, writes, now),
            None if link.starts_with(b"/dev/pts/") || link.starts_with(b"/dev/tty") => Found::Work,
            None => match named_pipe(link, &format!("/proc/{pid}/fd/{fd}")) {
                Some(number) => {
                    self.pipe(pid, number, writes, format!("the pipe {}", text::bounded(link)), now)
                }
                None => Found::Nobody,
            },
        }
    }

    /// Where an answer of a server is outstanding at `fd`, a TCP connection that `pid` opened: who is to answer.
    pub(super) fn outstanding(&mut self, pid: u32, fd: i32, now: u64) -> Option<Found> {
        let link =
            rustix::fs::readlinkat(rustix::fs::CWD, format!("/proc/{pid}/fd/{fd}"), Vec::new()).ok()?;
        let inode = socket_inode(link.as_bytes())?;
        if !self.sockets.contains_key(&inode) {
            self.look_at(pid, fd, inode, now);
        }
        match &self.sockets.get(&inode)?.end {
            End::Tcp { accepted: false, .. } => {}
            _ => return None,
        }
        let socket = borrow(pid, fd)?;
        is_outstanding(&tcp_info(&socket)?).then(|| self.socket(pid, fd, inode, false, now))
    }

    fn pipe(&mut self, pid: u32, inode: u64, writes: bool, via: String, now: u64) -> Found {
        let holders = Owners::open_for(self.owners.of(inode, &[], now), !writes);
        processes(&holders, pid, via)
    }

    fn socket(&mut self, pid: u32, fd: i32, inode: u64, writes: bool, now: u64) -> Found {
        if self.sockets.get(&inode).is_none_or(|known| known.is_stale(now)) {
            self.look_at(pid, fd, inode, now);
        }
        let Some(known) = self.sockets.get(&inode).cloned() else { return Found::Nobody };
        let (via, accepted, listener) = match known.end {
            End::Listens => return Found::Work,
            End::Other => return Found::Nobody,
            End::Tcp { local, remote, accepted } => {
                (remote.to_string(), accepted, self.listener(pid, local, remote, now))
            }
            End::Unix { via, accepted } => (via, accepted, None),
        };
        if accepted && !writes {
            return Found::Work;
        }
        match known.far {
            Some(far) => self.holders(pid, far, via, listener, now),
            None => self.service(pid, via, listener),
        }
    }

    /// Who is at the other end, by its inode number.
    fn holders(&mut self, pid: u32, far: u64, via: String, listener: Option<u64>, now: u64) -> Found {
        let hints = self.services.get(&via).cloned().unwrap_or_default();
        let holders = self.owners.of(far, &hints, now);
        if holders.is_empty() {
            return self.service(pid, via, listener);
        }
        if self.services.len() >= MOST_SOCKETS {
            self.services.clear();
        }
        let pids = self.services.entry(via.clone()).or_default();
        // The last ones first: servers that make a process a connection end the others.
        pids.retain(|pid| holders.iter().all(|holder| holder.pid != *pid));
        pids.splice(0..0, holders.iter().map(|holder| holder.pid));
        pids.truncate(8);
        processes(&holders, pid, via)
    }

    /// Of a connection that is too young for the lists: who held the like before, else who listens there, where that is known.
    fn service(&self, own: u32, via: String, listener: Option<u64>) -> Found {
        if Via::of_words(&via) == Via::UnixPair {
            return Found::Nobody;
        }
        let before = self.services.get(&via).cloned().unwrap_or_default();
        let listen = || listener.map_or(Vec::new(), |inode| self.owners.listed(inode));
        let known = if before.is_empty() { listen() } else { before };
        let mut alive = known.into_iter().filter(|pid| Path::new(&format!("/proc/{pid}")).exists());
        match (alive.next(), alive.next()) {
            (Some(only), None) if only != own => Found::Processes(vec![only], via),
            (None, _) | (Some(_), None) => Found::Nobody,
            (Some(_), Some(_)) => Found::Service(via),
        }
    }

    /// The socket that listens where a connection of this host leads.
    fn listener(&mut self, pid: u32, local: SocketAddr, remote: SocketAddr, now: u64) -> Option<u64> {
        let is_here = remote.ip().is_loopback() || remote.ip() == local.ip();
        is_here.then(|| self.listeners(pid, now).get(&remote.port()).copied())?
    }

    /// Where `pid` may wait for an answer at `fd`: a TCP connection on which it asked last, a unix socket of a server, with `by_pipe` a
    /// pipe.
    pub(super) fn answer(&mut self, pid: u32, fd: i32, by_pipe: bool, now: u64) -> Option<Found> {
        let link =
            rustix::fs::readlinkat(rustix::fs::CWD, format!("/proc/{pid}/fd/{fd}"), Vec::new()).ok()?;
        let Some(inode) = socket_inode(link.as_bytes()) else {
            return by_pipe.then(|| self.of(pid, fd, false, now));
        };
        if self.sockets.get(&inode).is_none_or(|known| known.is_stale(now)) {
            self.look_at(pid, fd, inode, now);
        }
        match &self.sockets.get(&inode)?.end {
            End::Tcp { accepted: false, .. } => self.outstanding(pid, fd, now),
            End::Unix { accepted: false, .. } => Some(self.socket(pid, fd, inode, false, now)),
            _ => None,
        }
    }

    /// The processes at the other end of the descriptor `fd` of `pid`, where that is a connection that it accepted, or a pipe that it reads
    /// from; true for a pipe. `hints` may be among them.
    pub(super) fn callers(&mut self, pid: u32, fd: i32, hints: &[u32], now: u64) -> Option<(Vec<u32>, bool)> {
        let path = format!("/proc/{pid}/fd/{fd}");
        let link = rustix::fs::readlinkat(rustix::fs::CWD, &path, Vec::new()).ok()?;
        let link = link.as_bytes();
        let pids = |holders: Vec<Holder>| {
            let pids: HashSet<u32> = holders.iter().map(|holder| holder.pid).collect();
            pids.into_iter().filter(|other| *other != pid).collect()
        };
        let Some(inode) = socket_inode(link) else {
            let inode = pipe_inode(link).or_else(|| named_pipe(link, &path))?;
            let stat = rustix::fs::statat(rustix::fs::CWD, &path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            // The owner's bits of the link tell how it is open (proc_pid_fd(5)).
            let reads = stat.st_mode & 0o400 != 0;
            let writers = reads.then(|| Owners::open_for(self.owners.of(inode, hints, now), true))?;
            return Some((pids(writers), true));
        };
        if self.sockets.get(&inode).is_none_or(|known| known.is_stale(now)) {
            self.look_at(pid, fd, inode, now);
        }
        let known = self.sockets.get(&inode)?;
        let is_accepted =
            matches!(known.end, End::Tcp { accepted: true, .. } | End::Unix { accepted: true, .. });
        let far = known.far.filter(|_| is_accepted)?;
        Some((pids(self.owners.of(far, hints, now)), false))
    }

    /// Who is at the other end of the descriptor `fd` of `pid`, where that is a connection that was accepted.
    pub(super) fn client(&mut self, pid: u32, fd: i32, now: u64) -> Option<Found> {
        let link =
            rustix::fs::readlinkat(rustix::fs::CWD, format!("/proc/{pid}/fd/{fd}"), Vec::new()).ok()?;
        let inode = socket_inode(link.as_bytes())?;
        if self.sockets.get(&inode).is_none_or(|known| known.is_stale(now)) {
            self.look_at(pid, fd, inode, now);
        }
        let known = self.sockets.get(&inode)?.clone();
        let via = match known.end {
            End::Tcp { remote, accepted: true, .. } => remote.to_string(),
            End::Unix { via, accepted: true } => via,
            _ => return None,
        };
        Some(self.holders(pid, known.far?, via, None, now))
    }

    /// Finds out what a socket is, and its other end.
    fn look_at(&mut self, pid: u32, fd: i32, inode: u64, now: u64) {
        let end = borrow(pid, fd).map_or(End::Other, |socket| self.end_of(pid, &socket, inode, now));
        let far = match &end {
            End::Tcp { local, remote, .. } => self.far_tcp(pid, *local, *remote, now),
            End::Unix { .. } => self.far_unix(pid, inode),
            End::Listens | End::Other => None,
        };
        if self.sockets.len() >= MOST_SOCKETS {
            self.sockets.clear();
        }
        self.sockets.insert(inode, Known { end, far, sought: now });
    }

    fn end_of(&mut self, pid: u32, socket: &OwnedFd, inode: u64, now: u64) -> End {
        use rustix::net::{AddressFamily, SocketType, sockopt};
        let listens = sockopt::socket_acceptconn(socket).unwrap_or(false);
        let family = sockopt::socket_domain(socket).unwrap_or(AddressFamily::UNSPEC);
        let kind = sockopt::socket_type(socket).unwrap_or(SocketType::RAW);
        if listens {
            return End::Listens;
        }
        if family == AddressFamily::UNIX {
            return self.unix_end(pid, inode);
        }
        let address = |address: Option<rustix::net::SocketAddrAny>| {
            let address = SocketAddr::try_from(address?).ok()?;
            Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
        };
        let local = address(rustix::net::getsockname(socket).ok());
        let remote = address(rustix::net::getpeername(socket).ok().flatten());
        match (local, remote) {
            (Some(local), Some(remote)) if kind == SocketType::STREAM => {
                let accepted = self.listeners(pid, now).contains_key(&local.port());
                End::Tcp { local, remote, accepted }
            }
            // What takes from anybody waits for whoever asks.
            (Some(_), None) if kind == SocketType::DGRAM => End::Listens,
            _ => End::Other,
        }
    }

    /// Who listens in the namespace of `pid`: whose port it is was asked, and did not ask.
    fn listeners(&mut self, pid: u32, now: u64) -> &HashMap<u16, u64> {
        let at = self.space(pid);
        let space = &mut self.spaces[at];
        if space.listed == 0 || now >= space.listed + LISTENERS_NS {
            space.listed = now.max(1);
            space.listening.clear();
            for family in [libc::AF_INET, libc::AF_INET6] {
                let question = question((libc::IPPROTO_TCP as u8, family as u8), 1 << LISTEN, None);
                let listening = &mut space.listening;
                let told = space.diag.as_mut().map(|diag| {
                    diag.ask(&question, |body| {
                        if let Some(told) = InetTold::of(body) {
                            listening.insert(told.local.port(), told.inode);
                        }
                    })
                });
                if told.is_none() {
                    connected(&ProcRoot::live(), pid, |local, remote, inode| {
                        if remote.port() == 0 {
                            listening.insert(local.port(), inode);
                        }
                    });
                    break;
                }
            }
        }
        &space.listening
    }

    /// The socket at the other end of a TCP connection: in the same namespace, else in another that a process was seen in.
    fn far_tcp(&mut self, pid: u32, local: SocketAddr, remote: SocketAddr, now: u64) -> Option<u64> {
        let at = self.space(pid);
        if let Some(diag) = &mut self.spaces[at].diag
            && let Some(told) = diag.ask_one(&question_of_one(remote, local), InetTold::of)
        {
            let is_it = told.peer_port == local.port() && told.inode != 0;
            // One that nobody accepted yet has no inode: its listener is to accept it.
            return if is_it {
                Some(told.inode)
            } else {
                self.listeners(pid, now).get(&remote.port()).copied()
            };
        }
        // Of the own namespace, if it could not be asked, and of the others.
        let own = self.spaces[at].id.filter(|_| self.spaces[at].diag.is_some());
        let spaces: Vec<u32> = (self.owners.namespaces.iter())
            .filter(|(id, _)| Some(**id) != own)
            .map(|(_, pid)| *pid)
            .chain(own.is_none().then_some(pid))
            .take(MOST_SPACES)
            .collect();
        if remote.ip().is_loopback() && own.is_some() {
            return None;
        }
        let mut found = None;
        for pid in spaces {
            connected(&ProcRoot::live(), pid, |near, far, inode| {
                if (near, far) == (remote, local) && inode != 0 {
                    found = Some(inode);
                }
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    fn unix_told(&mut self, pid: u32, inode: u64) -> Option<UnixSocket> {
        let at = self.space(pid);
        let diag = self.spaces[at].diag.as_mut()?;
        diag.ask_one(&unix_question_of_one(u32::try_from(inode).ok()?), |body| {
            Some(UnixTold::of(body)?.socket())
        })
    }

    /// Which end of a unix connection it is: an accepted one has the name of its listener, and its peer has none.
    fn unix_end(&mut self, pid: u32, inode: u64) -> End {
        let Some(socket) = self.unix_told(pid, inode) else { return End::Other };
        let peer = socket.peer.and_then(|peer| self.unix_told(pid, peer));
        let peer_name = peer.and_then(|peer| peer.name);
        match (socket.name, peer_name) {
            (Some(name), None) => End::Unix { via: name, accepted: true },
            (_, Some(name)) => End::Unix { via: name, accepted: false },
            (None, None) => End::Unix { via: "a pair of unix sockets".to_string(), accepted: false },
        }
    }

    fn far_unix(&mut self, pid: u32, inode: u64) -> Option<u64> {
        self.unix_told(pid, inode)?.peer
    }
}

/// The holders but the process itself.
fn processes(holders: &[Holder], own: u32, via: String) -> Found {
    let pids: HashSet<u32> = holders.iter().map(|holder| holder.pid).filter(|pid| *pid != own).collect();
    if pids.is_empty() { Found::Nobody } else { Found::Processes(pids.into_iter().collect(), via) }
}

/// A descriptor of ours for the same open socket.
fn borrow(pid: u32, fd: i32) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    rustix::process::pidfd_getfd(&handle, fd, PidfdGetfdFlags::empty()).ok()
}

/// The first bytes of `struct tcp_info` (linux/tcp.h), up to `tcpi_bytes_received`.
const TCP_INFO: usize = 136;

fn tcp_info(socket: &OwnedFd) -> Option<[u8; TCP_INFO]> {
    let mut info = [0u8; TCP_INFO];
    let mut length = TCP_INFO as libc::socklen_t;
    // SAFETY: both pointers are to memory of ours of the lengths told, which outlives the call.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut length,
        )
    };
    (done == 0 && length as usize == TCP_INFO).then_some(info)
}

/// True where the last that was sent came after the last that was received (`tcpi_last_data_sent`, `tcpi_last_data_recv`, ms ago), where
/// something was sent and nothing received yet (`tcpi_bytes_acked`, in which the connection itself is one, `tcpi_bytes_received`), or
/// where the connection is being made (`TCP_SYN_SENT`).
fn is_outstanding(info: &[u8; TCP_INFO]) -> bool {
    const SYN_SENT: u8 = 2;
    let word = |at: usize| number(info, at).map(u32::from_ne_bytes);
    let long = |at: usize| number(info, at).map_or(0, u64::from_ne_bytes);
    let is_first = long(120) > 1 && long(128) == 0;
    info[0] == SYN_SENT || info[0] == 1 && (word(44) < word(52) || is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    /// The process and descriptor of something of ours.
    fn ours(of: &impl AsRawFd) -> (u32, i32) {
        (std::process::id(), of.as_raw_fd())
    }

    #[test]
    fn the_near_end_asks_and_the_far_end_serves() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let mut near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (mut far, _) = listener.accept().expect("accepted");
        let mut ends = Ends::new(0);
        let ((pid, fd), (_, served), (_, listening)) = (ours(&near), ours(&far), ours(&listener));
        assert_eq!(ends.of(pid, listening, false, 1), Found::Work);
        assert_eq!(ends.of(pid, served, false, 1), Found::Work);
        // Both ends are of one process: it waits for no other one.
        assert_eq!(ends.of(pid, fd, false, 1), Found::Nobody);
        let inode = |fd: i32| {
            let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).expect("a link");
            socket_inode(link.to_str().expect("text").as_bytes()).expect("a socket")
        };
        assert_eq!(ends.sockets[&inode(fd)].far, Some(inode(served)));
        // An answer is outstanding from the question to the answer.
        assert_eq!(ends.outstanding(pid, fd, 1), None);
        std::thread::sleep(std::time::Duration::from_millis(20));
        near.write_all(b"?").expect("sent");
        assert!(ends.outstanding(pid, fd, 1).is_some());
        assert_eq!(ends.outstanding(pid, served, 1), None);
        std::thread::sleep(std::time::Duration::from_millis(20));
        far.write_all(b"!").expect("sent");
        near.read_exact(&mut [0]).expect("received");
        assert_eq!(ends.outstanding(pid, fd, 1), None);
    }

    #[test]
    fn an_accepted_unix_socket_has_the_name_of_its_listener() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.sock");
        let listener = UnixListener::bind(&path).expect("bound");
        let near = UnixStream::connect(&path).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        let mut ends = Ends::new(0);
        let ((pid, fd), (_, served)) = (ours(&near), ours(&far));
        assert_eq!(ends.of(pid, served, false, 1), Found::Work);
        ends.of(pid, fd, false, 1);
        let via = path.to_str().expect("text").to_string();
        assert!(
            ends.sockets.values().any(|known| known.end == End::Unix { via: via.clone(), accepted: false })
        );
    }
}
