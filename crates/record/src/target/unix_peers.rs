//! Which unix socket is connected to which, asked of the kernel (sock_diag(7)): `/proc/net/unix` does not tell.

use super::root::{ProcRoot, bounded};
use super::sockets;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink, sockopt};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;
use whyslow_model::Tid;

/// One unix socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnixSocket {
    /// The inode number of the other end.
    pub(super) peer: Option<u64>,
    /// Its own path; `@…` for an abstract one.
    pub(super) name: Option<String>,
}

/// Sockets told of one namespace at most.
const MOST: usize = 1 << 18;

/// The unix sockets of the network namespace that `pid` is in, by inode number. `None` where the kernel does not tell:
/// no right to enter that namespace, or a kernel without `unix_diag`.
pub(super) fn of_namespace(root: &ProcRoot, pid: Tid) -> Option<HashMap<u64, UnixSocket>> {
    if !root.is_live() {
        return None;
    }
    if sockets::namespace(root, pid) == sockets::namespace(root, std::process::id()) {
        return ask();
    }
    let namespace = File::open(root.of(pid, "ns/net")).ok()?;
    // Only the thread that asks enters the namespace, and it ends with the question.
    let asked = std::thread::Builder::new().name("unix-peers".into()).spawn(move || {
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
        ask()
    });
    asked.ok()?.join().ok()?
}

/// `SOCK_DIAG_BY_FAMILY` (linux/sock_diag.h).
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `NLMSG_ERROR`, `NLMSG_DONE` (linux/netlink.h).
const DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `UDIAG_SHOW_NAME | UDIAG_SHOW_PEER`, `UNIX_DIAG_NAME`, `UNIX_DIAG_PEER` (linux/unix_diag.h).
const SHOW: u32 = 0x1 | 0x4;
const NAME: u16 = 0;
const PEER: u16 = 2;

fn ask() -> Option<HashMap<u64, UnixSocket>> {
    let socket =
        rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::SOCK_DIAG)).ok()?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(Duration::from_secs(1))).ok()?;
    rustix::net::send(&socket, &request(), SendFlags::empty()).ok()?;
    let mut found = HashMap::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (got, _) = rustix::net::recv(&socket, buffer.as_mut_slice(), RecvFlags::empty()).ok()?;
        match take(buffer.get(..got)?, &mut found) {
            Part::More if got > 0 => {}
            Part::Done => return Some(found),
            Part::More | Part::Failed => return None,
        }
    }
}

/// A `struct nlmsghdr` and a `struct unix_diag_req` for all unix sockets.
fn request() -> Vec<u8> {
    let mut message = Vec::with_capacity(40);
    message.extend(40u32.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(DUMP.to_ne_bytes());
    // Sequence number and port: the socket asks once.
    message.extend([0; 8]);
    // AF_UNIX, any protocol, padding; all states; no inode number.
    message.extend([libc::AF_UNIX as u8, 0, 0, 0]);
    message.extend(u32::MAX.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(SHOW.to_ne_bytes());
    message.extend([0; 8]);
    message
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    More,
    Done,
    Failed,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// Takes in the messages of one datagram.
fn take(mut datagram: &[u8], found: &mut HashMap<u64, UnixSocket>) -> Part {
    while let (Some(length), Some(kind)) = (number(datagram, 0), number(datagram, 4)) {
        let length = u32::from_ne_bytes(length) as usize;
        match u16::from_ne_bytes(kind) {
            DONE => return Part::Done,
            ERROR => return Part::Failed,
            _ => {}
        }
        let Some(message) = datagram.get(16..length) else { return Part::Failed };
        // `struct unix_diag_msg` has 16 bytes, the inode number behind the first four.
        if let (Some(inode), Some(attributes)) = (number(message, 4), message.get(16..))
            && found.len() < MOST
        {
            found.insert(u64::from(u32::from_ne_bytes(inode)), attributes_of(attributes));
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Part::More
}

fn attributes_of(mut attributes: &[u8]) -> UnixSocket {
    let mut socket = UnixSocket::default();
    while let (Some(length), Some(kind)) = (number(attributes, 0), number(attributes, 2)) {
        let length = u16::from_ne_bytes(length) as usize;
        let Some(value) = attributes.get(4..length) else { break };
        match u16::from_ne_bytes(kind) {
            NAME => socket.name = name(value),
            PEER => {
                socket.peer =
                    number(value, 0).map(u32::from_ne_bytes).map(u64::from).filter(|peer| *peer != 0)
            }
            _ => {}
        }
        attributes = attributes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    socket
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
            take(&bytes, &mut HashMap::new());
            attributes_of(&bytes);
        }
    }
}
