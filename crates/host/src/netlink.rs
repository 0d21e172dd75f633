//! Netlink: questions to the kernel and walks over its answers, in one buffer and without an allocation an answer.

use netlink_sys::Socket;
use std::io;

/// The kernel fills no larger piece of an answer (`netlink_dump`, net/netlink/af_netlink.c).
const BUFFER: usize = 32 << 10;
/// `struct nlmsghdr` (linux/netlink.h): length, kind, flags, number, sender.
const HEAD: usize = 16;
const REQUEST: u16 = 1;
const MULTI: u16 = 2;
/// Everything there is (`NLM_F_DUMP`).
pub(crate) const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// Pieces of one answer at most: a hundred million sockets.
const MOST_PIECES: usize = 1 << 20;

/// A way to one part of the kernel.
pub(crate) struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Opens one of `protocol` (`NETLINK_SOCK_DIAG`, `NETLINK_GENERIC`).
    pub(crate) fn open(protocol: isize) -> io::Result<Netlink> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        // The kernel answers while it is asked: there is nothing to wait for.
        socket.set_non_blocking(true)?;
        Ok(Netlink { socket, buffer: vec![0; BUFFER] })
    }

    /// Asks, and gives each message of the answer to `each`: its kind and what it holds.
    pub(crate) fn ask(
        &mut self,
        kind: u16,
        flags: u16,
        question: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut message = Vec::with_capacity(HEAD + question.len());
        message.extend_from_slice(&((HEAD + question.len()) as u32).to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&(REQUEST | flags).to_ne_bytes());
        message.extend_from_slice(&[0; 8]);
        message.extend_from_slice(question);
        self.socket.send(&message, 0)?;
        for _ in 0..MOST_PIECES {
            let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
            let mut rest = self.buffer.get(..length).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            while let Some((kind, flags, body, behind)) = first(rest) {
                match kind {
                    DONE => return Ok(()),
                    ERROR => {
                        let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
                        return if code == 0 {
                            Ok(())
                        } else {
                            Err(io::Error::from_raw_os_error(code.wrapping_neg()))
                        };
                    }
                    _ => each(body),
                }
                if flags & MULTI == 0 {
                    return Ok(());
                }
                rest = behind;
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// The first message: kind, flags, what it holds, and what is behind it.
fn first(bytes: &[u8]) -> Option<(u16, u16, &[u8], &[u8])> {
    let length = u32_at(bytes, 0)? as usize;
    let body = bytes.get(HEAD..length)?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((u16_at(bytes, 4)?, u16_at(bytes, 6)?, body, behind))
}

/// The attributes in `bytes`: number and value (`struct nlattr`).
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(4..length)?;
        // The two highest bits are flags.
        let number = u16_at(bytes, 2)? & 0x3fff;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((number, value))
    })
}

/// One attribute as bytes.
pub(crate) fn attribute(number: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut out = Vec::with_capacity(length.next_multiple_of(4));
    out.extend_from_slice(&(length as u16).to_ne_bytes());
    out.extend_from_slice(&number.to_ne_bytes());
    out.extend_from_slice(value);
    out.resize(length.next_multiple_of(4), 0);
    out
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_messages_end_the_walk() {
        let whole = [attribute(2, b"abc"), attribute(3, &7u32.to_ne_bytes())].concat();
        let read: Vec<(u16, &[u8])> = attributes(&whole).collect();
        assert_eq!(read, [(2, &b"abc"[..]), (3, &7u32.to_ne_bytes()[..])]);
        for cut in 0..whole.len() {
            assert!(attributes(&whole[..cut]).count() < 2);
        }
        assert_eq!(attributes(&[0; 16]).count(), 0);
        assert!(first(&[0; 32]).is_none() && first(&[255; 32]).is_none() && first(&[]).is_none());
    }
}
