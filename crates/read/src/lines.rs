//! The lines of one capture as they are, for who wants to write them again: decompressed, its kind known, memory bounded.

use crate::formats::{FORMATS, Format, SniffInput};
use crate::input::read_head;
use crate::open::{self, Hold, Meter};
use crate::source::{MAX_LINE, Source, Trouble};
use std::io;
use std::path::Path;
use whyslow_model::{CaptureKind, SourceId, SourceInfo};

/// A capture, line by line.
pub struct Lines {
    source: Source<'static>,
    trouble: Trouble,
    format: Option<&'static Format>,
    is_text: bool,
    cut: u64,
}

impl Lines {
    /// Opens a file, perhaps compressed.
    ///
    /// # Errors
    /// Where it cannot be opened or read.
    pub fn open(path: &Path) -> io::Result<Lines> {
        let mut opened = open::file(path, Hold::Open, Meter::none())?;
        let head = read_head(&mut opened.reader)?;
        let name = path.display().to_string();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let file_name = name.rsplit('/').next().unwrap_or(name);
        let sample = SniffInput { file_name, path: name, head: &head };
        let format = FORMATS.iter().copied().find(|format| (format.sniff)(&sample));
        // Dumps of /proc have a NUL behind each word; a profile that has one is no text.
        let may_have_nul = format.is_some_and(|format| format.kind != CaptureKind::Profile);
        let is_text = is_text(&head, may_have_nul);
        let info =
            SourceInfo::new(SourceId(0), name, format.map_or(CaptureKind::Strace, |format| format.kind));
        let source = Source::new(info, head, opened.reader);
        Ok(Lines { source, trouble: opened.trouble, format, is_text, cut: 0 })
    }

    /// What it is a capture of, where its first bytes tell.
    pub fn format(&self) -> Option<&'static Format> {
        self.format
    }

    /// False where its first bytes are those of a program's file, of a profile in binary, of an archive.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// The next line without its end; of one longer than a mebibyte the beginning. `None` at the end.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let line = self.source.next_line()?;
        self.cut += u64::from(line.is_some_and(|line| line.len() >= MAX_LINE));
        Ok(line)
    }

    /// How many lines were cut so far.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// What ended the reading before the end of the file, if anything did.
    pub fn stopped(&self) -> Option<String> {
        self.trouble.take()
    }
}

/// Whether these are the bytes of a text: hardly one is a control character or damaged.
fn is_text(head: &[u8], may_have_nul: bool) -> bool {
    let is_strange =
        |byte: &&u8| **byte < b' ' && !matches!(**byte, 0 | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' | 0x1b);
    let strange = head.iter().filter(is_strange).count();
    // An encoding of one byte a letter is text too; that of a compressed file is not UTF-8 for long.
    let broken: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    (may_have_nul || !head.contains(&0)) && strange * 30 <= head.len() && broken * 5 <= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_what_is_none() {
        for text in [
            &b"7 write(1, \"x\", 1) = 1\n"[..],
            b"",
            "Größe: 5 µs\n".as_bytes(),
            b"caf\xe9 au lait, s'il vous plait\n",
        ] {
            assert!(is_text(text, false), "{}", text.escape_ascii());
        }
        let noise: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for other in
            [&b"\x7fELF\x02\x01\x01\0\0\0\0"[..], b"\x0a\x04\x08\x01\x10\x02\x12\x02\x08\x03", &noise]
        {
            assert!(!is_text(other, false), "{}", other.escape_ascii());
        }
        assert!(is_text(b"java\0-jar\0x.jar\0", true) && !is_text(b"java\0-jar\0x.jar\0", false));
    }
}
