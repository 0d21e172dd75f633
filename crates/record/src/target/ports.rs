//! Who has a socket at a local port, in any network namespace.

use super::root::{ProcRoot, decimal};
use super::sockets::{self, Protocol};
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use whyslow_model::Tid;

/// Who holds the sockets that were sought.
#[derive(Debug, Default)]
pub(super) struct Holders {
    /// A row a process and socket, in order of the processes.
    pub(super) found: Vec<Holder>,
    /// Processes whose descriptors we may not look at.
    pub(super) unreadable: usize,
}

/// A process with such a socket.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    pub(super) pid: Tid,
    /// Stands for the network namespace and the transport: what has one port there is of one service.
    pub(super) place: u64,
    /// True where others reach it there: it listens or is bound, or is a connection of one that listens.
    pub(super) serves: bool,
    socket: Sought,
}

impl Holder {
    /// `tcp 0.0.0.0:80`.
    pub(super) fn socket(&self) -> String {
        let Sought { protocol, local, .. } = self.socket;
        format!("{} {local}", protocol.transport())
    }
}

#[derive(Clone, Copy, Debug)]
struct Sought {
    place: u64,
    protocol: Protocol,
    local: SocketAddr,
    is_open: bool,
}

/// Those of `pids` that have a TCP or UDP socket with the local port `port`.
pub(super) fn holders(root: &ProcRoot, pids: &[Tid], port: u16) -> Holders {
    let mut namespaces = HashSet::new();
    let mut sockets: HashMap<u64, Sought> = HashMap::new();
    let mut place = 0;
    for pid in pids {
        // A namespace that cannot be told apart (no right to look) is read for each process: slow, not wrong.
        if sockets::namespace(root, *pid).is_some_and(|namespace| !namespaces.insert(namespace)) {
            continue;
        }
        for protocol in Protocol::INTERNET {
            let of = place + u64::from(protocol.transport() == "udp");
            sockets::read_internet(root, *pid, protocol, |socket| {
                if socket.local.port() == port && socket.inode != 0 {
                    let is_open = socket.remote.port() == 0;
                    let sought = Sought { place: of, protocol, local: socket.local, is_open };
                    sockets.entry(socket.inode).or_insert(sought);
                }
            });
        }
        place += 2;
    }
    let mut holders = Holders::default();
    if sockets.is_empty() {
        return holders;
    }
    let open: HashSet<u64> =
        sockets.values().filter(|socket| socket.is_open).map(|socket| socket.place).collect();
    for pid in pids {
        let Ok(directory) = std::fs::read_dir(root.of(*pid, "fd")) else {
            holders.unreadable += 1;
            continue;
        };
        let mut seen = HashSet::new();
        for entry in directory.flatten() {
            let Ok(target) = std::fs::read_link(entry.path()) else { continue };
            let inode = socket_inode(target.as_os_str().as_bytes());
            if let Some(socket) = inode.and_then(|inode| sockets.get(&inode))
                && seen.insert((socket.place, socket.local))
            {
                let serves = open.contains(&socket.place);
                holders.found.push(Holder { pid: *pid, place: socket.place, serves, socket: *socket });
            }
        }
    }
    holders
}

/// `socket:[12]`.
pub(crate) fn socket_inode(target: &[u8]) -> Option<u64> {
    decimal(target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?)
}
