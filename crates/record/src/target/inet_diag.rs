//! Questions about TCP and UDP sockets to sock_diag(7), and what is told of one.

use super::diag::number;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The state of a socket that listens (include/net/tcp_states.h).
pub(crate) const LISTEN: u8 = 10;
/// `INET_DIAG_REQ_BYTECODE`, and of its operations those that compare the local port (linux/inet_diag.h).
const BYTECODE: u16 = 1;
const PORT_AT_LEAST: u8 = 2;
const PORT_AT_MOST: u8 = 3;
/// `sizeof(struct inet_diag_req_v2)`.
const QUESTION: usize = 56;

/// One socket of an answer (`struct inet_diag_msg`, linux/inet_diag.h).
pub(crate) struct InetTold {
    pub(crate) state: u8,
    pub(crate) local: SocketAddr,
    pub(crate) peer_port: u16,
    pub(crate) waiting: u32,
    pub(crate) inode: u64,
}

impl InetTold {
    pub(crate) fn of(body: &[u8]) -> Option<InetTold> {
        let port = |at: usize| number(body, at).map(u16::from_be_bytes);
        let address = match *body.first()? {
            family if family == libc::AF_INET as u8 => IpAddr::from(Ipv4Addr::from(number::<4>(body, 8)?)),
            _ => IpAddr::from(Ipv6Addr::from(number::<16>(body, 8)?)),
        };
        Some(InetTold {
            state: *body.get(1)?,
            local: SocketAddr::new(address, port(4)?),
            peer_port: port(6)?,
            waiting: u32::from_ne_bytes(number(body, 56)?),
            inode: u64::from(u32::from_ne_bytes(number(body, 68)?)),
        })
    }

    pub(crate) fn has_peer(&self) -> bool {
        self.peer_port != 0
    }
}

/// `struct inet_diag_req_v2`: the sockets of a protocol in these states, all or those of one local port.
pub(crate) fn question((protocol, family): (u8, u8), states: u32, port: Option<u16>) -> Vec<u8> {
    let mut question = vec![0; QUESTION];
    question[0] = family;
    question[1] = protocol;
    question[4..8].copy_from_slice(&states.to_ne_bytes());
    if let Some(port) = port {
        // The attribute's length and number; then each comparison: by how much to go on where it holds and where it does not
        // (behind the end: not this one), and the port.
        for half in [20, BYTECODE] {
            question.extend(half.to_ne_bytes());
        }
        for (code, otherwise) in [(PORT_AT_LEAST, 20u16), (PORT_AT_MOST, 12)] {
            question.extend([code, 8]);
            question.extend(otherwise.to_ne_bytes());
            question.extend([0, 0]);
            question.extend(port.to_ne_bytes());
        }
    }
    question
}

/// The same for the one TCP socket that is connected from `local` to `remote`. Where none is, the kernel tells of one that listens at
/// `local`.
pub(crate) fn question_of_one(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = if local.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut question = question((libc::IPPROTO_TCP as u8, family as u8), u32::MAX, None);
    question[8..10].copy_from_slice(&local.port().to_be_bytes());
    question[10..12].copy_from_slice(&remote.port().to_be_bytes());
    for (at, address) in [(12, local.ip()), (28, remote.ip())] {
        match address {
            IpAddr::V4(address) => question[at..at + 4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => question[at..at + 16].copy_from_slice(&address.octets()),
        }
    }
    // `INET_DIAG_NOCOOKIE`.
    question[48..56].fill(0xff);
    question
}

#[cfg(test)]
mod tests {
    use super::super::diag::Diag;
    use super::super::root::ProcRoot;
    use super::*;
    use proptest::prelude::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_other_end_of_a_connection_is_one_question() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        let mut diag = Diag::of_namespace(&ProcRoot::live(), std::process::id()).expect("a way to ask");
        let (local, remote) = (near.local_addr().expect("bound"), near.peer_addr().expect("connected"));
        let told = diag.ask_one(&question_of_one(remote, local), InetTold::of).expect("told");
        let link = std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&far)));
        assert_eq!(link.expect("a link").to_str(), Some(format!("socket:[{}]", told.inode).as_str()));
        assert_eq!((told.local, told.peer_port, told.state), (remote, local.port(), 1));
        let nobody: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        assert!(diag.ask_one(&question_of_one(nobody, local), InetTold::of).is_none());
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(InetTold::of(&bytes).is_none() || bytes.len() >= 72);
        }
    }
}
