//! Questions to the kernel about the sockets of one network namespace (sock_diag(7)).

use super::root::ProcRoot;
use super::sockets;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use whyslow_model::Tid;

/// `struct nlmsghdr` (linux/netlink.h): length, kind, flags, number, port.
const HEAD: usize = 16;
/// `SOCK_DIAG_BY_FAMILY` (linux/sock_diag.h).
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `NLMSG_ERROR`, `NLMSG_DONE` (linux/netlink.h).
const DUMP: u16 = 0x301;
/// `NLM_F_REQUEST` alone: one socket is asked for.
const ONE: u16 = 0x1;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// The kernel fills no larger piece of an answer (`netlink_dump`, net/netlink/af_netlink.c).
const BUFFER: usize = 32 << 10;
/// Sockets of one answer that are looked at.
const MOST: usize = 1 << 18;

/// A way to the sockets of one namespace: a socket of it, which stays of it whoever holds it.
#[derive(Debug)]
pub(crate) struct Diag {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Diag {
    /// Of the namespace that `pid` is in; `None` without the right to enter it.
    pub(crate) fn of_namespace(root: &ProcRoot, pid: Tid) -> Option<Diag> {
        if !root.is_live() {
            return None;
        }
        if sockets::namespace(root, pid) == sockets::namespace(root, std::process::id()) {
            return Diag::open();
        }
        let namespace = File::open(root.of(pid, "ns/net")).ok()?;
        // Only the thread that opens the socket enters the namespace, and it ends then.
        let opened = std::thread::Builder::new().name("sock-diag".into()).spawn(move || {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
            Diag::open()
        });
        opened.ok()?.join().ok()?
    }

    fn open() -> Option<Diag> {
        let socket =
            rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::SOCK_DIAG)).ok()?;
        Some(Diag { socket, buffer: vec![0; BUFFER] })
    }

    /// Asks for all sockets that `question` means (a `struct unix_diag_req` or `inet_diag_req_v2`). Each gets what is told of
    /// one.
    ///
    /// # Errors
    /// Where the kernel does not answer such questions, or not to its end.
    pub(crate) fn ask(&mut self, question: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.send(DUMP, question)?;
        let mut left = MOST;
        loop {
            // The kernel answers while it is asked: there is nothing to wait for.
            let (got, _) = rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::DONTWAIT)?;
            let datagram = self.buffer.get(..got).unwrap_or_default();
            match messages(datagram, &mut left, &mut each) {
                Part::More if got > 0 => {}
                Part::Done => return Ok(()),
                Part::More | Part::Failed => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }

    /// Asks for the one socket that `question` describes; `None` where there is none, or the kernel does not tell.
    pub(crate) fn ask_one<T>(&mut self, question: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        self.send(ONE, question).ok()?;
        let (got, _) =
            rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::DONTWAIT).ok()?;
        let datagram = self.buffer.get(..got)?;
        let length = u32::from_ne_bytes(number(datagram, 0)?) as usize;
        let kind = u16::from_ne_bytes(number(datagram, 4)?);
        if kind == ERROR || kind == DONE { None } else { read(datagram.get(HEAD..length)?) }
    }

    fn send(&self, flags: u16, question: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(HEAD + question.len());
        message.extend(((HEAD + question.len()) as u32).to_ne_bytes());
        message.extend(BY_FAMILY.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        // One question at a time needs no number, and the kernel knows our port.
        message.extend([0; 8]);
        message.extend(question);
        rustix::net::send(&self.socket, &message, SendFlags::empty())?;
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    More,
    Done,
    Failed,
}

/// The number at `at`, in the host's byte order.
pub(crate) fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Takes the messages of one datagram.
fn messages(mut datagram: &[u8], left: &mut usize, each: &mut impl FnMut(&[u8])) -> Part {
    while let (Some(length), Some(kind)) = (number(datagram, 0), number(datagram, 4)) {
        let length = u32::from_ne_bytes(length) as usize;
        match u16::from_ne_bytes(kind) {
            DONE => return Part::Done,
            ERROR => return Part::Failed,
            _ => {}
        }
        let Some(message) = datagram.get(HEAD..length) else { return Part::Failed };
        if *left > 0 {
            *left -= 1;
            each(message);
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Part::More
}

/// The attributes in `bytes`: number and value (`struct nlattr`).
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(number(bytes, 0)?));
        let kind = u16::from_ne_bytes(number(bytes, 2)?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_answer_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut told = 0;
            messages(&bytes, &mut 3, &mut |_| told += 1);
            prop_assert!(told <= 3);
            prop_assert!(attributes(&bytes).count() <= bytes.len());
        }
    }
}
