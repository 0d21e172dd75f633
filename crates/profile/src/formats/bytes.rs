//! The bytes of one profile: decompressed as they come, within limits, with a view of what comes next.

use super::error::{FilePlace, ReadError};
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;
use whyslow_model::profile::ProfileDamage;

/// What a file may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes after decompression.
    pub bytes: u64,
    /// Most bytes after decompression for each byte before; counts beyond the first 64 MiB.
    pub ratio: u64,
}

impl Default for Limits {
    /// 4 GiB, and 200 to 1: pprof files have 3 to 8 to 1, folded stacks up to 40 to 1; gzip can reach 1,032 to 1.
    fn default() -> Limits {
        Limits { bytes: 4 << 30, ratio: 200 }
    }
}

impl Limits {
    /// No limits, for files that are trusted.
    pub const NONE: Limits = Limits { bytes: u64::MAX, ratio: u64::MAX };
    const RATIO_FREE: u64 = 64 << 20;
}

/// How much is shown to a format that is asked whether a file is its own.
pub(crate) const HEAD: usize = 64 << 10;
/// How much is read at once.
const STEP: usize = 256 << 10;
/// The longest single message or line: the longest string of a real profile is some KiB.
const LONGEST: usize = 64 << 20;
/// The longest line that is read whole: a folded stack of 20,000 frames.
const LONGEST_LINE: usize = 2 << 20;

/// The bytes of one profile.
pub(crate) struct Bytes<'r> {
    source: Box<dyn Read + 'r>,
    is_packed: bool,
    stored: Rc<Cell<u64>>,
    limits: Limits,
    /// Read and not yet taken: `buffer[start..end]`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `buffer[start]` is in the decompressed file.
    offset: u64,
    has_ended: bool,
    line_number: u64,
    cut: Option<u64>,
}

struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.count.set(self.count.get() + got as u64);
        Ok(got)
    }
}

impl<'r> Bytes<'r> {
    /// Looks at the first bytes of `reader` and decompresses what follows, if they say so.
    pub(crate) fn open(reader: impl Read + 'r, limits: Limits) -> Result<Bytes<'r>, ReadError> {
        let unreadable = |error: io::Error| ReadError::new(ProfileDamage::Unreadable, error.to_string());
        let stored = Rc::new(Cell::new(0));
        let mut reader = Counted { inner: reader, count: stored.clone() };
        let mut magic = Vec::with_capacity(4);
        (&mut reader).take(4).read_to_end(&mut magic).map_err(unreadable)?;
        if magic.is_empty() {
            return Err(ReadError::new(ProfileDamage::Empty, "0 bytes"));
        }
        // RFC 1952 and RFC 8878.
        let (is_gzip, is_zstd) = (magic.starts_with(&[0x1f, 0x8b]), magic == [0x28, 0xb5, 0x2f, 0xfd]);
        let whole = Cursor::new(magic).chain(reader);
        let source: Box<dyn Read + 'r> = if is_gzip {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(64 << 10, whole)))
        } else if is_zstd {
            let mut decoder = zstd::stream::read::Decoder::new(whole).map_err(unreadable)?;
            // A window of 64 MiB at most: a hostile file may ask for gigabytes.
            decoder.window_log_max(26).map_err(unreadable)?;
            Box::new(decoder)
        } else {
            Box::new(whole)
        };
        Ok(Bytes {
            source,
            is_packed: is_gzip || is_zstd,
            stored,
            limits,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            has_ended: false,
            line_number: 0,
            cut: None,
        })
    }

    /// What is read and not taken.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// How many bytes of the decompressed file are taken.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes bytes that are ahead.
    pub(crate) fn take(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads until `count` bytes are ahead, or the file ends; then how many are ahead. Memory grows with what is there, not with `count`.
    pub(crate) fn want(&mut self, count: u64) -> Result<usize, ReadError> {
        if count > LONGEST as u64 {
            let what = format!("one piece of {count} bytes");
            return Err(ReadError::malformed(what)
                .expected(format!("{LONGEST} at most"))
                .at(FilePlace::Byte(self.offset)));
        }
        let count = count as usize;
        while self.end - self.start < count && !self.has_ended {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            if self.end == self.buffer.len() {
                self.buffer.resize((self.buffer.len() * 2).max(STEP), 0);
            }
            self.fill()?;
        }
        Ok(self.end - self.start)
    }

    fn fill(&mut self) -> Result<(), ReadError> {
        let decoded = self.offset + (self.end - self.start) as u64;
        let got = match self.source.read(&mut self.buffer[self.end..]) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(self.trouble(error, decoded)),
        };
        self.has_ended = got == 0;
        self.end += got;
        let decoded = decoded + got as u64;
        let too_large = |what: String| ReadError::new(ProfileDamage::TooLarge, what);
        if decoded > self.limits.bytes {
            return Err(too_large(format!("more than {} bytes, decompressed", self.limits.bytes)));
        }
        let stored = self.stored.get();
        if self.is_packed && decoded > Limits::RATIO_FREE && decoded / self.limits.ratio.max(1) > stored {
            return Err(too_large(format!(
                "{stored} bytes become more than {decoded}: a decompression bomb"
            )));
        }
        Ok(())
    }

    fn trouble(&mut self, error: io::Error, decoded: u64) -> ReadError {
        self.has_ended = true;
        if !self.is_packed {
            return ReadError::new(ProfileDamage::Unreadable, error.to_string());
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let what = format!("the compressed stream is cut after {decoded} bytes (decompressed)");
            return ReadError::new(ProfileDamage::CutCompressed { decoded }, what);
        }
        let what = format!("the compressed stream is damaged: {error}");
        ReadError::malformed(what).at(FilePlace::Byte(decoded))
    }

    /// The next line, without its end; false at the end of the file. What is no UTF-8 becomes U+FFFD, and what is beyond 2 MiB of one line is left out.
    /// A compressed stream that is cut ends the lines: see [`Bytes::cut`].
    pub(crate) fn line(&mut self, text: &mut String) -> Result<bool, ReadError> {
        text.clear();
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.ahead()[searched..]) {
                self.take_line(searched + at, text);
                self.take(1);
                return Ok(true);
            }
            searched = self.ahead().len();
            if searched > LONGEST_LINE {
                self.take_line(LONGEST_LINE, text);
                self.skip_line()?;
                return Ok(true);
            }
            let there = match self.want(searched as u64 + 1) {
                Ok(there) => there,
                Err(error) => match error.damage {
                    ProfileDamage::CutCompressed { decoded } if decoded > 0 => {
                        self.cut = Some(decoded);
                        searched
                    }
                    _ => return Err(error),
                },
            };
            if there == searched {
                self.take_line(there, text);
                return Ok(there > 0);
            }
        }
    }

    fn take_line(&mut self, length: usize, text: &mut String) {
        let line = &self.ahead()[..length];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(line) => text.push_str(line),
            Err(_) => text.push_str(&String::from_utf8_lossy(line)),
        }
        self.take(length);
        self.line_number += 1;
    }

    fn skip_line(&mut self) -> Result<(), ReadError> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', self.ahead()) {
                self.take(at + 1);
                return Ok(());
            }
            self.take(self.end - self.start);
            if self.want(1)? == 0 {
                return Ok(());
            }
        }
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn line_number(&self) -> u64 {
        self.line_number
    }

    /// Where a compressed stream was cut, in decompressed bytes.
    pub(crate) fn cut(&self) -> Option<u64> {
        self.cut
    }
}
