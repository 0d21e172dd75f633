//! Which unix socket is connected to which, asked of the kernel (sock_diag(7)): `/proc/net/unix` does not tell.

use super::diag::{self, Diag, number};
use super::root::{ProcRoot, bounded};
use std::collections::HashMap;
use whyslow_model::Tid;

/// One unix socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnixSocket {
    /// The inode number of the other end.
    pub(crate) peer: Option<u64>,
    /// Its own path; `@…` for an abstract one.
    pub(crate) name: Option<String>,
    /// What waits in it: bytes, or connections of one that listens; unknown where that was not asked for.
    pub(crate) waiting: Option<u32>,
}

/// The unix sockets of the network namespace that `pid` is in, by inode number. `None` where the kernel does not tell:
/// no right to enter that namespace, or a kernel without `unix_diag`.
pub(super) fn of_namespace(root: &ProcRoot, pid: Tid) -> Option<HashMap<u64, UnixSocket>> {
    let mut found = HashMap::new();
    let question = question(SHOW_NAME | SHOW_PEER);
    let take = |message: &[u8]| {
        if let Some(told) = UnixTold::of(message) {
            found.insert(told.inode, told.socket());
        }
    };
    Diag::of_namespace(root, pid)?.ask(&question, take).ok()?;
    Some(found)
}

/// `UDIAG_SHOW_…`, `UNIX_DIAG_…` (linux/unix_diag.h).
pub(crate) const SHOW_NAME: u32 = 0x1;
pub(crate) const SHOW_PEER: u32 = 0x4;
pub(crate) const SHOW_QUEUE: u32 = 0x10;
const NAME: u16 = 0;
const PEER: u16 = 2;
const QUEUE: u16 = 4;

/// A `struct unix_diag_req` for all unix sockets: any protocol, all states, no inode number.
pub(crate) fn question(show: u32) -> [u8; 24] {
    let mut question = [0; 24];
    question[0] = libc::AF_UNIX as u8;
    question[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    question[12..16].copy_from_slice(&show.to_ne_bytes());
    question
}

/// The same for the one socket with that inode number: its name and its peer.
pub(crate) fn question_of_one(inode: u32) -> [u8; 24] {
    let mut question = question(SHOW_NAME | SHOW_PEER);
    question[8..12].copy_from_slice(&inode.to_ne_bytes());
    // No cookie (`INET_DIAG_NOCOOKIE`).
    question[16..24].fill(0xff);
    question
}

/// What is told of one unix socket (`struct unix_diag_msg`).
pub(crate) struct UnixTold<'a> {
    pub(crate) inode: u64,
    /// `SOCK_STREAM` and others (`udiag_type`).
    pub(crate) kind: u8,
    /// As TCP has them: 1 is connected, 10 listens (include/net/tcp_states.h).
    pub(crate) state: u8,
    attributes: &'a [u8],
}

impl<'a> UnixTold<'a> {
    pub(crate) fn of(message: &'a [u8]) -> Option<UnixTold<'a>> {
        Some(UnixTold {
            inode: u64::from(u32::from_ne_bytes(number(message, 4)?)),
            kind: *message.get(1)?,
            state: *message.get(2)?,
            attributes: message.get(16..)?,
        })
    }

    pub(crate) fn socket(&self) -> UnixSocket {
        let mut socket = UnixSocket::default();
        let first = |value: &[u8]| number(value, 0).map(u32::from_ne_bytes);
        for (kind, value) in diag::attributes(self.attributes) {
            match kind {
                NAME => socket.name = name(value),
                PEER => socket.peer = first(value).map(u64::from).filter(|peer| *peer != 0),
                QUEUE => socket.waiting = first(value),
                _ => {}
            }
        }
        socket
    }
}

/// An abstract name begins with a NUL.
fn name(value: &[u8]) -> Option<String> {
    match value.split_first()? {
        (0, abstract_name) => Some(format!("@{}", bounded(abstract_name))),
        _ => Some(bounded(value.strip_suffix(b"\0").unwrap_or(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn inode_of(socket: &impl AsRawFd) -> u64 {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).expect("a link");
        super::super::ports::socket_inode(link.to_str().expect("text").as_bytes()).expect("a socket")
    }

    #[test]
    fn a_pair_is_connected() {
        let (one, other) = UnixStream::pair().expect("a pair");
        let Some(found) = of_namespace(&ProcRoot::live(), std::process::id()) else {
            return println!("skipped: this kernel has no unix_diag");
        };
        assert_eq!(found[&inode_of(&one)].peer, Some(inode_of(&other)));
        assert_eq!(found[&inode_of(&other)].peer, Some(inode_of(&one)));
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            UnixTold::of(&bytes).map(|told| told.socket());
        }
    }
}
