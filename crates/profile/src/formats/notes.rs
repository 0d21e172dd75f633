//! What could not be used of a file that could be read: counted, and the first few quoted.

use super::bytes::Bytes;

/// A line that could not be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DamagedLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, cut after 120 characters.
    pub text: String,
    /// What should have stood there.
    pub expected: &'static str,
}

/// What could not be used of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// How many lines could not be used.
    pub damaged: u64,
    /// The first of them.
    pub first: Vec<DamagedLine>,
    /// The compressed stream ended early, after so many bytes (decompressed): what came before is used.
    pub cut_after: Option<u64>,
}

impl Notes {
    const QUOTED: usize = 5;
    const QUOTE: usize = 120;

    /// The line that was read last could not be used.
    pub(super) fn damaged(&mut self, bytes: &Bytes<'_>, text: &str, expected: &'static str) {
        self.damaged += 1;
        if self.first.len() < Notes::QUOTED {
            let text = text.chars().take(Notes::QUOTE).collect();
            self.first.push(DamagedLine { number: bytes.line_number(), text, expected });
        }
    }

    /// The file has been read.
    pub(super) fn end(mut self, bytes: &Bytes<'_>) -> Notes {
        self.cut_after = bytes.cut();
        self
    }
}
