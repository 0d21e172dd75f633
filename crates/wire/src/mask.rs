//! Bytes that may be kept of a chunk, each where it was; the rest is blank, so that lengths still lead from message to
//! message.

use crate::MAX_REDUCED;
use crate::framer::Framer;
use crate::sql::sql_shape;
use crate::text::{CUT, is_token};

/// Appends what is kept of a chunk.
#[derive(Debug)]
pub(crate) struct Mask<'o> {
    out: &'o mut Vec<u8>,
    from: usize,
}

impl<'o> Mask<'o> {
    /// Nothing is kept yet.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Mask<'o> {
        let from = out.len();
        Mask { out, from }
    }

    /// Bytes of the chunk that are gone through.
    pub(crate) fn len(&self) -> usize {
        self.out.len() - self.from
    }

    /// True where more would not be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= MAX_REDUCED
    }

    /// Keeps these bytes of the chunk.
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_REDUCED.saturating_sub(self.len());
        self.out.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Leaves bytes out, up to this one of the chunk.
    pub(crate) fn blank_to(&mut self, end: usize) {
        let end = end.min(MAX_REDUCED);
        if self.len() < end {
            self.out.resize(self.from + end, 0);
        }
    }

    /// Keeps the shape of a statement, so that it is the same of what is kept. `is_cut`: more of it follows that the
    /// chunk does not have.
    pub(crate) fn keep_sql(&mut self, text: &[u8], is_cut: bool) {
        let (text, is_cut) = match text.get(..Framer::ENOUGH) {
            Some(enough) => (enough, true),
            None => (text, is_cut),
        };
        let is_cut = is_cut && memchr::memchr(0, text).is_none();
        let end = self.len() + text.len();
        let mut shape = String::new();
        sql_shape(text, is_cut, &mut shape);
        let whole = shape.strip_suffix(CUT).unwrap_or(&shape);
        self.keep(&whole.as_bytes()[..whole.len().min(text.len())]);
        // Space ends the last word without ending the statement; signs make a shape too long again that was.
        let fill = if is_cut { b' ' } else { b'+' };
        while (is_cut || whole.len() < shape.len()) && self.len() < end && !self.is_full() {
            self.keep(&[fill]);
        }
    }

    /// Keeps names and keys; what in them looks like a token is another of its length, so that it still does;
    /// and the last word where it `is_cut`.
    pub(crate) fn keep_names(&mut self, text: &[u8], is_cut: bool) {
        let is_word = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'%' | b'=' | b'+' | b'~' | 0x80..)
        };
        let mut rest = text;
        while let Some(first) = rest.first() {
            let end = rest.iter().position(|byte| is_word(*byte) != is_word(*first)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            rest = behind;
            if is_token(word) || is_cut && rest.is_empty() && is_word(*first) {
                for at in 0..word.len() {
                    self.keep(if at % 2 == 0 { b"a" } else { b"0" });
                }
            } else {
                self.keep(word);
            }
        }
    }
}
