//! One open input: its bytes (decompressed), line by line with bounded memory, and the count of what was read.

use crate::looks::Looks;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use whyslow_model::{CaptureNote, Event, NoteKind, Sink, SourceInfo};

/// A line longer than this is cut: the rest of it is read and dropped. strace's longest lines are bounded by
/// `-s`; 1 MiB holds any line that a person would want to see.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// Notes of one kind quoted for one source; the rest is only counted.
pub(crate) const MAX_QUOTED: usize = 5;

/// Characters of a damaged line that a note quotes.
pub(crate) const QUOTE_LEN: usize = 120;

/// An input being read.
pub struct Source<'a> {
    /// What was counted so far; pushed as [`Event::Source`] at the end.
    pub info: SourceInfo,
    /// Dumps of counters of this input and those before it.
    pub(crate) looks: Looks,
    reader: Box<dyn Read + Send + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    done: bool,
    quoted: usize,
}

impl<'a> Source<'a> {
    /// A source over `reader`; `head` are bytes already taken from it (for sniffing).
    pub fn new(info: SourceInfo, head: Vec<u8>, reader: Box<dyn Read + Send + 'a>) -> Source<'a> {
        let end = head.len();
        Source { info, looks: Looks::default(), reader, buffer: head, start: 0, end, done: false, quoted: 0 }
    }

    /// The next line without its end (`\n` or `\r\n`), counted; `None` at the end of the input.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let (from, to) = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                let from = self.start;
                self.start += at + 1;
                break (from, from + at);
            }
            if self.done {
                if self.start == self.end {
                    return Ok(None);
                }
                let from = self.start;
                self.start = self.end;
                break (from, self.end);
            }
            if self.end - self.start >= MAX_LINE {
                let from = self.start;
                let to = from + MAX_LINE;
                let line = self.buffer[from..to].to_vec();
                self.drop_rest_of_line()?;
                self.info.lines += 1;
                // Put the cut line where it can be borrowed from.
                self.buffer.splice(0..self.start, line);
                let kept = self.end - self.start;
                self.start = MAX_LINE;
                self.end = MAX_LINE + kept;
                return Ok(Some(&self.buffer[..MAX_LINE]));
            }
            self.fill()?;
        };
        self.info.lines += 1;
        self.info.bytes += (self.start - from) as u64;
        let line = &self.buffer[from..to];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.buffer.resize((self.end + 64 * 1024).max(self.buffer.len()), 0);
        let got = read_retrying(&mut self.reader, &mut self.buffer[self.end..])?;
        self.end += got;
        self.done = got == 0;
        Ok(())
    }

    fn drop_rest_of_line(&mut self) -> io::Result<()> {
        self.start += MAX_LINE;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                return Ok(());
            }
            if self.done {
                self.start = self.end;
                return Ok(());
            }
            self.start = self.end;
            self.fill()?;
        }
    }

    /// Takes the stream over: the bytes not yet given as lines, and the reader. The source is at its end then.
    pub fn take_stream(&mut self) -> (Vec<u8>, Box<dyn Read + Send + 'a>) {
        let rest = self.buffer.get(self.start..self.end).unwrap_or_default().to_vec();
        self.start = self.end;
        self.done = true;
        (rest, std::mem::replace(&mut self.reader, Box::new(io::empty())))
    }

    /// The number of the line given last, from 1.
    pub fn line_number(&self) -> u64 {
        self.info.lines
    }

    /// Counts the line as damaged and, for the first few, tells the sink what was expected.
    pub fn reject(&mut self, sink: &mut dyn Sink, line: &[u8], expected: &str) {
        self.info.rejects += 1;
        if self.quoted < MAX_QUOTED {
            self.quoted += 1;
            sink.push(Event::Note(reject_note(&self.info, self.info.lines, line, expected)));
        }
    }
}

/// The note for a damaged line.
pub(crate) fn reject_note(info: &SourceInfo, number: u64, line: &[u8], expected: &str) -> CaptureNote {
    let shown = String::from_utf8_lossy(&line[..line.len().min(QUOTE_LEN)]);
    let more = if line.len() > QUOTE_LEN { "…" } else { "" };
    CaptureNote {
        kind: NoteKind::Reject,
        source: info.id,
        line: Some(number),
        text: format!(
            "{}:{number}: expected {expected}, found `{shown}{more}`; the line is not used",
            info.name
        ),
        tid: None,
    }
}

/// The note for an input whose reading stopped before its end.
fn truncated_note(info: &SourceInfo, trouble: &str) -> CaptureNote {
    CaptureNote {
        kind: NoteKind::Truncated,
        source: info.id,
        line: None,
        text: format!("{}: {trouble}; what stands before it is used", info.name),
        tid: None,
    }
}

/// What stopped the reading of an input before its end, if anything did. Shared with the input's reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(crate) fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Tells the end of a source, and what cut it short if anything did.
pub(crate) fn conclude(info: SourceInfo, trouble: &Trouble, sink: &mut dyn Sink) {
    if let Some(text) = trouble.take() {
        sink.push(Event::Note(truncated_note(&info, &text)));
    }
    sink.push(Event::Source(info));
}

/// `read`, again after an interrupt.
pub(crate) fn read_retrying(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
