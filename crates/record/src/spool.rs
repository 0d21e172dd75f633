//! The spool: what the kernel's side wrote, as it came, in files of a folder. One file a stream (the calls of one CPU, the
//! scheduler of one CPU, the rare records), each in order of time; read back merged.

use crate::bpf::layout::{Header, kind};
use crate::error::RecordError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes the streams.
pub(crate) struct SpoolWriter {
    folder: PathBuf,
    streams: Vec<(String, File)>,
    /// Bytes written so far.
    pub(crate) bytes: u64,
}

impl SpoolWriter {
    /// In an existing folder.
    pub(crate) fn new(folder: &Path) -> SpoolWriter {
        SpoolWriter { folder: folder.into(), streams: Vec::new(), bytes: 0 }
    }

    /// Appends to a stream, which is made where it is not there yet.
    pub(crate) fn write(&mut self, stream: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let known = self.streams.iter().position(|(name, _)| name == stream);
        let at = match known {
            Some(at) => at,
            None => {
                let path = self.folder.join(stream);
                let file = OpenOptions::new().append(true).create_new(true).open(&path);
                let file = file.map_err(|source| RecordError::Spool { path, source })?;
                self.streams.push((stream.to_string(), file));
                self.streams.len() - 1
            }
        };
        let (name, file) = &mut self.streams[at];
        file.write_all(bytes)
            .map_err(|source| RecordError::Spool { path: self.folder.join(&*name), source })?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// One stream, read back.
struct Stream {
    bytes: Mapped,
    at: usize,
    cpu: u16,
}

impl Stream {
    /// The next record, pads passed over. Ends at a record that is not whole.
    fn next(&mut self) -> Option<(Header, std::ops::Range<usize>)> {
        loop {
            let rest = self.bytes.get().get(self.at..)?;
            // A pad may be shorter than a header.
            if rest.len() >= 8 && rest[2] == kind::PAD {
                let length = u16::from_ne_bytes([rest[0], rest[1]]) as usize;
                if length < 8 || length > rest.len() {
                    return None;
                }
                self.at += length;
                continue;
            }
            let header = Header::of(rest)?;
            let from = self.at;
            self.at += header.length;
            return Some((header, from..from + header.length));
        }
    }
}

/// A file's bytes, mapped; an empty file has none.
struct Mapped(Option<memmap2::Mmap>);

impl Mapped {
    fn of(path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Mapped(None));
        }
        // SAFETY: the spool is ours and nobody cuts it while it is read; it is in a folder that only its owner may write.
        Ok(Mapped(Some(unsafe { memmap2::Mmap::map(&file)? })))
    }
    fn get(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}

/// A record with the CPU whose stream it came from.
pub(crate) struct SpoolRecord<'a> {
    pub(crate) header: Header,
    pub(crate) cpu: u16,
    /// The whole record, header included.
    pub(crate) bytes: &'a [u8],
}

impl<'a> SpoolRecord<'a> {
    /// What stands behind the header.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.bytes.get(Header::SIZE..).unwrap_or_default()
    }
}

/// Hands over all records of a spool in order of time (of their end, for what lasts).
pub(crate) fn replay(folder: &Path, mut with: impl FnMut(SpoolRecord<'_>)) -> Result<(), RecordError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| RecordError::Spool { path, source }
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        paths.push(entry.map_err(failed(folder))?.path());
    }
    // The rare records come first among equals: a thread is told of before its calls.
    paths.sort_by_key(|path| (!path.ends_with("rare"), path.clone()));
    let mut streams = Vec::new();
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let cpu = name.rsplit('-').next().and_then(|cpu| cpu.parse().ok()).unwrap_or(0);
        streams.push(Stream { bytes: Mapped::of(path).map_err(failed(path))?, at: 0, cpu });
    }
    let mut next: BinaryHeap<Reverse<(u64, usize, usize, usize)>> = BinaryHeap::new();
    for (number, stream) in streams.iter_mut().enumerate() {
        if let Some((header, range)) = stream.next() {
            next.push(Reverse((header.ts, number, range.start, range.end)));
        }
    }
    while let Some(mut top) = next.peek_mut() {
        let Reverse((_, number, from, to)) = *top;
        let stream = &mut streams[number];
        if let Some(header) = Header::of(&stream.bytes.get()[from..to]) {
            with(SpoolRecord { header, cpu: stream.cpu, bytes: &stream.bytes.get()[from..to] });
        }
        match stream.next() {
            Some((header, range)) => *top = Reverse((header.ts, number, range.start, range.end)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
    }
    Ok(())
}
