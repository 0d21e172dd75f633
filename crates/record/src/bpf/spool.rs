//! The spool: what the kernel's side wrote, as it came, in files of a folder. One file a stream (the calls of one CPU, the
//! scheduler of one CPU, the rare records), each in order of time; read back merged, also while it grows.

use crate::bpf::layout::{Header, kind};
use crate::error::RecordError;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeSet, BinaryHeap};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use whyslow_model::visible;
use whyslow_privacy::files;
use whyslow_unwind::inside;

/// The rare records: threads, stacks, disks, connections, signals, files.
pub(crate) const RARE: &str = "rare";
/// The calls of a CPU.
pub(crate) const CALLS: &str = "calls";
/// The scheduler of a CPU.
pub(crate) const SCHED: &str = "sched";
/// The quotas of control groups.
pub(crate) const QUOTA: &str = "quota";
/// What waits in queues.
pub(crate) const QUEUES: &str = "queues";
/// User parts of samples that were unwound beside the kernel's side.
pub(crate) const UNWOUND: &str = "unwound";
/// Stacks of threads that were blocked.
pub(crate) const BLOCKED: &str = "blocked";
/// Who was taken in because the target waits for it.
pub(crate) const FOLLOWED: &str = "followed";
/// What the kernel's tables of rows held as a window of a lasting recording was cut.
pub(crate) const TABLES: &str = "tables";
/// The streams of a spool. One of a CPU has the CPU's number behind its name: `calls-3`.
pub static SPOOL_STREAMS: &[&str] = &[RARE, CALLS, SCHED, QUOTA, QUEUES, UNWOUND, BLOCKED, FOLLOWED, TABLES];

/// Writes the streams.
pub(crate) struct SpoolWriter {
    folder: PathBuf,
    streams: Vec<Written>,
    /// Bytes written so far, or kept for the next flush.
    pub(crate) bytes: u64,
}

/// A stream that is written.
struct Written {
    name: String,
    file: File,
    /// What was added and is not in the file yet.
    kept: Vec<u8>,
}

impl Written {
    /// Bytes that are kept at most; more are worth a call of their own.
    const MOST_KEPT: usize = 64 << 10;

    fn flush(&mut self) -> io::Result<()> {
        let result = self.file.write_all(&self.kept);
        self.kept.clear();
        result
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.kept.len() + bytes.len() > Written::MOST_KEPT && !self.kept.is_empty() {
            self.flush()?;
        }
        if bytes.len() >= Written::MOST_KEPT {
            return self.file.write_all(bytes);
        }
        self.kept.extend_from_slice(bytes);
        Ok(())
    }
}

impl SpoolWriter {
    /// In an existing folder.
    pub(crate) fn new(folder: &Path) -> SpoolWriter {
        SpoolWriter { folder: folder.into(), streams: Vec::new(), bytes: 0 }
    }

