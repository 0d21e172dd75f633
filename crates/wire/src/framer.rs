//! Messages that tell their length, found in chunks of which bytes are missing.

use crate::Chunk;

/// One direction of a connection whose messages begin with a header that tells their length.
///
/// What is missing of a message is skipped by its length. Where a header is in what is missing, the framer is lost until a
/// chunk begins with what may be one.
#[derive(Debug, Default)]
pub struct Framer {
    /// Bytes of the present message that are to come; it was told already.
    rest: u64,
    /// The beginning of a message, not told yet.
    begun: Vec<u8>,
    /// Where messages begin is not known.
    lost: bool,
}

/// What a [`Framer`] finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// A message, told as soon as enough of it is there ([`Messages::enough`]), or all that will be.
    Message {
        /// Its first bytes with the header, as far as the capture has them and they are in one piece.
        head: &'a [u8],
        /// Bytes of it in all, with the header.
        len: u64,
        /// Its last byte is in this chunk.
        ends: bool,
    },
    /// More of the message that was told last.
    Rest {
        /// Its last byte is in this chunk.
        ends: bool,
    },
    /// Where messages begin is not known from here on: some may have been missed.
    Lost,
}

/// What a protocol tells its [`Framer`], and what it is told.
pub trait Messages {
    /// Bytes of the shortest header.
    const HEADER: usize;
    /// Bytes of the message that begins with `head`, header included; `head` has at least [`Self::HEADER`] bytes, and
    /// may have more. `None`: no message begins so, or it has no length. `is_resync`: where messages begin is not known,
    /// and `head` is the first of a chunk: be strict.
    fn length(&mut self, head: &[u8], is_resync: bool) -> Option<u64>;
    /// Bytes of the message that begins with `head` that are worth waiting for before it is told.
    fn enough(&self, _head: &[u8]) -> usize {
        Framer::ENOUGH
    }
    /// Takes what was found.
    fn piece(&mut self, piece: Piece<'_>);
}

impl Framer {
    /// Bytes of a message that are worth waiting for before it is told, where the protocol says nothing else.
    pub const ENOUGH: usize = 512;

    /// At the beginning of a message.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// True where it is not known where messages begin.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Takes no more on trust: the next chunk must begin with what may be a message.
    pub fn lose(&mut self) {
        self.rest = 0;
        self.begun.clear();
        self.lost = true;
    }

    /// Takes a chunk.
    pub fn take<M: Messages>(&mut self, chunk: Chunk<'_>, messages: &mut M) {
        let missing = chunk.len.saturating_sub(chunk.head.len() as u64);
        let mut bytes = chunk.head;
        if self.lost {
            let begins = bytes.len() >= M::HEADER && messages.length(bytes, true).is_some_and(|len| len > 0);
            if !begins {
                return;
            }
            self.lost = false;
        }
        if self.rest > 0 {
            let here = self.rest.min(chunk.len);
            self.rest -= here;
            messages.piece(Piece::Rest { ends: self.rest == 0 });
            bytes = &bytes[usize::try_from(here).unwrap_or(usize::MAX).min(bytes.len())..];
            if here >= chunk.head.len() as u64 {
                // It ended among the missing bytes, or with the chunk.
                let behind = chunk.len - here;
                if behind > 0 {
                    self.begin_lost(messages);
                }
                return;
            }
        }
        if !self.begun.is_empty() {
            bytes = match self.continue_begun(bytes, missing, messages) {
                Some(bytes) => bytes,
                None => return,
            };
        }
        while !bytes.is_empty() {
            let Some(len) = self.length(bytes, missing, messages) else { return };
            let here = bytes.len() as u64;
            if len <= here {
                let (head, behind) = bytes.split_at(len as usize);
                messages.piece(Piece::Message { head, len, ends: true });
                bytes = behind;
            } else if missing > 0 || bytes.len() >= messages.enough(bytes) {
                return self.tell_cut(bytes, len, missing, messages);
            } else {
                self.begun.extend_from_slice(bytes);
                return;
            }
        }
        if missing > 0 {
            self.begin_lost(messages);
        }
    }

    /// The length of the message that `bytes` begins; keeps a header that is not whole. `None`: there is nothing more to
    /// do with this chunk.
    fn length<M: Messages>(&mut self, bytes: &[u8], missing: u64, messages: &mut M) -> Option<u64> {
        if bytes.len() < M::HEADER {
            if missing > 0 {
                self.begin_lost(messages);
            } else {
                self.begun.extend_from_slice(bytes);
            }
            return None;
        }
        let len = messages.length(bytes, false).filter(|len| *len > 0);
        if len.is_none() {
            self.begin_lost(messages);
        }
        len
    }

    /// A message that goes on behind what is here.
    fn tell_cut<M: Messages>(&mut self, head: &[u8], len: u64, missing: u64, messages: &mut M) {
        let here = head.len() as u64 + missing;
        messages.piece(Piece::Message { head, len, ends: len <= here });
        self.rest = len.saturating_sub(here);
        if here > len {
            self.begin_lost(messages);
        }
    }

    fn begin_lost<M: Messages>(&mut self, messages: &mut M) {
        self.lose();
        messages.piece(Piece::Lost);
    }

