//! Opening one input: decompressed by its first bytes, metered, and forgiving once something was read.

use crate::source::{Trouble, read_retrying};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Is told how far the reading is. Called for about every mebibyte read.
pub trait Progress: Sync {
    /// `done` bytes of the inputs (as stored, compressed or not) are read, of `total` where that is known.
    fn bytes(&self, done: u64, total: Option<u64>);
}

/// Tells nobody.
impl Progress for () {
    fn bytes(&self, _done: u64, _total: Option<u64>) {}
}

/// Counts what is read from all inputs.
pub(crate) struct Meter<'p> {
    progress: &'p dyn Progress,
    done: AtomicU64,
    total: Option<u64>,
}

impl<'p> Meter<'p> {
    const STEP: u64 = 1 << 20;

    pub(crate) fn new(progress: &'p dyn Progress, total: Option<u64>) -> Meter<'p> {
        Meter { progress, done: AtomicU64::new(0), total }
    }

    /// One that tells nobody.
    pub(crate) fn none() -> &'static Meter<'static> {
        static NONE: Meter<'static> = Meter { progress: &(), done: AtomicU64::new(0), total: None };
        &NONE
    }

    fn add(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        if before / Meter::STEP != (before + bytes) / Meter::STEP {
            self.progress.bytes(before + bytes, self.total);
        }
    }

    pub(crate) fn end(&self) {
        self.progress.bytes(self.done.load(Ordering::Relaxed), self.total);
    }
}

/// A stream that tells the meter.
struct Metered<'m, R> {
    inner: R,
    meter: &'m Meter<'m>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.meter.add(got as u64);
        Ok(got)
    }
}

/// An error in the middle of a stream ends it: what was read before is worth using. What happened is kept.
struct Forgiving<R> {
    inner: R,
    trouble: Trouble,
    got: u64,
}

impl<R: Read> Read for Forgiving<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match read_retrying(&mut self.inner, buffer) {
            Ok(got) => {
                self.got += got as u64;
                Ok(got)
            }
            Err(error) if self.got == 0 => Err(error),
            Err(error) => {
                self.trouble.set(match error.kind() {
                    io::ErrorKind::UnexpectedEof => "the compressed stream is cut short".to_string(),
                    _ => format!("reading stopped after {} bytes: {error}", self.got),
                });
                Ok(0)
            }
        }
    }
}

/// A regular file that is open only while it is read: for more files than may be open at once.
struct Reopened {
    path: PathBuf,
    at: u64,
}

impl Read for Reopened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let got = read_retrying(&mut file, buffer)?;
        self.at += got as u64;
        Ok(got)
    }
}

/// Whether a file stays open while others are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Open,
    /// Opened for each read, where that is possible (not for a pipe, not worth it for a compressed file).
    Closed,
}

/// A stream of plain text and what may happen to it.
pub(crate) struct Opened<'m> {
    pub(crate) reader: Box<dyn Read + Send + 'm>,
    pub(crate) trouble: Trouble,
}

/// Opens a file.
pub(crate) fn file<'m>(path: &Path, hold: Hold, meter: &'m Meter<'m>) -> io::Result<Opened<'m>> {
    let mut file = File::open(path)?;
    if hold == Hold::Closed && file.metadata()?.is_file() {
        let mut magic = [0; MAGIC];
        let got = read_retrying(&mut file, &mut magic)?;
        if Packing::of(&magic[..got]) == Packing::None {
            return Ok(forgiving(Box::new(Metered { inner: Reopened { path: path.into(), at: 0 }, meter })));
        }
        file.rewind()?;
    }
    stream(file, meter)
}

/// Decompresses a stream, if its first bytes say that it is compressed.
pub(crate) fn stream<'m>(reader: impl Read + Send + 'm, meter: &'m Meter<'m>) -> io::Result<Opened<'m>> {
    let mut reader = Metered { inner: reader, meter };
    let mut head = Vec::with_capacity(MAGIC);
    (&mut reader).take(MAGIC as u64).read_to_end(&mut head)?;
    let packing = Packing::of(&head);
    let whole = Cursor::new(head).chain(reader);
    const BUFFER: usize = 64 << 10;
    Ok(match packing {
        Packing::None => forgiving(Box::new(whole)),
        Packing::Gzip => {
            forgiving(Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))))
        }
        Packing::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::new(whole)?;
            // A window of 64 MiB at most: what `zstd -19` needs is 8, and a hostile file may ask for gigabytes.
            decoder.window_log_max(26)?;
            forgiving(Box::new(decoder))
        }
    })
}

fn forgiving<'m>(inner: Box<dyn Read + Send + 'm>) -> Opened<'m> {
    let trouble = Trouble::default();
    Opened { reader: Box::new(Forgiving { inner, trouble: trouble.clone(), got: 0 }), trouble }
}

/// Bytes that tell the packing.
const MAGIC: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    fn of(head: &[u8]) -> Packing {
        // RFC 1952 and RFC 8878.
        if head.starts_with(&[0x1f, 0x8b]) {
            Packing::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Packing::Zstd
        } else {
            Packing::None
        }
    }
}
