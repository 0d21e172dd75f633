//! Who has a socket at a local port, in any network namespace.

use super::root::{ProcRoot, decimal};
use super::sockets::{self, Protocol};
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use whyslow_model::Tid;

/// Who holds the sockets that were sought.
#[derive(Debug, Default)]
pub(super) struct Holders {
    /// In order.
    pub(super) pids: Vec<Tid>,
    /// Processes whose descriptors we may not look at.
    pub(super) unreadable: usize,
}

/// Those of `pids` that have a TCP or UDP socket with the local port `port`.
pub(super) fn holders(root: &ProcRoot, pids: &[Tid], port: u16) -> Holders {
    let mut namespaces = HashSet::new();
    let mut inodes = HashSet::new();
    for pid in pids {
        // A namespace that cannot be told apart (no right to look) is read for each process: slow, not wrong.
        if sockets::namespace(root, *pid).is_some_and(|namespace| !namespaces.insert(namespace)) {
            continue;
        }
        for protocol in Protocol::INTERNET {
            sockets::read_internet(root, *pid, protocol, |socket| {
                if socket.local.port() == port && socket.inode != 0 {
                    inodes.insert(socket.inode);
                }
            });
        }
    }
    let mut holders = Holders::default();
    if inodes.is_empty() {
        return holders;
    }
    for pid in pids {
        let Ok(directory) = std::fs::read_dir(root.of(*pid, "fd")) else {
            holders.unreadable += 1;
            continue;
        };
        let holds = directory.flatten().any(|entry| {
            let target = std::fs::read_link(entry.path());
            target.is_ok_and(|target| {
                socket_inode(target.as_os_str().as_bytes()).is_some_and(|i| inodes.contains(&i))
            })
        });
        if holds {
            holders.pids.push(*pid);
        }
    }
    holders
}

/// `socket:[12]`.
pub(super) fn socket_inode(target: &[u8]) -> Option<u64> {
    decimal(target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?)
}