    /// Adds to the message that earlier chunks began; what is behind it in this one, where there is anything.
    fn continue_begun<'a, M: Messages>(
        &mut self,
        mut bytes: &'a [u8],
        missing: u64,
        messages: &mut M,
    ) -> Option<&'a [u8]> {
        let mut begun = std::mem::take(&mut self.begun);
        let header = M::HEADER.saturating_sub(begun.len()).min(bytes.len());
        begun.extend_from_slice(&bytes[..header]);
        bytes = &bytes[header..];
        let len = self.length(&begun, missing, messages)?;
        let wanted = usize::try_from(len).unwrap_or(usize::MAX).min(messages.enough(&begun));
        let more = wanted.saturating_sub(begun.len()).min(bytes.len());
        begun.extend_from_slice(&bytes[..more]);
        bytes = &bytes[more..];
        if begun.len() as u64 >= len {
            messages.piece(Piece::Message { head: &begun, len, ends: true });
        } else if begun.len() < wanted && missing == 0 {
            self.begun = begun;
            return None;
        } else {
            let behind = (len - begun.len() as u64).min(bytes.len() as u64);
            bytes = &bytes[behind as usize..];
            let left = len - begun.len() as u64 - behind;
            messages.piece(Piece::Message { head: &begun, len, ends: left <= missing });
            if left > 0 {
                self.rest = left.saturating_sub(missing);
                if missing > left {
                    self.begin_lost(messages);
                }
                return None;
            }
        }
        begun.clear();
        self.begun = begun;
        if bytes.is_empty() && missing > 0 {
            self.begin_lost(messages);
            return None;
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Messages of a mark, two bytes of length (header included), and content.
    #[derive(Default)]
    struct Seen {
        told: Vec<(Vec<u8>, u64)>,
        ended: usize,
        lost: usize,
    }

    impl Messages for Seen {
        const HEADER: usize = 3;
        fn length(&mut self, head: &[u8], _: bool) -> Option<u64> {
            (head[0] == b'M').then(|| u64::from(u16::from_be_bytes([head[1], head[2]])))
        }
        fn piece(&mut self, piece: Piece<'_>) {
            match piece {
                Piece::Message { head, len, ends } => {
                    self.told.push((head.to_vec(), len));
                    self.ended += usize::from(ends);
                }
                Piece::Rest { ends } => self.ended += usize::from(ends),
                Piece::Lost => self.lost += 1,
            }
        }
    }

    fn stream(contents: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (n, content) in contents.iter().enumerate() {
            bytes.push(b'M');
            bytes.extend_from_slice(&(*content as u16 + 3).to_be_bytes());
            bytes.extend(std::iter::repeat_n(n as u8, *content));
        }
        bytes
    }

    fn whole(bytes: &[u8]) -> Chunk<'_> {
        Chunk { head: bytes, len: bytes.len() as u64 }
    }

    #[test]
    fn what_is_missing_is_skipped_by_its_length() {
        let (mut framer, mut seen) = (Framer::new(), Seen::default());
        let bytes = stream(&[100, 5]);
        framer.take(Chunk { head: &bytes[..10], len: 60 }, &mut seen);
        assert_eq!((seen.told.len(), seen.ended), (1, 0));
        framer.take(Chunk { head: &bytes[60..], len: 51 }, &mut seen);
        assert_eq!((seen.told.len(), seen.ended, seen.lost), (2, 2, 0));
        // A header among what is missing.
        framer.take(Chunk { head: &bytes[..10], len: 111 }, &mut seen);
        assert_eq!((seen.told.len(), seen.ended, seen.lost), (3, 3, 1));
        framer.take(whole(b"no message"), &mut seen);
        assert!(framer.is_lost());
        framer.take(whole(&bytes), &mut seen);
        assert_eq!((seen.told.len(), seen.ended, seen.lost), (5, 5, 1));
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(
            contents in prop::collection::vec(0usize..900, 1..8),
            cuts in prop::collection::vec(1usize..300, 0..40),
        ) {
            let bytes = stream(&contents);
            let (mut framer, mut seen) = (Framer::new(), Seen::default());
            let mut rest = &bytes[..];
            for cut in cuts {
                let (chunk, behind) = rest.split_at(cut.min(rest.len()));
                framer.take(whole(chunk), &mut seen);
                rest = behind;
            }
            framer.take(whole(rest), &mut seen);
            prop_assert_eq!((seen.told.len(), seen.ended, seen.lost), (contents.len(), contents.len(), 0));
            for (content, (head, len)) in contents.iter().zip(&seen.told) {
                prop_assert_eq!(*len, *content as u64 + 3);
                prop_assert!(head.len() >= Framer::ENOUGH.min(*content + 3));
            }
        }

        #[test]
        fn any_bytes_are_survived(
            chunks in prop::collection::vec((prop::collection::vec(prop_oneof![Just(b'M'), Just(0u8), any::<u8>()], 0..40), 0u64..200), 0..30),
        ) {
            let (mut framer, mut seen) = (Framer::new(), Seen::default());
            for (head, missing) in &chunks {
                framer.take(Chunk { head, len: head.len() as u64 + missing }, &mut seen);
                prop_assert!(framer.begun.len() <= Framer::ENOUGH);
            }
        }
    }
}