    /// Appends to a stream, which is made where it is not there yet. It is in the file when this returns.
    pub(crate) fn write(&mut self, stream: &str, bytes: &[u8]) -> Result<(), RecordError> {
        self.with(stream, |written| {
            written.add(bytes)?;
            written.flush()
        })?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// As [`SpoolWriter::write`], but it may be kept in memory until [`SpoolWriter::flush`].
    pub(crate) fn add(&mut self, stream: &str, bytes: &[u8]) -> Result<(), RecordError> {
        self.with(stream, |written| written.add(bytes))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Writes down what is kept, and goes on in another existing folder.
    pub(crate) fn turn(&mut self, folder: &Path) -> Result<(), RecordError> {
        let result = self.flush();
        self.streams.clear();
        self.folder = folder.into();
        result
    }

    /// Writes down what is kept of all streams.
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        let folder = &self.folder;
        for written in self.streams.iter_mut().filter(|written| !written.kept.is_empty()) {
            written
                .flush()
                .map_err(|source| RecordError::Spool { path: folder.join(&written.name), source })?;
        }
        Ok(())
    }

    fn with(
        &mut self,
        stream: &str,
        what: impl FnOnce(&mut Written) -> io::Result<()>,
    ) -> Result<(), RecordError> {
        debug_assert!(
            SPOOL_STREAMS.contains(&stream.split('-').next().unwrap_or(stream)),
            "{stream} is in no list"
        );
        let known = self.streams.iter().position(|written| written.name == stream);
        let at = match known {
            Some(at) => at,
            None => {
                let path = self.folder.join(stream);
                let file = files::create_file(&path);
                let file = file.map_err(|source| RecordError::Spool { path, source })?;
                self.streams.push(Written { name: stream.to_string(), file, kept: Vec::new() });
                self.streams.len() - 1
            }
        };
        let written = &mut self.streams[at];
        what(written).map_err(|source| RecordError::Spool { path: self.folder.join(&written.name), source })
    }
}

/// One stream, read back while it may still grow.
struct Stream {
    name: String,
    /// In the order in which the names of streams were found: it stays, whatever comes later.
    number: usize,
    file: File,
    cpu: u16,
    buffer: Vec<u8>,
    /// The first byte of `buffer` that was not handed over.
    at: usize,
    /// Bytes of the file that are in `buffer` or were in it.
    taken: u64,
    freed: u64,
    /// Where no record begins that could be one: what is behind it is not used.
    damaged: Option<u64>,
}

impl Stream {
    /// Bytes read at once.
    const CHUNK: usize = 256 << 10;
    /// The next record without taking it, pads passed over; `None` where none is whole, or none can be.
    fn peek(&mut self) -> io::Result<Option<Header>> {
        loop {
            let rest = &self.buffer[self.at..];
            // A pad may be shorter than a header.
            if rest.len() >= 8 {
                let length = u16::from_ne_bytes([rest[0], rest[1]]) as usize;
                if length < 8 {
                    // Where the next one begins cannot be known: to read on would take the whole file into memory.
                    self.damaged = self.damaged.or(Some(self.taken - rest.len() as u64));
                    return Ok(None);
                } else if rest[2] != kind::PAD {
                    if let Some(header) = Header::of(rest) {
                        return Ok(Some(header));
                    }
                } else if length <= rest.len() {
                    self.at += length;
                    continue;
                }
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads on; false where there is no more now.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let had = self.buffer.len();
        self.buffer.resize(had + Self::CHUNK, 0);
        let got = loop {
            match self.file.read(&mut self.buffer[had..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.truncate(had);
                    return Err(error);
                }
                Ok(got) => break got,
            }
        };
        self.buffer.truncate(had + got);
        self.taken += got as u64;
        Ok(got > 0)
    }

    /// Gives back the disk space of what was handed over, in steps of so many bytes.
    fn free(&mut self, step: u64) {
        let done = self.taken - (self.buffer.len() - self.at) as u64;
        if done - self.freed >= step {
            let mode = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
            // A file system that cannot do it keeps the bytes until the end.
            let _ = rustix::fs::fallocate(&self.file, mode, self.freed, done - self.freed);
            self.freed = done;
        }
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

/// Reads the streams of a folder merged, also while they are written.
pub(crate) struct SpoolReader {
    folder: PathBuf,
    streams: Vec<Stream>,
    /// Of all streams that were found, in this folder and in those before.
    names: Vec<String>,
    /// Give disk space back as it is read, in steps of so many bytes.
    free: Option<u64>,
    /// What is no stream, and why.
    pub(crate) passed_over: BTreeSet<String>,
}

impl SpoolReader {
    /// The number of [`RARE`].
    pub(crate) const RARE: usize = 0;
    /// Where nothing else is asked for, what was handed over is given back to the disk in steps of this.
    const FREE_STEP: u64 = 4 << 20;

    /// `free`: what was read is not needed again.
    pub(crate) fn new(folder: &Path, free: bool) -> SpoolReader {
        let free = free.then_some(Self::FREE_STEP);
        SpoolReader {
            folder: folder.into(),
            streams: Vec::new(),
            names: vec![RARE.to_string()],
            free,
            passed_over: BTreeSet::new(),
        }
    }

    /// Of a spool in memory: what was read is given back in steps of so many bytes a stream.
    pub(crate) fn freeing(folder: &Path, step: u64) -> SpoolReader {
        SpoolReader { free: Some(step), ..SpoolReader::new(folder, false) }
    }

    /// Bytes of the drain's streams that were handed over.
    pub(crate) fn handed_over(&self) -> u64 {
        let is_drains =
            |stream: &&Stream| matches!(stream.name.split('-').next(), Some(RARE | CALLS | SCHED));
        let streams = self.streams.iter().filter(is_drains);
        streams.map(|stream| stream.taken - (stream.buffer.len() - stream.at) as u64).sum()
    }

    /// The name of the stream of that number.
    pub(crate) fn name_of(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(String::as_str)
    }

    /// Goes on in another folder. What was not read of this one is passed over.
    pub(crate) fn turn(&mut self, folder: &Path) {
        self.streams.clear();
        self.folder = folder.into();
    }

    /// Opens the streams that are new.
    fn look(&mut self) -> Result<(), RecordError> {
        let folder = self.folder.clone();
        let failed = |source| RecordError::Unreadable { path: folder.clone(), source };
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            // Beside the streams stands the head.
            if name.contains('.') || self.streams.iter().any(|stream| stream.name == name) {
                continue;
            }
            let name = name.to_string();
            let cpu = name.rsplit('-').next().and_then(|cpu| cpu.parse().ok()).unwrap_or(0);
            // One that is being recorded is ours; any other may come from a stranger.
            let file = match self.free {
                Some(_) => OpenOptions::new().read(true).write(true).open(&path),
                None => inside::open(&self.folder, Path::new(&name)),
            };
            let file = match file {
                Ok(file) => file,
                Err(error) if self.free.is_none() => {
                    self.passed_over.insert(format!("{}: {error}; it is not used", visible::path(&path)));
                    continue;
                }
                Err(source) => return Err(RecordError::Unreadable { path, source }),
            };
            let number = self.names.iter().position(|known| *known == name).unwrap_or(self.names.len());
            if number == self.names.len() {
                self.names.push(name.clone());
            }
            self.streams.push(Stream {
                name,
                number,
                file,
                cpu,
                buffer: Vec::new(),
                at: 0,
                taken: 0,
                freed: 0,
                damaged: None,
            });
        }
        // The rare records come first among equals: a thread is told of before its calls.
        self.streams.sort_by(|a, b| (a.name != RARE, &a.name).cmp(&(b.name != RARE, &b.name)));
        Ok(())
    }

    /// Hands over all records that ended before `until` (ns of the kernel's clock), in order of time.
    pub(crate) fn read(
        &mut self,
        until: u64,
        mut with: impl FnMut(SpoolRecord<'_>),
    ) -> Result<(), RecordError> {
        self.read_by_stream(until, |_, record| with(record))
    }

    /// The same, with the number of the stream that each comes from.
    pub(crate) fn read_by_stream(
        &mut self,
        until: u64,
        mut with: impl FnMut(usize, SpoolRecord<'_>),
    ) -> Result<(), RecordError> {
        self.look()?;
        let folder = &self.folder;
        let failed = |name: &str, source| RecordError::Unreadable { path: folder.join(name), source };
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for (number, stream) in self.streams.iter_mut().enumerate() {
            if let Some(header) = stream.peek().map_err(|source| failed(&stream.name, source))? {
                next.push(Reverse((header.ts, number)));
            }
        }
        while let Some(mut top) = next.peek_mut() {
            let Reverse((ts, number)) = *top;
            if ts >= until {
                break;
            }
            let stream = &mut self.streams[number];
            if let Some(header) = Header::of(&stream.buffer[stream.at..]) {
                let bytes = &stream.buffer[stream.at..stream.at + header.length];
                with(stream.number, SpoolRecord { header, cpu: stream.cpu, bytes });
                stream.at += header.length;
            }
            match stream.peek().map_err(|source| failed(&stream.name, source))? {
                Some(header) => *top = Reverse((header.ts, number)),
                None => drop(PeekMut::pop(top)),
            }
            if let Some(step) = self.free {
                self.streams[number].free(step);
            }
        }
        let damaged = self.streams.iter().filter_map(|stream| Some((&stream.name, stream.damaged?)));
        self.passed_over.extend(damaged.map(|(name, at)| {
            let path = folder.join(name);
            format!("{}: it is damaged at byte {at}; what is behind that is not used", visible::path(&path))
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_in_the_file_after_a_flush_and_in_its_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = SpoolWriter::new(folder.path());
        let content = || std::fs::read(folder.path().join(RARE)).expect("made");
        spool.add(RARE, b"ab").expect("kept");
        assert_eq!((content().as_slice(), spool.bytes), (&b""[..], 2));
        spool.write(RARE, b"c").expect("written");
        assert_eq!(content(), b"abc");
        // What is longer than all that is kept follows what was kept before it.
        spool.add(RARE, b"d").expect("kept");
        spool.add(RARE, &vec![b'e'; Written::MOST_KEPT]).expect("written");
        spool.add(RARE, b"f").expect("kept");
        spool.flush().expect("written");
        let expected = [b"abcd".to_vec(), vec![b'e'; Written::MOST_KEPT], b"f".to_vec()].concat();
        assert!(content() == expected && spool.bytes == expected.len() as u64);
    }
}
