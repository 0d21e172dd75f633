//! The input cut into batches of whole lines.

use super::record::Record;
use crate::source::{MAX_LINE, read_retrying};
use memchr::{memchr, memrchr};
use std::io::{self, Read};

/// Some lines and their records. The buffers are used again and again.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The lines, and behind them what the parser rewrote.
    pub(crate) text: Vec<u8>,
    /// Where the lines end.
    pub(crate) lines_end: usize,
    /// How far they are parsed.
    pub(crate) parsed: usize,
    /// The records of the lines parsed last.
    pub(crate) records: Vec<Record>,
    /// The length of `text` before anything was rewritten.
    filled: usize,
    /// The last line has no end: the input ends with it.
    unended: bool,
}

impl Batch {
    /// Records made at once. Lines are longer than 32 bytes on average; where they are not (a file of empty
    /// lines), a batch is parsed in several steps, so that records do not outgrow the text by far.
    pub(crate) fn most_records(&self) -> usize {
        self.text.len() / 32 + 1
    }

    /// Drops the records and what was rewritten for them, to parse on.
    pub(crate) fn forget_records(&mut self) {
        self.records.clear();
        self.text.truncate(self.filled);
    }

    /// True where the last record is the input's last line, and lacks its end.
    pub(crate) fn ends_unended(&self) -> bool {
        self.unended && self.parsed >= self.lines_end
    }
}

/// Gives batch after batch of a stream.
pub(crate) struct Batches<'a> {
    reader: Box<dyn Read + Send + 'a>,
    /// The beginning of the next batch.
    carry: Vec<u8>,
    size: usize,
    /// Where a line is cut.
    longest: usize,
    /// The rest of a line that was cut is being dropped.
    dropping: bool,
    done: bool,
    /// Bytes taken from the stream, with the dropped ones.
    pub(crate) bytes: u64,
}

impl<'a> Batches<'a> {
    /// Batches of about `size` bytes; `head` are bytes already taken from `reader`.
    pub(crate) fn new(head: Vec<u8>, reader: Box<dyn Read + Send + 'a>, size: usize) -> Batches<'a> {
        let size = size.max(64);
        let bytes = head.len() as u64;
        let longest = MAX_LINE.min(size.saturating_mul(8)).max(size);
        Batches { reader, carry: head, size, longest, dropping: false, done: false, bytes }
    }

    /// Fills `batch` with the next lines; false at the end of the input.
    pub(crate) fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        batch.records.clear();
        batch.unended = false;
        batch.lines_end = 0;
        batch.parsed = 0;
        let any = self.fill_lines(batch)?;
        batch.filled = batch.text.len();
        Ok(any)
    }

    fn fill_lines(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if self.done {
            return Ok(false);
        }
        // The buffer keeps its length: cleaning it for each batch would cost as much as a pass over it.
        batch.text.resize(self.size.max(self.carry.len()), 0);
        batch.text[..self.carry.len()].copy_from_slice(&self.carry);
        let mut filled = self.carry.len();
        self.carry.clear();
        loop {
            filled = self.read_full(&mut batch.text, filled)?;
            if self.done {
                batch.lines_end = filled;
                batch.unended = filled > 0 && batch.text[filled - 1] != b'\n';
                return Ok(filled > 0);
            }
            if let Some(at) = memrchr(b'\n', &batch.text[..filled]) {
                self.carry.extend_from_slice(&batch.text[at + 1..filled]);
                batch.lines_end = at + 1;
                return Ok(true);
            }
            if filled >= self.longest {
                self.dropping = true;
                batch.lines_end = filled;
                return Ok(true);
            }
            batch.text.resize((filled * 2).min(self.longest), 0);
        }
    }

    /// Reads until `text` is full or the input ends; returns how much of it is filled.
    fn read_full(&mut self, text: &mut [u8], mut filled: usize) -> io::Result<usize> {
        while filled < text.len() {
            let got = read_retrying(&mut self.reader, &mut text[filled..])?;
            self.bytes += got as u64;
            if got == 0 {
                self.done = true;
                break;
            }
            if !self.dropping {
                filled += got;
                continue;
            }
            let read = filled..filled + got;
            if let Some(end) = memchr(b'\n', &text[read.clone()]) {
                self.dropping = false;
                text.copy_within(read.start + end + 1..read.end, filled);
                filled += got - end - 1;
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(input: &[u8], size: usize) -> Vec<Vec<u8>> {
        let mut batches = Batches::new(Vec::new(), Box::new(input), size);
        let (mut batch, mut all) = (Batch::default(), Vec::new());
        while batches.fill(&mut batch).unwrap() {
            all.extend(
                batch.text[..batch.lines_end].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec),
            );
        }
        assert_eq!(batches.bytes, input.len() as u64);
        all
    }

    #[test]
    fn lines_are_never_split_between_batches() {
        let input: Vec<u8> =
            (0..500).flat_map(|i| format!("{}\n", "x".repeat(i % 90)).into_bytes()).collect();
        let expected: Vec<_> = input.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for size in [64, 100, 4096, 1 << 20] {
            assert_eq!(lines_of(&input, size), expected, "{size}");
        }
    }

    #[test]
    fn a_line_without_end_is_cut_and_its_rest_dropped() {
        let mut input = vec![b'x'; 40_000];
        input.extend_from_slice(b"\nnext\n");
        let lines = lines_of(&input, 1024);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len(), 8 * 1024);
        assert_eq!(lines[1], b"next\n");
        assert_eq!(lines_of(&vec![b'x'; 40_000], 1024).len(), 1);
    }
}
